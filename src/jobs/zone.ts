import { DAY_MS } from '../core/clock.ts';
import { byQuarter, numbersIn } from '../core/quarters.ts';
import { type CalendarDay, CronError } from './cron.ts';
import { OTHER_NAMES, presentName } from './zone-names.ts';

const MINUTE_MS = 60_000;

/**
 * Checks an IANA time zone and gives its present name: `europe/lisbon` becomes `Europe/Lisbon`, `Asia/Calcutta` becomes
 * `Asia/Kolkata`, `US/Pacific` becomes `America/Los_Angeles`.
 * @throws CronError for a person
 */
export function parseZone(text: string): string {
  const zone = text.trim();
  try {
    // An offset as `+02:00` is taken by Intl too, but it does not follow daylight saving.
    if (!/^[a-z]/i.test(zone)) throw new RangeError('not a name');
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions();
    return presentName(timeZone);
  } catch {
    throw new CronError('This is no time zone. Give one by its IANA name, e.g. `Europe/Lisbon` or `UTC`.');
  }
}

/** Whether this is the name of a time zone, of today or of the past. */
export function isZone(text: string): boolean {
  try {
    return parseZone(text) !== '';
  } catch (error) {
    if (error instanceof CronError) return false;
    throw error;
  }
}

let known: ReadonlyMap<string, readonly string[]> | undefined;

/** Every zone by its present name, with all names that it has or had, the present one first. */
export function zoneNames(): ReadonlyMap<string, readonly string[]> {
  known ??= collectNames();
  return known;
}

function collectNames(): ReadonlyMap<string, readonly string[]> {
  const listed = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  const pairs = [
    ...listed.map((name) => [presentName(name), name] as const),
    ...OTHER_NAMES.filter(isZone).map((name) => [parseZone(name), name] as const),
  ];
  const names = new Map<string, string[]>();
  for (const [zone, name] of pairs.toSorted(([one], [other]) => (one < other ? -1 : 1)))
    names.set(zone, [...new Set([...(names.get(zone) ?? [zone]), name])]);
  return names;
}

/** The date at an instant in a zone. */
export function dayAt(zone: string, instant: number): CalendarDay {
  const local = new Date(instant + offsetAt(zone, instant));
  return { year: local.getUTCFullYear(), month: local.getUTCMonth() + 1, day: local.getUTCDate() };
}

/** The date `count` days later, or earlier. */
export function addDays({ year, month, day }: CalendarDay, count: number): CalendarDay {
  const date = new Date(Date.UTC(year, month - 1, day + count));
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** Turns local times of one day into instants. */
export interface LocalTimes {
  /**
   * A time that a change of the clocks skips becomes the first instant after the gap; of a time that comes twice the
   * first one counts. Later times never give an earlier instant.
   */
  first(hour: number, minute: number): number;
  /** The second one of a time that comes twice. */
  second(hour: number, minute: number): number | undefined;
  /** False if the clocks do not change around that day. */
  hasChange: boolean;
}

export function localTimesOf(zone: string, { year, month, day }: CalendarDay): LocalTimes {
  const midnight = Date.UTC(year, month - 1, day);
  // No zone is a whole day away from UTC, so these two are on either side of all instants of that day.
  const before = offsetAt(zone, midnight - DAY_MS);
  const after = offsetAt(zone, midnight + 2 * DAY_MS);
  const hasChange = before !== after;
  const repeated = before > after ? repeatedTimes(zone, midnight, before, after) : NO_TIMES;
  const localOf = (hour: number, minute: number): number => midnight + (hour * 60 + minute) * MINUTE_MS;
  return {
    first(hour, minute) {
      const local = localOf(hour, minute);
      return hasChange ? resolve(zone, local, before, after) : local - before;
    },
    second(hour, minute) {
      const local = localOf(hour, minute);
      const isTwice = local >= repeated.from && local < repeated.to;
      return isTwice ? local - after : undefined;
    },
    hasChange,
  };
}

/**
 * The same local time some days later, for what is to be skipped until then: where that time is skipped, right after
 * the first instant behind the gap. The second of two equal hours counts as the end of both, for what is due in them has been.
 */
export function daysLater(zone: string, instant: number, days: number): number {
  const local = instant + offsetAt(zone, instant);
  const first = instantOf(zone, local);
  const passed = first < instant ? changeBetween(zone, first, instant) + offsetAt(zone, first) : local;
  const later = passed + days * DAY_MS;
  const at = instantOf(zone, later);
  return at + offsetAt(zone, at) === later ? at : at + 1;
}

function instantOf(zone: string, local: number): number {
  return resolve(zone, local, offsetAt(zone, local - DAY_MS), offsetAt(zone, local + DAY_MS));
}

interface LocalRange {
  from: number;
  to: number;
}

const NO_TIMES: LocalRange = { from: 0, to: 0 };

/** The local times that come twice where the clocks are set back around a day. */
function repeatedTimes(zone: string, midnight: number, before: number, after: number): LocalRange {
  const change = changeBetween(zone, midnight - DAY_MS, midnight + 2 * DAY_MS);
  return { from: change + after, to: change + before };
}

function resolve(zone: string, local: number, before: number, after: number): number {
  const earlier = local - Math.max(before, after);
  const later = local - Math.min(before, after);
  if (earlier + offsetAt(zone, earlier) === local) return earlier;
  if (later + offsetAt(zone, later) === local) return later;
  return changeBetween(zone, earlier, later);
}

/** The first instant in (from, to] that has the offset of `to`. */
function changeBetween(zone: string, from: number, to: number): number {
  const offset = offsetAt(zone, to);
  let low = from;
  let high = to;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle) === offset) high = middle;
    else low = middle;
  }
  return high;
}

const numbersOf = numbersIn(
  {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  },
  parseZone,
);

/** What a zone's clocks are ahead of UTC at an instant, in milliseconds. */
const offsetAt = byQuarter((zone, instant) => {
  const numbers = numbersOf(zone, instant).map(Number);
  const [month = 1, day = 1, year = 0, hour = 0, minute = 0, second = 0] = numbers;
  const local = Date.UTC(year, month - 1, day, hour, minute, second);
  return local - Math.floor(instant / 1000) * 1000;
});
