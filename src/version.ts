import { readFileSync } from 'node:fs';

/** As package.json has it, which stands beside `src` and beside the bundle. */
export function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
