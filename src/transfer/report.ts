import type { Filled } from './fill.ts';
import { describeCounts } from './items.ts';

/** What the operator reads at the end. */
export function describeFilled(name: string, { counts, opened, shut }: Filled): string {
  const lines = [`${name} has ${describeCounts(counts)}; sealed values opened there: ${opened}.`];
  if (shut.length > 0)
    lines.push(`${shut.length} sealed values do not open, as they did not before: ${shut.join(', ')}.`);
  return lines.join('\n');
}
