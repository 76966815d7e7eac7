import { WEEKDAYS } from '../../core/choices.ts';
import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { HOUR_MS, MINUTE_MS } from '../../core/time/clock.ts';
import { nextOccurrence } from '../../core/time/cron.ts';
import { addDays, type CalendarDay, dayAt, daysLater, instantAt } from '../../core/time/zone.ts';
import { makeCron } from '../../records/schedules.ts';
import { DAY_NAMES } from '../../views/schedules/details.ts';
import { readTime } from '../schedules/cadence-words.ts';

export interface QuietWords {
  /** True to end a quiet: `quiet off`. */
  isEnd: boolean;
  /** Milliseconds since the epoch; undefined if no time was named. */
  until: number | undefined;
  /** Name of the project; `*` or `all` for everything; undefined if none was named. */
  scope: string | undefined;
}

/** "the", "this channel", "news of storefront" */
const FILLERS: ReadonlySet<string> = new Set(
  'a about alerts channel for from here in it messages news notifications of on please the this'.split(' '),
);
const ALL: ReadonlySet<string> = new Set(['*', 'everything']);
const ENDS: ReadonlySet<string> = new Set(['end', 'off', 'over', 'resume', 'stop']);
const UNTIL: ReadonlySet<string> = new Set(['til', 'till', 'until', 'untill']);
/** Days that need no word before them. */
const DAYS: ReadonlySet<string> = new Set(['today', 'tonight']);
/** A day without a time means its morning. */
const MORNING = '08:00';

const UNITS: ReadonlyArray<[RegExp, 'minute' | 'hour' | 'day' | 'week']> = [
  [/^(?:m|mins?|minutes?)$/, 'minute'],
  [/^(?:h|hrs?|hours?)$/, 'hour'],
  [/^(?:d|days?)$/, 'day'],
  [/^(?:w|weeks?)$/, 'week'],
];

/** Numbers in words. */
const NUMBERS: ReadonlyMap<string, string> = new Map([
  ...['a', 'an'].map((word) => [word, '1'] as const),
  ...'one two three four five six seven eight nine ten eleven twelve'
    .split(' ')
    .map((word, at) => [word, String(at + 1)] as const),
]);

interface Read {
  until: number;
  /** Number of words that it took. */
  length: number;
}

interface Now {
  now: number;
  zone: string;
}

/**
 * Reads `[for 2h | until <time>] [project | all]`, in any order: `until monday`, `until 8:00`, `until tomorrow`, `for 90m`, `2h`,
 * `off`. Pure.
 * @throws UserError for a time that it cannot read
 */
export function readQuietWords(words: readonly string[], { now, zone }: Now): QuietWords {
  const rest: string[] = [];
  let until: number | undefined;
  let isEnd = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = (words[at] ?? '').toLowerCase();
    const after = words.slice(at + 1).map((one) => one.toLowerCase());
    const timed = until === undefined ? readTimed(word, after, { now, zone }) : undefined;
    if (timed !== undefined) {
      until = timed.until;
      at += timed.length - 1;
    } else if (at === 0 && ENDS.has(word)) isEnd = true;
    else rest.push(words[at] ?? '');
  }
  const names = rest.filter((word) => !FILLERS.has(word.toLowerCase()));
  const scope = names.join(' ');
  const isAll = scope === '' ? rest.length > 0 : ALL.has(scope.toLowerCase());
  return { isEnd, until, scope: isAll ? '*' : scope || undefined };
}

/** A time that begins with a word, with that word counted; undefined if it begins none. */
function readTimed(word: string, after: readonly string[], time: Now): Read | undefined {
  if (UNTIL.has(word)) {
    const { until, length } = readUntil(after, time);
    return { until, length: length + 1 };
  }
  if (word === 'for' || word === 'over') {
    const read = readDuration(after, time) ?? readDay(after, time);
    return read && { ...read, length: read.length + 1 };
  }
  return readDuration([word, ...after], time) ?? (DAYS.has(word) ? readDay([word], time) : undefined);
}

