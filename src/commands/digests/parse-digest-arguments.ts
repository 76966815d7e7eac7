import { closest } from 'fastest-levenshtein';
import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { WEEKDAYS } from '../../core/schedule-choices.ts';
import { CronError, parseZone } from '../../jobs/zone.ts';
import { type Cadence, nextTimes } from '../../records/digests.ts';
import type { ActivityRange } from '../../service/activity.ts';
import { DAY_NAMES } from '../../views/digests/list.ts';
import { readActivityWords } from '../activity/parse-activity-arguments.ts';
import { nearestZone } from '../option-sources.ts';
import { asTime, readClock } from '../schedules/clock-time.ts';

export interface DigestWords {
  cadence: Cadence;
  /** Undefined where none was given. */
  zone: string | undefined;
  range: ActivityRange | undefined;
  project: string | undefined;
}

const CADENCES = ['daily', 'weekdays', ...WEEKDAYS.map((day) => `weekly:${day}`), 'cron:"0 9 * * 1-5"'];
const CRON_FIELDS = 5;

/**
 * Reads `<daily|weekdays|weekly:<day>> <HH:MM> [zone] [range]` or `cron:"<five fields>" [zone] [range]`. Pure.
 * @throws UserError for the first word that is wrong, with the nearest that is right
 */
export function readDigestWords(words: readonly string[]): DigestWords {
  const { cadence, rest } = readCadence(words);
  const { zone, rest: others } = readZone(rest);
  const { range, project } = readActivityWords(others);
  const fault = faultOf(cadence, zone ?? 'UTC', 0);
  if (fault !== undefined) throw wrong(fault);
  return { cadence, zone, range, project };
}

interface Read<T> {
  cadence: T;
  rest: readonly string[];
}

/** "remind me every Monday at 9" */
const FILLERS: ReadonlySet<string> = new Set(['at', 'each', 'every', 'me', 'on', 'us']);
const KINDS = { daily: 'daily', day: 'daily', weekday: 'weekdays', weekdays: 'weekdays' } as const;

function readCadence(words: readonly string[]): Read<Cadence> {
  if (/^cron(:|$)/i.test(words[0] ?? '')) return readCron(words);
  const said = words.filter((word) => !FILLERS.has(word.toLowerCase()));
  const isTwoWords = said[0]?.toLowerCase() === 'weekly' && dayOf(said[1]) !== undefined;
  const [first = '', ...rest] = isTwoWords ? said.slice(1) : said;
  const word = first.toLowerCase();
  const kind = Object.entries(KINDS).find(([typed]) => typed === word)?.[1];
  if (kind !== undefined) return { cadence: { kind, time: readTime(rest[0]) }, rest: rest.slice(1) };
  const day = dayOf(first);
  if (day !== undefined)
    return { cadence: { kind: 'weekly', day, time: readTime(rest[0]) }, rest: rest.slice(1) };
  const near = word === 'weekly' ? 'weekly:mon' : closest(word, CADENCES);
  throw wrong(`${code(first, 40)} is not a known frequency. Did you mean ${code(near)}?`);
}

function dayOf(typed = ''): (typeof WEEKDAYS)[number] | undefined {
  const named = typed.toLowerCase().replace(/^weekly:/, '');
  return WEEKDAYS.find((day) => day === named || DAY_NAMES[day].toLowerCase() === named);
}

function readCron(words: readonly string[]): Read<Cadence> {
  const text = words.join(' ').replace(/^cron:?\s*/i, '');
  const fields = text.split(' ');
  // In quotes they came as one word, and then there may be too many or too few; otherwise five are taken.
  const quoted = words.find((word) => /\s/.test(word))?.replace(/^cron:\s*/i, '');
  const cron = (quoted ?? fields.slice(0, CRON_FIELDS).join(' ')).replaceAll("'", '').trim();
  const after =
    quoted === undefined
      ? fields.slice(CRON_FIELDS)
      : words.slice(words.findIndex((word) => /\s/.test(word)) + 1);
  return { cadence: { kind: 'cron', cron }, rest: after.filter((word) => word !== '') };
}

/**
 * `09:00`, and what people type for it: `9:00`, `9.00`, `9am`.
 * @throws UserError
 */
export function readTime(typed: string | undefined): string {
  if (typed === undefined || typed === '') throw wrong('Give the time as `HH:MM`, e.g. `09:00`.');
  const [, hours, minutes, half] = /^(\d{1,2})(?:[:.h](\d{1,2}))?(am|pm)?$/i.exec(typed) ?? [];
  if (hours === undefined)
    throw wrong(`${code(typed, 40)} is not a time. Give it as \`HH:MM\`, e.g. \`09:00\`.`);
  const [hour, minute] = readClock(hours, minutes, half);
  if (hour < 24 && minute < 60) return asTime(hour, minute);
  const near = asTime(hour === 24 ? 0 : Math.min(hour, 23), Math.min(minute, 59));
  throw wrong(`There is no ${code(typed, 40)} on the clock. Did you mean ${code(near)}?`);
}

/** The zone may be left out: then a range or nothing follows the time. */
function readZone(words: readonly string[]): { zone: string | undefined; rest: readonly string[] } {
  const [typed, ...rest] = words;
  if (typed === undefined || beginsWithRange(words)) return { zone: undefined, rest: words };
  try {
    return { zone: parseZone(typed), rest };
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    throw wrong(`There is no time zone ${code(typed, 60)}. Did you mean ${code(nearestZone(typed))}?`);
  }
}

function beginsWithRange(words: readonly string[]): boolean {
  for (let length = 1; length <= Math.min(4, words.length); length += 1) {
    const { range, project } = readRange(words.slice(0, length));
    if (range !== undefined && project === undefined) return true;
  }
  return false;
}

function readRange(words: readonly string[]): {
  range?: ActivityRange | undefined;
  project?: string | undefined;
} {
  try {
    return readActivityWords(words);
  } catch (error) {
    if (error instanceof UserError) return {};
    throw error;
  }
}

/** What is wrong with five fields, or that no date from then on fits them. */
export function faultOf(cadence: Cadence, zone: string, from: number): string | undefined {
  try {
    nextTimes(cadence, zone, from, 1);
    return undefined;
  } catch (error) {
    if (error instanceof CronError) return error.message;
    throw error;
  }
}

function wrong(fault: string): UserError {
  return new UserError(fault, 'help digest add');
}
