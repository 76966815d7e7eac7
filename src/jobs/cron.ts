import { type ParsedFields, validateDetailed } from 'node-cron';

/** A cron expression or time zone that cannot be used; the message is for the person who typed it. */
export class CronError extends Error {
  readonly code = 'cron_error';
  override readonly name = 'CronError';
}

/** Which local times a schedule is due at. Minutes and hours ascend. */
export interface Cron {
  minutes: readonly number[];
  hours: readonly number[];
  /** Minutes as a star, with or without a step: due in both of two hours that have the same name. */
  isRepeated: boolean;
  isDue(day: CalendarDay): boolean;
}

/** A date of the calendar, of no zone; months from 1. */
export interface CalendarDay {
  year: number;
  month: number;
  day: number;
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

/** Reading takes longer than all that is done with it, and most schedules are due at the same few times. */
const known = new Map<string, Cron>();
const MOST_KNOWN = 1_000;

/**
 * Reads a five-field expression. Where both days are given, either makes the day due, as in every cron since
 * Vixie's.
 * @throws CronError saying which field is wrong
 */
export function parseCron(text: string): Cron {
  const read = known.get(text);
  if (read !== undefined) return read;
  const cron = readCron(text);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(text, cron);
  return cron;
}

function readCron(text: string): Cron {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5) throw new CronError(EXAMPLE);
  // Numbers of three digits are never right, and as ranges they would be expanded one by one.
  if (fields.some((field) => !PLAIN.test(field) || /\d{3}/.test(field))) throw new CronError(EXAMPLE);
  const { fields: parsed, errors } = validateDetailed(fields.join(' '));
  if (parsed === undefined) throw new CronError(describe(errors.map((error) => error.field)));
  const [minutes = '', , days = '', , weekdays = ''] = fields;
  return { ...toCron(parsed, isStar(days) || isStar(weekdays)), isRepeated: isStar(minutes) };
}

function toCron(parsed: ParsedFields, both: boolean): Omit<Cron, 'isRepeated'> {
  const days = numbers(parsed.dayOfMonth, 'dayOfMonth');
  const weekdays = numbers(parsed.dayOfWeek, 'dayOfWeek');
  const months = new Set(parsed.month);
  return {
    minutes: ascending(parsed.minute),
    hours: ascending(parsed.hour),
    isDue: ({ year, month, day }) => {
      if (!months.has(month)) return false;
      const isDay = days.has(day);
      const isWeekday = weekdays.has(new Date(Date.UTC(year, month - 1, day)).getUTCDay());
      return both ? isDay && isWeekday : isDay || isWeekday;
    },
  };
}

/** node-cron also reads `L`, `15W` and `5#2`, which five-field cron does not have. */
function numbers(values: ReadonlyArray<number | string>, field: string): Set<number> {
  const plain = values.filter((value) => typeof value === 'number');
  if (plain.length !== values.length) throw new CronError(describe([field]));
  return new Set(plain);
}

function ascending(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

function isStar(field: string): boolean {
  return field.startsWith('*') || field.startsWith('?');
}

function describe(faulty: readonly string[]): string {
  const names = faulty.map((field) => FIELD_NAMES[field]).filter((name) => name !== undefined);
  return names.length === 0 ? EXAMPLE : `This is wrong: ${names.join(', ')}. ${EXAMPLE}`;
}
