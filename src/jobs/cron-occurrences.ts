import { type Cron, parseCron } from './cron.ts';
import { addDays, dayAt, localTimesOf } from './zone.ts';

/** Longer than any wait for a 29th of February (8 years around 2100, more if it must be a certain weekday). */
const SEARCH_DAYS = 366 * 41;

/**
 * The first slot of a schedule after an instant; both in milliseconds since the epoch. Each local time is a
 * slot once: one that daylight saving skips falls right after the gap, one that comes twice counts the first
 * time.
 * @throws CronError if the expression or the zone is wrong
 */
export function nextSlot(cron: string, zone: string, after: number): number {
  const parsed = parseCron(cron);
  // The day before, because a slot of a skipped midnight belongs to the date that was skipped.
  let day = addDays(dayAt(zone, after), -1);
  for (let searched = 0; searched < SEARCH_DAYS; searched += 1) {
    if (parsed.isDue(day)) {
      const slot = firstAfter(parsed, localTimesOf(zone, day), after);
      if (slot !== undefined) return slot;
    }
    day = addDays(day, 1);
  }
  throw new RangeError('no slot within 40 years');
}

/** The last slot at or before an instant, by the same rules. */
export function lastSlot(cron: string, zone: string, at: number): number {
  const parsed = parseCron(cron);
  let day = addDays(dayAt(zone, at), 1);
  for (let searched = 0; searched < SEARCH_DAYS; searched += 1) {
    if (parsed.isDue(day)) {
      const slot = lastUpTo(parsed, localTimesOf(zone, day), at);
      if (slot !== undefined) return slot;
    }
    day = addDays(day, -1);
  }
  throw new RangeError('no slot within 40 years');
}

type LocalTimes = (hour: number, minute: number) => number;

function firstAfter({ hours, minutes }: Cron, instantOf: LocalTimes, after: number): number | undefined {
  const last = minutes.at(-1) ?? 0;
  for (const hour of hours) {
    if (instantOf(hour, last) <= after) continue;
    for (const minute of minutes) {
      const slot = instantOf(hour, minute);
      if (slot > after) return slot;
    }
  }
  return undefined;
}

function lastUpTo({ hours, minutes }: Cron, instantOf: LocalTimes, at: number): number | undefined {
  const first = minutes[0] ?? 0;
  for (const hour of hours.toReversed()) {
    if (instantOf(hour, first) > at) continue;
    for (const minute of minutes.toReversed()) {
      const slot = instantOf(hour, minute);
      if (slot <= at) return slot;
    }
  }
  return undefined;
}
