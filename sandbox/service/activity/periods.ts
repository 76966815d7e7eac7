import { Temporal } from 'temporal-polyfill';

export const RANGES = ['today', 'last_7_days', 'last_30_days', 'this_week'] as const;
export type Range = (typeof RANGES)[number];

/** From `from` up to, but not including, `to`; milliseconds since the epoch. */
export interface Span {
  from: number;
  to: number;
}

export interface Period extends Span {
  /** What the deltas compare with. */
  previous: Span;
}

const DAY = 86_400_000;

/** The range a caller asked for; anything unknown is the default. Spec 4.9. */
export function readRange(text: string | undefined): Range {
  return RANGES.find((range) => range === text) ?? 'last_7_days';
}

/**
 * The window of a range and the one it is compared with: of the same elapsed duration, right before it for
 * the rolling ranges, and the matching portion of yesterday or last week for those under way. Spec 4.9.
 * `now` itself still belongs to the window. Days and weeks (from Monday) begin in `zone`.
 */
export function periodOf(range: Range, now: number, zone: string): Period {
  const to = now + 1;
  if (range === 'last_7_days') return rolling(to, 7 * DAY);
  if (range === 'last_30_days') return rolling(to, 30 * DAY);
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).startOfDay();
  if (range === 'today') return underWay(today, to, today.subtract({ days: 1 }));
  const monday = today.subtract({ days: today.dayOfWeek - 1 }).startOfDay();
  return underWay(monday, to, monday.subtract({ weeks: 1 }));
}

function rolling(to: number, length: number): Period {
  const from = to - length;
  return { from, to, previous: { from: from - length, to: from } };
}

function underWay(start: Temporal.ZonedDateTime, to: number, before: Temporal.ZonedDateTime): Period {
  const from = start.epochMilliseconds;
  const previousFrom = before.startOfDay().epochMilliseconds;
  // A day after the clocks went forward can have run longer than the whole of the one before.
  const previousTo = Math.min(previousFrom + (to - from), from);
  return { from, to, previous: { from: previousFrom, to: previousTo } };
}

export function isIn({ from, to }: Span, at: number): boolean {
  return at >= from && at < to;
}
