import { type CalendarDay, type Cron, parseCron } from './cron.ts';
import { addDays, dayAt, type LocalTimes, localTimesOf } from './zone.ts';

/** Longer than any wait for a 29th of February (8 years around 2100, more if it must be a certain weekday). */
const SEARCH_DAYS = 366 * 41;

/**
 * The first slot of a schedule after an instant; both in milliseconds since the epoch. Each local time is a
 * slot once: one that daylight saving skips falls right after the gap, one that comes twice counts the first
 * time. Minutes as a star, with or without a step, count both times.
 * @throws CronError if the expression or the zone is wrong
 */
export function nextSlot(cron: string, zone: string, after: number): number {
  const parsed = parseCron(cron);
  // The day before, because a slot of a skipped midnight belongs to the date that was skipped.
  let day = addDays(dayAt(zone, after), -1);
  for (let searched = 0; searched < SEARCH_DAYS; searched += 1) {
    const slot = slotOf(parsed, zone, day, (times) => firstAfter(parsed, times, after));
    if (slot !== undefined) {
      const other = slotAcross(parsed, zone, addDays(day, 1), (times) => firstAfter(parsed, times, after));
      return Math.min(slot, other ?? slot);
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
    const slot = slotOf(parsed, zone, day, (times) => lastUpTo(parsed, times, at));
    if (slot !== undefined) {
      const other = slotAcross(parsed, zone, addDays(day, -1), (times) => lastUpTo(parsed, times, at));
      return Math.max(slot, other ?? slot);
    }
    day = addDays(day, -1);
  }
  throw new RangeError('no slot within 40 years');
}

type Search = (times: LocalTimes) => number | undefined;

function slotOf(cron: Cron, zone: string, day: CalendarDay, search: Search): number | undefined {
  return cron.isDue(day) ? search(localTimesOf(zone, day)) : undefined;
}

/** Where clocks are set back over midnight, slots of two days are mixed. */
function slotAcross(cron: Cron, zone: string, day: CalendarDay, search: Search): number | undefined {
  if (!cron.isRepeated || !cron.isDue(day)) return undefined;
  const times = localTimesOf(zone, day);
  return times.hasChange ? search(times) : undefined;
}

function firstAfter(cron: Cron, times: LocalTimes, after: number): number | undefined {
  const repeated = repeatedSlots(cron, times).filter((slot) => slot > after);
  const first = firstOnceAfter(cron, times, after);
  return first === undefined && repeated.length === 0 ? undefined : Math.min(first ?? Infinity, ...repeated);
}

function lastUpTo(cron: Cron, times: LocalTimes, at: number): number | undefined {
  const repeated = repeatedSlots(cron, times).filter((slot) => slot <= at);
  const last = lastOnceUpTo(cron, times, at);
  return last === undefined && repeated.length === 0 ? undefined : Math.max(last ?? -Infinity, ...repeated);
}

function repeatedSlots({ hours, minutes, isRepeated }: Cron, { second, hasChange }: LocalTimes): number[] {
  if (!isRepeated || !hasChange) return [];
  return hours.flatMap((hour) => minutes.flatMap((minute) => second(hour, minute) ?? []));
}

function firstOnceAfter({ hours, minutes }: Cron, { first }: LocalTimes, after: number): number | undefined {
  const last = minutes.at(-1) ?? 0;
  for (const hour of hours) {
    if (first(hour, last) <= after) continue;
    for (const minute of minutes) {
      const slot = first(hour, minute);
      if (slot > after) return slot;
    }
  }
  return undefined;
}

function lastOnceUpTo({ hours, minutes }: Cron, { first }: LocalTimes, at: number): number | undefined {
  const earliest = minutes[0] ?? 0;
  for (const hour of hours.toReversed()) {
    if (first(hour, earliest) > at) continue;
    for (const minute of minutes.toReversed()) {
      const slot = first(hour, minute);
      if (slot <= at) return slot;
    }
  }
  return undefined;
}
