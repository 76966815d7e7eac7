import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { code, unmarked } from '../mrkdwn.ts';
import { DAY_MS, zonedParts } from './clock.ts';

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
 * Checks a time zone and returns its present name: `europe/lisbon` becomes `Europe/Lisbon`, `Asia/Calcutta` becomes
 * `Asia/Kolkata`, `America/Los Angeles` becomes `America/Los_Angeles`. A name needs its region, except `UTC`: `Intl` also
 * takes abbreviations, and reads `BST` as Dhaka.
 * @throws CronError for a person
 */
export function parseZone(text: string): string {
  const zone = findZone(text);
  if (zone === undefined) throw new CronError(explainUnknownZone(text));
  return zone;
}

/** A time zone as a person or a file names it; the value is its present name. */
export const ZoneName = z.string().transform((text, context) => {
  const zone = findZone(text);
  if (zone !== undefined) return zone;
  context.addIssue(unmarked(explainUnknownZone(text)));
  return z.NEVER;
});

/** A sentence; mrkdwn. */
function explainUnknownZone(text: string): string {
  const meant = zonesMeantBy(text);
  const near = (meant.length > 0 ? meant : [nearestZone(text.slice(0, 60))]).map((zone) => code(zone));
  const choice = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(near);
  return `There is no time zone ${code(text, 60)}. Did you mean ${choice}?`;
}

/** Returns undefined for anything but the name of a time zone. */
function findZone(text: string): string | undefined {
  const zone = text.trim();
  // Most are: each record of a schedule is checked when it is read.
  if (zoneNames().has(zone)) return zone;
  return /^(?:utc|[a-z]+\/.+)$/i.test(zone) ? intlZone(zone.replaceAll(/\s+/g, '_')) : undefined;
}

function intlZone(timeZone: string): string | undefined {
  try {
    return presentName(new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone);
  } catch {
    return undefined;
  }
}

/** Whether this is the name of a time zone, of today or of the past. */
export function isZone(text: string): boolean {
  return findZone(text) !== undefined;
}

/** The zones that `BST`, `PST8PDT`, `GMT+1`, `Japan` may mean; empty for anything else. */
export function zonesMeantBy(typed: string): string[] {
  const text = typed.trim().toUpperCase();
  const abbreviation = /^([A-Z]+)\d+[A-Z]+$/.exec(text)?.[1] ?? text;
  const cities = ABBREVIATIONS[abbreviation];
  if (cities !== undefined) return cities.split(' ');
  const [, sign, hours, minutes = '0'] = /^(?:GMT|UTC|UT)?\s*([+-])(\d{1,2})(?::?(\d{2}))?$/.exec(text) ?? [];
  if (hours !== undefined)
    return citiesAt((Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000));
  // A former name without a region, such as `Japan` or `GB`.
  const zone = /^[A-Z-]{2,}$/.test(text) ? intlZone(text) : undefined;
  return zone === undefined || !isZone(zone) ? [] : [zone];
}

