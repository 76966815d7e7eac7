import { DAY_MS, zonedParts } from '../clock.ts';

/** A cron expression or time zone that cannot be used; the message is for the person who typed it. */
export class CronError extends Error {
  readonly code = 'cron_error';
  override readonly name = 'CronError';
}

/** A date of the calendar, of no zone; months from 1. */
export interface CalendarDay {
  year: number;
  month: number;
  day: number;
}

/**
 * Checks an IANA time zone and gives its present name: `europe/lisbon` becomes `Europe/Lisbon`, `Asia/Calcutta` becomes
 * `Asia/Kolkata`, `US/Pacific` becomes `America/Los_Angeles`.
 * @throws CronError for a person
 */
export function parseZone(text: string): string {
  const zone = text.trim();
  // Most are: each record of a schedule is checked when it is read.
  if (zoneNames().has(zone)) return zone;
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
    parseZone(text);
    return true;
  } catch (error) {
    if (error instanceof CronError) return false;
    throw error;
  }
}

let known: ReadonlyMap<string, readonly string[]> | undefined;

/** Every zone by its present name, with the names that it goes by, the present one first. */
export function zoneNames(): ReadonlyMap<string, readonly string[]> {
  known ??= new Map(
    ['UTC', ...Intl.supportedValuesOf('timeZone')]
      .map((name) => [presentName(name), name] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([zone, name]) => [zone, [...new Set([zone, name])]]),
  );
  return known;
}

/** Zones that Intl knows by a former name, by that name. A newer Intl knows some of them by the present one. */
const PRESENT_NAMES: ReadonlyMap<string, string> = new Map([
  ['Africa/Asmera', 'Africa/Asmara'],
  ['America/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
  ['America/Catamarca', 'America/Argentina/Catamarca'],
  ['America/Coral_Harbour', 'America/Atikokan'],
  ['America/Cordoba', 'America/Argentina/Cordoba'],
  ['America/Godthab', 'America/Nuuk'],
  ['America/Indianapolis', 'America/Indiana/Indianapolis'],
  ['America/Jujuy', 'America/Argentina/Jujuy'],
  ['America/Louisville', 'America/Kentucky/Louisville'],
  ['America/Mendoza', 'America/Argentina/Mendoza'],
  ['Asia/Calcutta', 'Asia/Kolkata'],
  ['Asia/Katmandu', 'Asia/Kathmandu'],
  ['Asia/Rangoon', 'Asia/Yangon'],
  ['Asia/Saigon', 'Asia/Ho_Chi_Minh'],
  ['Atlantic/Faeroe', 'Atlantic/Faroe'],
  ['Europe/Kiev', 'Europe/Kyiv'],
  ['Pacific/Enderbury', 'Pacific/Kanton'],
  ['Pacific/Ponape', 'Pacific/Pohnpei'],
  ['Pacific/Truk', 'Pacific/Chuuk'],
]);

function presentName(zone: string): string {
  return PRESENT_NAMES.get(zone) ?? zone;
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

/** The instants of a local time, which a change of the clocks may skip (none) or repeat (two). */
export interface Instants {
  instants: readonly number[];
  /** Where it is skipped: the first instant after the gap. */
  gapEnd: number | undefined;
}

/** What a zone's clocks are ahead of UTC on a day and around it: one number, or two, before and after a change. */
export function offsetsAround(zone: string, midnight: number): readonly number[] {
  // No zone is a whole day away from UTC, so these two are on either side of all instants of that day.
  return [...new Set([offsetAt(zone, midnight - DAY_MS), offsetAt(zone, midnight + 2 * DAY_MS)])];
}

/** @param local the local time as if it were in UTC, in milliseconds; offsets are those of its day */
export function instantsOf(zone: string, local: number, offsets: readonly number[]): Instants {
  const tried = offsets.map((offset) => local - offset).sort((one, other) => one - other);
  const [earliest = local, latest = earliest] = tried;
  if (tried.length === 1) return { instants: tried, gapEnd: undefined };
  const instants = tried.filter((instant) => instant + offsetAt(zone, instant) === local);
  return { instants, gapEnd: instants.length === 0 ? changeBetween(zone, earliest, latest) : undefined };
}

/** The first instant of a local time, or the end of the gap that it is skipped by. */
export function instantAt(
  zone: string,
  { year, month, day }: CalendarDay,
  hour: number,
  minute: number,
): number {
  return firstOf(zone, Date.UTC(year, month - 1, day, hour, minute));
}

function firstOf(zone: string, local: number): number {
  const { instants, gapEnd } = instantsOf(zone, local, offsetsAround(zone, local));
  return instants[0] ?? gapEnd ?? local;
}

/**
 * The same local time some days later, for what is to be skipped until then: where that time is skipped, right after
 * the first instant behind the gap. The second of two equal hours counts as the end of both, for what is due in them has been.
 */
export function daysLater(zone: string, instant: number, days: number): number {
  const local = instant + offsetAt(zone, instant);
  const first = firstOf(zone, local);
  const passed = first < instant ? changeBetween(zone, first, instant) + offsetAt(zone, first) : local;
  const later = passed + days * DAY_MS;
  const at = firstOf(zone, later);
  return at + offsetAt(zone, at) === later ? at : at + 1;
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

const numbersOf = zonedParts(
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
function offsetAt(zone: string, instant: number): number {
  const numbers = numbersOf(zone, instant).map(Number);
  const [month = 1, day = 1, year = 0, hour = 0, minute = 0, second = 0] = numbers;
  const local = Date.UTC(year, month - 1, day, hour, minute, second);
  return local - Math.floor(instant / 1000) * 1000;
}
