import { isWithin, type Kept, type KeptLine, NOTHING_KEPT, type Watch } from '../../records/watches.ts';

/** Events of a night and a weekend, within what a document and a thread hold. */
const MAX_KEPT = 200;

/** True where a watch posts now. Pure. @param now milliseconds since the epoch */
export function isOpen({ hours }: Pick<Watch, 'hours'>, now: number): boolean {
  return hours === undefined || isWithin(hours, now);
}

/** With more at its end; the oldest give way. Pure. */
export function keep(kept: Kept, lines: readonly KeptLine[], isTruncated: boolean): Kept {
  const all = [...kept.lines, ...lines];
  const dropped = Math.max(0, all.length - MAX_KEPT);
  return {
    lines: all.slice(dropped),
    dropped: kept.dropped + dropped,
    isTruncated: kept.isTruncated || isTruncated,
  };
}

/** What the watches that are open now are owed, and what stays. Pure. */
export function takeDue(kept: Kept, open: readonly Watch[]): { due: Kept; left: Kept } {
  if (open.length === 0) return { due: NOTHING_KEPT, left: kept };
  const ids = new Set(open.map(({ id }) => id));
  const isDue = (line: KeptLine): boolean => line.for.some((id) => ids.has(id));
  return {
    due: { ...kept, lines: kept.lines.filter(isDue) },
    left: { ...NOTHING_KEPT, lines: kept.lines.filter((line) => !isDue(line)) },
  };
}

/** Without what is kept for one watch alone. Pure. */
export function without(kept: Kept, id: string): Kept {
  const lines = kept.lines
    .map((line) => ({ ...line, for: line.for.filter((one) => one !== id) }))
    .filter((line) => line.for.length > 0);
  return { ...kept, lines };
}
