import { type ParsedFields, validateDetailed } from 'node-cron';
import { RecentMap } from '../ttl-cache.ts';
import { HOUR_MS, MINUTE_MS } from './clock.ts';
import { addDays, type CalendarDay, CronError, dayAt, findInstants, readOffsetsAround } from './zone.ts';

/** Local times of a schedule. Minutes and hours ascend. */
export interface Cron {
  minutes: readonly number[];
  hours: readonly number[];
  /** Days of the week, from Sunday; undefined if the date matters too. */
  weekdays: readonly number[] | undefined;
  /**
   * True if minutes or hours are a star, with or without a step. The schedule is then due in each hour that
   * exists.
   */
  isHourly: boolean;
  isDue(day: CalendarDay): boolean;
}

const EXAMPLE =
  'Give five fields: minute, hour, day of month, month, day of week. `0 9 * * 1-5` is 09:00 from Monday to Friday.';
const PLAIN = /^[0-9a-z*,/?-]{1,80}$/i;
const FIELD_NAMES: Readonly<Record<string, string>> = {
  minute: 'minute (0-59)',
  hour: 'hour (0-23)',
  dayOfMonth: 'day of month (1-31)',
  month: 'month (1-12 or jan-dec)',
  dayOfWeek: 'day of week (0-7 or sun-sat)',
};

/** Cache, because parsing is slow and most schedules share a few expressions. */
const cached = new RecentMap<string, Cron>(1_000);

/**
 * Parses a five-field expression. If both day fields are set, a day is due if either matches, as in Vixie's
 * cron.
 * @throws CronError that names the wrong field
 */
export function parseCron(text: string): Cron {
  const cron = cached.get(text) ?? readCron(text);
  cached.set(text, cron);
  return cron;
}

function readCron(text: string): Cron {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5) throw new CronError(EXAMPLE);
  // Three digits are always wrong, and node-cron would expand a range of them number by number.
  if (fields.some((field) => !PLAIN.test(field) || /\d{3}/.test(field))) throw new CronError(EXAMPLE);
  const { fields: parsed, errors } = validateDetailed(fields.join(' '));
  if (parsed === undefined) throw new CronError(describeFaultyFields(errors.map((error) => error.field)));
  const tooLarge = Object.keys(FIELD_NAMES).filter((_, at) => hasLargeStep(fields[at] ?? '', SIZES[at] ?? 0));
  if (tooLarge.length > 0)
    throw new CronError(
      `A step is larger than its field: ${tooLarge.map((name) => FIELD_NAMES[name]).join(', ')}.`,
    );
  const [minutes = '', hours = '', days = '', , weekdays = ''] = fields;
  const isHourly = isStar(minutes) || isStar(hours);
  return { ...toCron(parsed, isStar(days) || isStar(weekdays)), isHourly };
}

/** Number of values of each field. */
const SIZES = [60, 24, 31, 12, 7];

/** node-cron accepts `*\/90` for minutes, which would run every hour. */
function hasLargeStep(field: string, size: number): boolean {
  return field.split(',').some((part) => {
    const [, from, to, step] = /^(?:[*?]|(\d+)-(\d+)|[^/]*)\/(\d+)$/.exec(part) ?? [];
    const values = from === undefined || to === undefined ? size : Number(to) - Number(from) + 1;
    return Number(step) > (values > 0 ? values : values + size);
  });
}

function toCron(parsed: ParsedFields, both: boolean): Omit<Cron, 'isHourly'> {
  const days = numbers(parsed.dayOfMonth, 'dayOfMonth');
  const weekdays = numbers(parsed.dayOfWeek, 'dayOfWeek');
  const months = new Set(parsed.month);
  const isAnyDate = months.size === 12 && days.size === 31;
  return {
    minutes: ascending(parsed.minute),
    hours: ascending(parsed.hour),
    weekdays: isAnyDate ? ascending(both ? [...weekdays] : [0, 1, 2, 3, 4, 5, 6]) : undefined,
    isDue: ({ year, month, day }) => {
      if (!months.has(month)) return false;
      const isDay = days.has(day);
      const isWeekday = weekdays.has(new Date(Date.UTC(year, month - 1, day)).getUTCDay());
      return both ? isDay && isWeekday : isDay || isWeekday;
    },
  };
}

/** node-cron also accepts `L`, `15W` and `5#2`, which five-field cron does not have. */
function numbers(values: ReadonlyArray<number | string>, field: string): Set<number> {
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length !== values.length) throw new CronError(describeFaultyFields([field]));
  return new Set(numbers);
}

function ascending(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

function isStar(field: string): boolean {
  return field.startsWith('*') || field.startsWith('?');
}

function describeFaultyFields(faulty: readonly string[]): string {
  const names = faulty.map((field) => FIELD_NAMES[field]).filter((name) => name !== undefined);
  return names.length === 0 ? EXAMPLE : `This is wrong: ${names.join(', ')}. ${EXAMPLE}`;
}

/** Longer than any wait for 29 February: 8 years around 2100, more for a certain weekday. */
const MAX_DAYS = 366 * 41;

/**
 * The first occurrence of a schedule after an instant; both in milliseconds since the epoch. A time that a
 * clock change skips is due at the end of the gap; a time that comes twice is due the first time. Hourly
 * schedules are due in each hour that exists.
 * @throws CronError if the expression or the zone is wrong
 */
export function nextOccurrence(expression: string, zone: string, after: number): number {
  const cron = parseCron(expression);
  // Begins a day early, because a skipped midnight is due on the next date.
  let day = addDays(dayAt(zone, after), -1);
  for (let searched = 0; searched < MAX_DAYS; searched += 1) {
    const first = firstOn(cron, zone, day, after);
    day = addDays(day, 1);
    // If clocks are set back over midnight, the times of two days overlap.
    if (first !== undefined) return Math.min(first, firstOn(cron, zone, day, after) ?? first);
  }
  throw new RangeError('no occurrence within 40 years');
}

/**
 * The latest occurrence at or before an instant; both in milliseconds since the epoch.
 * @throws CronError if the expression or the zone is wrong
 */
export function previousOccurrence(expression: string, zone: string, at: number): number {
  for (let back = HOUR_MS; ; back *= 4) {
    let latest: number | undefined;
    const next = (after: number): number => nextOccurrence(expression, zone, after);
    for (let due = next(at - back - 1); due <= at; due = next(due)) latest = due;
    if (latest !== undefined) return latest;
  }
}

function firstOn(cron: Cron, zone: string, date: CalendarDay, after: number): number | undefined {
  if (!cron.isDue(date)) return undefined;
  const midnight = Date.UTC(date.year, date.month - 1, date.day);
  const offsets = readOffsetsAround(zone, midnight);
  const latest = Math.min(...offsets);
  const times: number[] = [];
  for (const hour of cron.hours) {
    const begin = midnight + hour * HOUR_MS;
    if (begin + HOUR_MS - latest <= after) continue;
    const due = cron.minutes.flatMap((minute) => dueAt(cron, zone, begin + minute * MINUTE_MS, offsets));
    times.push(...due.filter((at) => at > after));
    // Without a clock change, the times are in order.
    if (times.length > 0 && offsets.length === 1) break;
  }
  return times.length === 0 ? undefined : Math.min(...times);
}

function dueAt(
  { isHourly }: Cron,
  zone: string,
  local: number,
  offsets: readonly number[],
): readonly number[] {
  const { instants, gapEnd } = findInstants(zone, local, offsets);
  return isHourly ? instants : [instants[0] ?? gapEnd].filter((at) => at !== undefined);
}