/** Abbreviations that people use, with the zones of two or three cities that each may mean. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  ACDT: 'Australia/Adelaide Australia/Broken_Hill',
  ACST: 'Australia/Adelaide Australia/Darwin',
  ADT: 'America/Halifax Atlantic/Bermuda',
  AEDT: 'Australia/Sydney Australia/Melbourne',
  AEST: 'Australia/Sydney Australia/Brisbane',
  AKDT: 'America/Anchorage America/Juneau',
  AKST: 'America/Anchorage America/Juneau',
  AMT: 'America/Manaus Asia/Yerevan',
  ART: 'America/Argentina/Buenos_Aires Africa/Cairo',
  AST: 'America/Halifax America/Puerto_Rico Asia/Riyadh',
  AWST: 'Australia/Perth Asia/Singapore',
  BRT: 'America/Sao_Paulo America/Fortaleza',
  BST: 'Europe/London Asia/Dhaka',
  CAT: 'Africa/Johannesburg Africa/Maputo',
  CDT: 'America/Chicago America/Havana',
  CEST: 'Europe/Berlin Europe/Paris Europe/Madrid',
  CET: 'Europe/Berlin Europe/Paris Europe/Madrid',
  CLT: 'America/Santiago America/Punta_Arenas',
  COT: 'America/Bogota America/Lima',
  CST: 'America/Chicago Asia/Shanghai America/Mexico_City',
  CT: 'America/Chicago America/Mexico_City',
  EAT: 'Africa/Nairobi Africa/Addis_Ababa',
  EDT: 'America/New_York America/Toronto',
  EEST: 'Europe/Athens Europe/Helsinki Europe/Kyiv',
  EET: 'Europe/Athens Europe/Helsinki Africa/Cairo',
  EST: 'America/New_York America/Panama Australia/Sydney',
  ET: 'America/New_York America/Toronto',
  GMT: 'Europe/London Africa/Accra UTC',
  GST: 'Asia/Dubai Pacific/Guam',
  HKT: 'Asia/Hong_Kong Asia/Shanghai',
  HST: 'Pacific/Honolulu America/Adak',
  ICT: 'Asia/Bangkok Asia/Ho_Chi_Minh',
  IDT: 'Asia/Jerusalem Europe/Athens',
  IST: 'Asia/Kolkata Europe/Dublin Asia/Jerusalem',
  JST: 'Asia/Tokyo Asia/Seoul',
  KST: 'Asia/Seoul Asia/Tokyo',
  MDT: 'America/Denver America/Edmonton',
  MET: 'Europe/Berlin Europe/Paris Europe/Madrid',
  MSK: 'Europe/Moscow Europe/Istanbul',
  MST: 'America/Denver America/Phoenix Asia/Kuala_Lumpur',
  MT: 'America/Denver America/Phoenix',
  MYT: 'Asia/Kuala_Lumpur Asia/Singapore',
  NDT: 'America/St_Johns America/Halifax',
  NST: 'America/St_Johns America/Halifax',
  NZDT: 'Pacific/Auckland Antarctica/McMurdo',
  NZST: 'Pacific/Auckland Antarctica/McMurdo',
  PDT: 'America/Los_Angeles America/Vancouver',
  PET: 'America/Lima America/Bogota',
  PHT: 'Asia/Manila Asia/Singapore',
  PKT: 'Asia/Karachi Asia/Tashkent',
  PST: 'America/Los_Angeles America/Vancouver Asia/Manila',
  PT: 'America/Los_Angeles America/Vancouver',
  SAST: 'Africa/Johannesburg Africa/Maputo',
  SGT: 'Asia/Singapore Asia/Kuala_Lumpur',
  SST: 'Pacific/Pago_Pago Asia/Singapore',
  TRT: 'Europe/Istanbul Asia/Riyadh',
  WAT: 'Africa/Lagos Africa/Algiers',
  WEST: 'Europe/Lisbon Atlantic/Canary',
  WET: 'Europe/Lisbon Atlantic/Canary',
  WIB: 'Asia/Jakarta Asia/Bangkok',
};

/** Of the cities above, three at most that are so far ahead of UTC in winter. */
function citiesAt(offset: number): string[] {
  const cities = new Set(Object.values(ABBREVIATIONS).flatMap((zones) => zones.split(' ')));
  const seasons = [Date.UTC(2026, 0), Date.UTC(2026, 6)];
  const winterOffset = (zone: string): number => Math.min(...seasons.map((at) => offsetAt(zone, at)));
  return [...cities].filter((zone) => winterOffset(zone) === offset).slice(0, 3);
}

/** The zone with a name that reads most like what was typed, as a whole or as the city alone; by its present name. */
function nearestZone(typed: string): string {
  const wanted = spellZone(typed);
  let best = { zone: 'UTC', far: Number.POSITIVE_INFINITY };
  for (const [zone, names] of zoneNames()) {
    const spellings = names.flatMap((name) => [spellZone(name), spellZone(cityOf(name))]);
    const far = Math.min(...spellings.map((each) => distance(wanted, each)));
    if (far < best.far) best = { zone, far };
  }
  return best.zone;
}

/** `São Paulo` and `sao_paulo` are the same. */
export function spellZone(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('_', ' ');
}

export function cityOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
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
