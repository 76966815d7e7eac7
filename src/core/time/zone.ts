import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { code, unmarked } from '../mrkdwn.ts';
import { createPartsReader, DAY_MS } from './clock.ts';

/** A wrong cron expression or time zone. The message is for the person who typed it. */
export class CronError extends Error {
  readonly code = 'cron_error';
  override readonly name = 'CronError';
}

/** A date of the calendar, without a zone; months from 1. */
export interface CalendarDay {
  year: number;
  month: number;
  day: number;
}

/**
 * Checks a time zone and returns its present name: `europe/lisbon` becomes `Europe/Lisbon`, `Asia/Calcutta`
 * becomes `Asia/Kolkata`, `America/Los Angeles` becomes `America/Los_Angeles`. A name needs its region,
 * except `UTC`, because `Intl` accepts abbreviations too, and takes `BST` for Dhaka.
 * @throws CronError for a person
 */
export function parseZone(text: string): string {
  const zone = findZone(text);
  if (zone === undefined) throw new CronError(explainUnknownZone(text));
  return zone;
}

/** A time zone named by a person or a file; the value is its present name. */
export const ZoneName = z.string().transform((text, context) => {
  const zone = findZone(text);
  if (zone !== undefined) return zone;
  context.addIssue(unmarked(explainUnknownZone(text)));
  return z.NEVER;
});

/** A sentence in mrkdwn. */
function explainUnknownZone(text: string): string {
  const zones = findPossibleZones(text);
  const near = (zones.length > 0 ? zones : [nearestZone(text.slice(0, 60))]).map((zone) => code(zone));
  const choice = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(near);
  return `There is no time zone ${code(text, 60)}. Did you mean ${choice}?`;
}

/** Returns the present name of a time zone; undefined for any other text. */
function findZone(text: string): string | undefined {
  const zone = text.trim();
  // The usual case, because stored schedules hold present names.
  if (listZoneNames().has(zone)) return zone;
  return /^(?:utc|[a-z]+\/.+)$/i.test(zone) ? intlZone(zone.replaceAll(/\s+/g, '_')) : undefined;
}

function intlZone(timeZone: string): string | undefined {
  try {
    return presentName(new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone);
  } catch {
    return undefined;
  }
}

/** The zone of a city's name, such as `New York`; undefined if none or several have it. */
export function findCityZone(text: string): string | undefined {
  const city = spellZone(text.trim());
  const zones = [...listZoneNames()].filter(([, names]) =>
    names.some((name) => spellZone(extractCity(name)) === city),
  );
  return zones.length === 1 ? zones[0]?.[0] : undefined;
}

/** True for the present or former name of a time zone. */
export function isZone(text: string): boolean {
  return findZone(text) !== undefined;
}

/** Possible zones for `BST`, `PST8PDT`, `GMT+1` or `Japan`; empty for any other text. */
export function findPossibleZones(name: string): string[] {
  const text = name.trim().toUpperCase();
  const abbreviation = /^([A-Z]+)\d+[A-Z]+$/.exec(text)?.[1] ?? text;
  const cities = ABBREVIATIONS.get(abbreviation);
  if (cities !== undefined) return cities;
  const [, sign, hours, minutes = '0'] = /^(?:GMT|UTC|UT)?\s*([+-])(\d{1,2})(?::?(\d{2}))?$/.exec(text) ?? [];
  if (hours !== undefined)
    return citiesAt((Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000));
  // A former name without a region, such as `Japan` or `GB`.
  const zone = /^[A-Z-]{2,}$/.test(text) ? intlZone(text) : undefined;
  return zone === undefined || !isZone(zone) ? [] : [zone];
}

/** Common abbreviations, each with the zones of two or three cities that it may mean. */
const ABBREVIATIONS = new Map(
  Object.entries({
    ACDT: 'Australia/Adelaide Australia/Broken_Hill',
    ACST: 'Australia/Adelaide Australia/Darwin',
    ADT: 'America/Halifax Atlantic/Bermuda',
    AEDT: 'Australia/Sydney Australia/Melbourne',
    AEST: 'Australia/Sydney Australia/Brisbane',
    'AKDT AKST': 'America/Anchorage America/Juneau',
    AMT: 'America/Manaus Asia/Yerevan',
    ART: 'America/Argentina/Buenos_Aires Africa/Cairo',
    AST: 'America/Halifax America/Puerto_Rico Asia/Riyadh',
    AWST: 'Australia/Perth Asia/Singapore',
    BRT: 'America/Sao_Paulo America/Fortaleza',
    BST: 'Europe/London Asia/Dhaka',
    'CAT SAST': 'Africa/Johannesburg Africa/Maputo',
    CDT: 'America/Chicago America/Havana',
    'CEST CET MET': 'Europe/Berlin Europe/Paris Europe/Madrid',
    CLT: 'America/Santiago America/Punta_Arenas',
    COT: 'America/Bogota America/Lima',
    CST: 'America/Chicago Asia/Shanghai America/Mexico_City',
    CT: 'America/Chicago America/Mexico_City',
    EAT: 'Africa/Nairobi Africa/Addis_Ababa',
    'EDT ET': 'America/New_York America/Toronto',
    EEST: 'Europe/Athens Europe/Helsinki Europe/Kyiv',
    EET: 'Europe/Athens Europe/Helsinki Africa/Cairo',
    EST: 'America/New_York America/Panama Australia/Sydney',
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
    MSK: 'Europe/Moscow Europe/Istanbul',
    MST: 'America/Denver America/Phoenix Asia/Kuala_Lumpur',
    MT: 'America/Denver America/Phoenix',
    MYT: 'Asia/Kuala_Lumpur Asia/Singapore',
    'NDT NST': 'America/St_Johns America/Halifax',
    'NZDT NZST': 'Pacific/Auckland Antarctica/McMurdo',
    'PDT PT': 'America/Los_Angeles America/Vancouver',
    PET: 'America/Lima America/Bogota',
    PHT: 'Asia/Manila Asia/Singapore',
    PKT: 'Asia/Karachi Asia/Tashkent',
    PST: 'America/Los_Angeles America/Vancouver Asia/Manila',
    SGT: 'Asia/Singapore Asia/Kuala_Lumpur',
    SST: 'Pacific/Pago_Pago Asia/Singapore',
    TRT: 'Europe/Istanbul Asia/Riyadh',
    WAT: 'Africa/Lagos Africa/Algiers',
    'WEST WET': 'Europe/Lisbon Atlantic/Canary',
    WIB: 'Asia/Jakarta Asia/Bangkok',
  }).flatMap(([names, cities]) => names.split(' ').map((name) => [name, cities.split(' ')] as const)),
);