/** "2h", "90m", "2 hours", "two hours", "an hour", "half an hour", "3 days" */
function readDuration(words: readonly string[], { now, zone }: Now): Read | undefined {
  const [first = '', second = '', third = ''] = words;
  if (first === 'half' && second === 'an' && third === 'hour') return { until: now + HOUR_MS / 2, length: 3 };
  const [, number, ending = ''] = /^(\d{1,4}(?:\.\d)?)([a-z]*)$/.exec(first) ?? [];
  const amount = number ?? NUMBERS.get(first);
  if (amount === undefined) return undefined;
  const unit = UNITS.find(([pattern]) => pattern.test(ending || second))?.[1];
  if (unit === undefined) return undefined;
  const length = ending === '' ? 2 : 1;
  if (unit === 'minute' || unit === 'hour')
    return { until: now + Number(amount) * (unit === 'hour' ? HOUR_MS : MINUTE_MS), length };
  return { until: daysLater(zone, now, Math.round(Number(amount)) * (unit === 'week' ? 7 : 1)), length };
}

/** "today" and "the weekend" are over with their end. */
function readDay(words: readonly string[], time: Now): Read | undefined {
  const length = words[0] === 'the' ? 2 : 1;
  const word = words[length - 1];
  if (word === 'today' || word === 'day')
    return { until: atTime(addDays(dayAt(time.zone, time.now), 1), '00:00', time), length };
  if (word === 'tonight') return { until: nextMorning(time), length };
  return word === 'weekend' ? { until: nextWeekday('mon', MORNING, time), length } : undefined;
}

/** @throws UserError */
function readUntil(words: readonly string[], time: Now): Read {
  const [first = '', second = '', third = ''] = words;
  const today = dayAt(time.zone, time.now);
  const withTime = (then: (text: string) => number): Read => {
    const [text, length] = second === 'at' ? [third, 3] : [second, 2];
    if (isTime(text)) return { until: then(readTime(text)), length };
    return { until: then(MORNING), length: second === 'morning' ? 2 : 1 };
  };
  const weekday = WEEKDAYS.find((day) => first === day || first === DAY_NAMES[day].toLowerCase());
  if (weekday !== undefined) return withTime((text) => nextWeekday(weekday, text, time));
  if (first === 'tomorrow') return withTime((text) => atTime(addDays(today, 1), text, time));
  if (first === 'today') return withTime((text) => atTime(today, text, time));
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(first) ?? [];
  if (year !== undefined) {
    const date = { year: Number(year), month: Number(month), day: Number(day) };
    return withTime((text) => atTime(date, text, time));
  }
  const hour = { noon: '12:00', midday: '12:00', midnight: '00:00' }[first];
  if (hour === undefined && !isTime(first))
    throw new UserError(
      `${code(first || 'until', 40)} is not a time. Say for example ${code('quiet until 8:00')}, ${code('quiet until monday')} or ${code('quiet for 2h')}.`,
      'help quiet',
    );
  return { until: nextTime(hour ?? readTime(first), time), length: 1 };
}

function isTime(text: string): boolean {
  return /^\d{1,2}(?:[:.h]\d{2})?(?:am|pm)?$/.test(text);
}

function atTime(day: CalendarDay, text: string, { zone }: Now): number {
  const [hour = 0, minute = 0] = text.split(':').map(Number);
  return instantAt(zone, day, hour, minute);
}

/** The next such day whose time is still to come. */
export function nextWeekday(day: (typeof WEEKDAYS)[number], text: string, { zone, now }: Now): number {
  return nextOccurrence(makeCron({ kind: 'weekly', day, time: text }), zone, now);
}

/** The next eight o'clock. */
export function nextMorning(time: Now): number {
  return nextTime(MORNING, time);
}

function nextTime(text: string, { zone, now }: Now): number {
  return nextOccurrence(makeCron({ kind: 'daily', time: text }), zone, now);
}
