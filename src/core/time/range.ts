import { z } from 'zod';
import { DAY_MS } from './clock.ts';
import { addDays, dayAt, daysLater, instantAt } from './zone.ts';

/** The ranges that the service has: API 4.9 (docs/service-api.md). */
export const ACTIVITY_RANGES = ['today', 'last_7_days', 'last_30_days', 'this_week'] as const;
export type ActivityRange = (typeof ACTIVITY_RANGES)[number];

/** The ranges of a digest. `since_last` has what no earlier one had. */
export const DIGEST_RANGES = ['since_last', ...ACTIVITY_RANGES] as const;
export type DigestRange = (typeof DIGEST_RANGES)[number];

/** How long Deckhand keeps what it has read. */
export const MAX_DAYS = 400;

const Days = z
  .templateLiteral(['last_', z.int().positive(), '_days'])
  .refine((range) => Number(range.slice('last_'.length, -'_days'.length)) <= MAX_DAYS);

/** A range of the service, or any number of days up to 400. Days begin in a zone, and the last one is today. */
export const Range = z.union([z.enum(ACTIVITY_RANGES), Days]);
export type Range = z.infer<typeof Range>;

/** Number of days of a range; undefined for a week that began on Monday. */
export function countDays(range: Range): number | undefined {
  if (range === 'this_week') return undefined;
  return range === 'today' ? 1 : Number(range.split('_')[1]);
}

export function isServiceRange(range: Range): range is ActivityRange {
  return ACTIVITY_RANGES.some((one) => one === range);
}

/** The narrowest range of the service with the events since a time, if it has one. Milliseconds since the epoch. */
export function findServiceRange(from: number, now: number): ActivityRange {
  // Days begin in the account's zone.
  return now - from <= 6 * DAY_MS ? 'last_7_days' : 'last_30_days';
}

/** The narrowest range of the service with all of its events that belong to a range. */
export function toServiceRange(range: Range): ActivityRange {
  if (isServiceRange(range)) return range;
  return (countDays(range) ?? 0) <= 7 ? 'last_7_days' : 'last_30_days';
}

/** Milliseconds since the epoch; ends are exclusive. */
export interface Periods {
  from: number;
  before: { from: number; to: number };
}

/**
 * A range up to now, and the earlier period that the service compares with it (API 4.9 in
 * docs/service-api.md). Pure.
 */
export function computePeriods(range: Range, zone: string, now: number): Periods {
  const today = dayAt(zone, now);
  const weekday = new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay();
  const back = (countDays(range) ?? ((weekday + 6) % 7) + 1) - 1;
  const days = countDays(range) ?? 7;
  const midnight = (daysAgo: number): number => instantAt(zone, addDays(today, -daysAgo), 0, 0);
  const from = midnight(back);
  const isPart = range === 'this_week' || range === 'today';
  return { from, before: { from: midnight(back + days), to: isPart ? daysLater(zone, now, -days) : from } };
}