/** At most three of the cities above that have this offset from UTC in winter. */
function citiesAt(offset: number): string[] {
  const cities = new Set([...ABBREVIATIONS.values()].flat());
  const seasons = [Date.UTC(2026, 0), Date.UTC(2026, 6)];
  const winterOffset = (zone: string): number => Math.min(...seasons.map((at) => offsetAt(zone, at)));
  return [...cities].filter((zone) => winterOffset(zone) === offset).slice(0, 3);
}

/** Present name of the zone whose name or city is nearest to the typed text. */
function nearestZone(text: string): string {
  const spelled = spellZone(text);
  let best = { zone: 'UTC', far: Number.POSITIVE_INFINITY };
  for (const [zone, names] of listZoneNames()) {
    const spellings = names.flatMap((name) => [spellZone(name), spellZone(extractCity(name))]);
    const far = Math.min(...spellings.map((each) => distance(spelled, each)));
    if (far < best.far) best = { zone, far };
  }
  return best.zone;
}

/** Makes `São Paulo` and `sao_paulo` equal. */
export function spellZone(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('_', ' ');
}

export function extractCity(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

let cachedNames: ReadonlyMap<string, readonly string[]> | undefined;

/** All names of each zone, by its present name, which comes first. */
export function listZoneNames(): ReadonlyMap<string, readonly string[]> {
  cachedNames ??= new Map(
    ['UTC', ...Intl.supportedValuesOf('timeZone')]
      .map((name) => [presentName(name), name] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([zone, name]) => [zone, [...new Set([zone, name])]]),
  );
  return cachedNames;
}

/** Present names of zones, by former names that `Intl` may still return. */
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

export function dayAt(zone: string, instant: number): CalendarDay {
  const local = new Date(instant + offsetAt(zone, instant));
  return { year: local.getUTCFullYear(), month: local.getUTCMonth() + 1, day: local.getUTCDate() };
}

/** The date `count` days later; earlier if negative. */
export function addDays({ year, month, day }: CalendarDay, count: number): CalendarDay {
  const date = new Date(Date.UTC(year, month - 1, day + count));
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** The instants of a local time: none if a clock change skips it, two if it repeats it. */
export interface Instants {
  instants: readonly number[];
  /** If the time is skipped, the first instant after the gap. */
  gapEnd: number | undefined;
}

/** The zone's offsets from UTC around a day: one, or two if the clocks change. */
export function readOffsetsAround(zone: string, midnight: number): readonly number[] {
  // No zone is a whole day from UTC, so all instants of the local day lie between these two.
  return [...new Set([offsetAt(zone, midnight - DAY_MS), offsetAt(zone, midnight + 2 * DAY_MS)])];
}

/** @param local local time as if it were UTC, in milliseconds @param offsets offsets of its day */
export function findInstants(zone: string, local: number, offsets: readonly number[]): Instants {
  const tried = offsets.map((offset) => local - offset).sort((one, other) => one - other);
  const [earliest = local, latest = earliest] = tried;
  if (tried.length === 1) return { instants: tried, gapEnd: undefined };
  const instants = tried.filter((instant) => instant + offsetAt(zone, instant) === local);
  return { instants, gapEnd: instants.length === 0 ? changeBetween(zone, earliest, latest) : undefined };
}

/** The first instant of a local time, or the end of the gap that skips it. */
export function instantAt(
  zone: string,
  { year, month, day }: CalendarDay,
  hour: number,
  minute: number,
): number {
  return findFirst(zone, Date.UTC(year, month - 1, day, hour, minute));
}

function findFirst(zone: string, local: number): number {
  const { instants, gapEnd } = findInstants(zone, local, readOffsetsAround(zone, local));
  return instants[0] ?? gapEnd ?? local;
}

/**
 * The same local time some days later, for a snooze. If a clock change skips that time, returns the moment
 * after the gap's first instant. If it comes twice, returns the second, so that both occurrences are over.
 */
export function daysLater(zone: string, instant: number, days: number): number {
  const local = instant + offsetAt(zone, instant);
  const first = findFirst(zone, local);
  const passed = first < instant ? changeBetween(zone, first, instant) + offsetAt(zone, first) : local;
  const later = passed + days * DAY_MS;
  const at = findFirst(zone, later);
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

const readNumbers = createPartsReader(
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

/** The zone's offset from UTC at an instant, in milliseconds. */
function offsetAt(zone: string, instant: number): number {
  const numbers = readNumbers(zone, instant).map(Number);
  const [month = 1, day = 1, year = 0, hour = 0, minute = 0, second = 0] = numbers;
  const local = Date.UTC(year, month - 1, day, hour, minute, second);
  return local - Math.floor(instant / 1000) * 1000;
}
