import { closest } from 'fastest-levenshtein';
import { z } from 'zod';
import { WEEKDAYS } from '../../core/choices.ts';
import { UserError } from '../../core/errors.ts';
import { isDirect } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { spellName } from '../../core/names.ts';
import { parseCron } from '../../core/time/cron.ts';
import { CronError, findCityZone, isZone, parseZone } from '../../core/time/zone.ts';
import {
  type Cadence,
  type Escalation,
  listNextTimes,
  makeCron,
  type TimedSchedule,
} from '../../records/schedules.ts';
import { isPresent } from '../../scheduler/episodes/escalation.ts';
import { isLoopbackBaseUrl } from '../../service/addresses.ts';
import { DAY_NAMES, describeHandle } from '../../views/schedules/details.ts';
import { findHandle, readHandle } from '../../workspace/slack-people.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CommandContext } from '../context.ts';
import { FormFault, showUnderField } from '../submission.ts';
import { splitWords } from '../typed-words.ts';

const CADENCES = [
  'daily',
  'weekdays',
  ...WEEKDAYS.map((day) => `weekly:${day}`),
  'hourly',
  'cron:"0 9 * * 1-5"',
];
const CRON_FIELDS = 5;

/** Cadence, zone if one was typed, and the remaining words. */
export interface CadenceWords {
  cadence: Cadence;
  zone: string | undefined;
  rest: readonly string[];
}

/**
 * Reads `<daily|weekdays|weekly:<day>> <HH:MM> [zone]`, `hourly [zone]` or `cron:"<five fields>" [zone]`. Pure.
 * @param endsZone whether the words after the time begin with something other than a zone
 * @throws UserError for the first word that is wrong, with the nearest that is right
 */
export function readCadenceWords(
  words: readonly string[],
  noun: TimedSchedule['kind'],
  endsZone: (words: readonly string[]) => boolean = () => false,
): CadenceWords {
  try {
    const { cadence, rest } = readCadence(words);
    const { zone, rest: others } = endsZone(rest) ? { zone: undefined, rest } : readZone(rest);
    const fault = findCadenceFault(noun, cadence, zone ?? 'UTC', 0);
    if (fault !== undefined) throw new UserError(fault);
    return { cadence, zone, rest: others };
  } catch (error) {
    if (!(error instanceof UserError || error instanceof CronError)) throw error;
    throw new UserError(error.message, `help ${noun} add`, { cause: error });
  }
}

/** Words after a command's name or synonym, split again, because cron fields in quotes are one word. */
export function typedAfter(
  synonyms: readonly string[],
  text: string,
  switches?: readonly string[],
): readonly string[] {
  const { words } = splitWords(text, switches);
  const isOneWord = synonyms.includes(spellName(words[0] ?? ''));
  return words.slice(isOneWord ? 1 : 2);
}

/** Index of the first word of the cadence, or `words.length`. */
export function findCadenceIndex(words: readonly string[]): number {
  const first = words.findIndex((word) => CADENCE.test(word) || findDay(word) !== undefined);
  if (first !== -1) return first;
  const time = words.findIndex((word, at) => at > 0 && /^\d{1,2}[:.]\d{2}$/.test(word));
  return time === -1 ? words.length : time - 1;
}

const CADENCE = /^(?:each|every|daily|hourly|monthly|weekdays?|weekly(?::.*)?|cron(?::.*)?)$/i;

interface Read {
  cadence: Cadence;
  rest: readonly string[];
}

/** "remind me every Monday at 9" */
const FILLERS: ReadonlySet<string> = new Set(['at', 'each', 'every', 'me', 'on', 'us']);
const HOURLY: ReadonlySet<string> = new Set(['hour', 'hourly']);
const RARE: ReadonlySet<string> = new Set([
  'month',
  'monthly',
  'fortnightly',
  'biweekly',
  'quarterly',
  'yearly',
]);
const KINDS = { daily: 'daily', day: 'daily', weekday: 'weekdays', weekdays: 'weekdays' } as const;

function readCadence(words: readonly string[]): Read {
  if (/^cron(:|$)/i.test(words[0] ?? '')) return readCronWords(words);
  const plain = words.filter((word) => !FILLERS.has(word.toLowerCase()));
  const isTwoWords = plain[0]?.toLowerCase() === 'weekly' && findDay(plain[1]) !== undefined;
  const [first = '', ...rest] = isTwoWords ? plain.slice(1) : plain;
  const word = first.toLowerCase();
  if (HOURLY.has(word)) return { cadence: { kind: 'hourly' }, rest };
  const kind = Object.entries(KINDS).find(([typed]) => typed === word)?.[1];
  if (kind !== undefined) return { cadence: { kind, time: readTime(rest[0]) }, rest: rest.slice(1) };
  const day = findDay(first);
  if (day !== undefined)
    return { cadence: { kind: 'weekly', day, time: readTime(rest[0]) }, rest: rest.slice(1) };
  if (RARE.has(word))
    throw new UserError(
      'There is no word for once a month. `cron:"0 9 1 * *"` means the first of each month at 09:00. The words are `daily`, `weekdays` and `weekly:<day>`.',
    );
  const near = word === 'weekly' ? 'weekly:mon' : closest(word, CADENCES);
  throw new UserError(`${code(first, 40)} is not a known frequency. Did you mean ${code(near)}?`);
}

function findDay(text = ''): (typeof WEEKDAYS)[number] | undefined {
  const dayName = text
    .toLowerCase()
    .replace(/^weekly:/, '')
    .replace(/days$/, 'day');
  return WEEKDAYS.find((day) => day === dayName || DAY_NAMES[day].toLowerCase() === dayName);
}

function readCronWords(words: readonly string[]): Read {
  const text = words.join(' ').replace(/^cron:?\s*/i, '');
  const fields = text.split(' ');
  // Fields in quotes are one word, of any number of fields. Without quotes the next five words are the fields.
  const quoted = words.find((word) => /\s/.test(word))?.replace(/^cron:\s*/i, '');
  const cron = (quoted ?? fields.slice(0, CRON_FIELDS).join(' ')).replaceAll("'", '').trim();
  const after =
    quoted === undefined
      ? fields.slice(CRON_FIELDS)
      : words.slice(words.findIndex((word) => /\s/.test(word)) + 1);
  return { cadence: { kind: 'cron', cron }, rest: after.filter((word) => word !== '') };
}

/**
 * Reads `09:00`, and other spellings: `9:00`, `9.00`, `9am`.
 * @throws UserError
 */
export function readTime(text: string | undefined): string {
  if (text === undefined || text === '') throw new UserError('Give the time as `HH:MM`, e.g. `09:00`.');
  const [, hours, minutes, half] = /^(\d{1,2})(?:[:.h](\d{1,2}))?(am|pm)?$/i.exec(text) ?? [];
  if (hours === undefined)
    throw new UserError(`${code(text, 40)} is not a time. Give it as \`HH:MM\`, e.g. \`09:00\`.`);
  const [hour, minute] = readClock(hours, minutes, half);
  if (hour < 24 && minute < 60) return formatHour(hour, minute);
  const near = formatHour(hour === 24 ? 0 : Math.min(hour, 23), Math.min(minute, 59));
  throw new UserError(`There is no ${code(text, 40)} on the clock. Did you mean ${code(near)}?`);
}

/** "America/Argentina/Rio Gallegos", "America/North Dakota/New Salem" */
const MAX_ZONE_WORDS = 3;

/** Reads an optional zone, which may have several words, as Deckhand shows it. */
function readZone(words: readonly string[]): Omit<CadenceWords, 'cadence'> {
  const [first] = words;
  if (first === undefined) return { zone: undefined, rest: words };
  for (let length = Math.min(MAX_ZONE_WORDS, words.length); length > 0; length -= 1) {
    const text = words.slice(0, length).join(' ');
    const zone = isZone(text) ? parseZone(text) : findCityZone(text);
    if (zone !== undefined) return { zone, rest: words.slice(length) };
  }
  // "New Yrok" is one name.
  const [, second = ''] = words;
  return { zone: parseZone(/^\p{Lu}/u.test(second) ? `${first} ${second}` : first), rest: words.slice(1) };
}

/** Describes an error in the five fields, e.g. that no date from then on fits them. */
export function findCadenceFault(
  noun: TimedSchedule['kind'],
  cadence: Cadence,
  zone: string,
  from: number,
): string | undefined {
  try {
    listNextTimes(cadence, zone, from, 1);
    if (noun === 'guard' && parseCron(makeCron(cadence)).minutes.length > 1)
      return 'A guard runs at most once an hour: give one minute, e.g. `15 */2 * * *`.';
    return undefined;
  } catch (error) {
    if (error instanceof CronError) return error.message;
    throw error;
  }
}

/** Hours and minutes as typed, of 24 hours or, with `am` or `pm`, of 12. Not checked. */
export function readClock(hour: string, minute = '0', half?: string): [hours: number, minutes: number] {
  const shift = half?.toLowerCase() === 'pm' ? 12 : 0;
  return [half === undefined ? Number(hour) : (Number(hour) % 12) + shift, Number(minute)];
}

/** Formats a time as `09:00`. */
export function formatHour(hours: number, minutes: number): string {
  return [hours, minutes].map((part) => String(part).padStart(2, '0')).join(':');
}

/** Flags and form fields that say whom a failure mentions. */
export const ESCALATION_FLAGS = {
  mention: z.string().trim().optional(),
  after: z.string().trim().optional(),
};
type EscalationWords = { mention?: string | undefined; after?: string | undefined };

const DEFAULT_AFTER = 15;

/** A user group has a handle of one word. */
const HANDLE = /^[\p{L}\p{N}._-]{1,80}$/u;
const GIVE_NAME = 'Give a name or handle as Slack shows it, e.g. @oncall, or an e-mail address.';
const GROUPS_HIDDEN =
  'If it is a user group, pick it from the list that Slack offers as you type. Deckhand may not look groups up without the scope usergroups:read, which a workspace admin can give it.';

/** Slack's escape of a person or user group. */
const MENTION = /^<(?:!subteam\^|@)([UWS][A-Z0-9]{1,30})(?:\|([^>]*))?>$/;

/**
 * Reads `--mention <@group|@person> [--after 15m]`, or the fields of a form.
 * @param before the current setting: an unchanged mention is not looked up again, because it may be gone
 * @throws FormFault
 */
export async function readEscalation(
  { invocation, workspace }: CommandContext,
  { mention, after }: EscalationWords,
  before?: Escalation,
): Promise<Escalation | undefined> {
  if (!mention && !after) return undefined;
  const minutes = after
    ? await showUnderField('after', () =>
        readMinutes(after, isLoopbackBaseUrl(workspace.config.SERVICE_BASE_URL)),
      )
    : DEFAULT_AFTER;
  if (!mention) throw new FormFault({ after: 'Name who to mention too, e.g. @oncall.' });
  const isAsker = ASKER.test(mention);
  // Somebody who asks to be told in a direct message is told by each message there.
  if (isAsker && isDirect(invocation.channel)) return undefined;
  if (isDirect(invocation.channel))
    throw new FormFault({ mention: 'Nobody else reads a direct message, so leave this out here.' });
  if (before !== undefined && mention === describeHandle(before)) return { ...before, after: minutes };
  const text = isAsker ? `<@${invocation.user}>` : mention;
  return { ...(await findMention(workspace, text, invocation.team)), after: minutes };
}

const ASKER = /^@?me$/i;
/** Wakes everybody, also those whom the failure does not concern. */
const EVERYBODY = /^(?:<!|@)?(?:here|channel|everyone|everybody|all)(?:\|[^>]*)?>?$/i;

/** @throws FormFault if nobody can be mentioned so */
async function findMention(
  workspace: Workspace,
  mention: string,
  team: string | undefined,
): Promise<Pick<Escalation, 'mention' | 'name'>> {
  if (EVERYBODY.test(mention))
    throw new FormFault({
      mention: 'That would wake everybody in the channel. Give a person or a user group, e.g. @oncall.',
    });
  const [, id, label] = MENTION.exec(mention) ?? [];
  const text = (label || id || mention).replace(/^@/, '').slice(0, 80);
  const search = id === undefined ? await findHandle(workspace, text, team) : { id };
  const match = search.id;
  if (match === undefined || !(await isPresent(workspace, match))) {
    const isKnown =
      match !== undefined && !match.startsWith('S') && (await readHandle(workspace, match, team));
    const hint = search.lacksGroups && HANDLE.test(text) ? GROUPS_HIDDEN : GIVE_NAME;
    throw new FormFault({
      mention: isKnown
        ? 'That person may not use Deckhand. Choose somebody else.'
        : `Nobody here is called ${text}. ${hint}`,
    });
  }
  const name = text === match ? await readHandle(workspace, match, team) : text;
  return { mention: match, ...(name ? { name } : {}) };
}

/**
 * `15m`, `1h`, and what people type for it: `15`, `90 min`, `1.5 hours`. In minutes.
 * @param isDemo true if the service is on this machine: then it may be a fraction of a minute
 * @throws UserError
 */
function readMinutes(text: string, isDemo: boolean): number {
  const [, amount, unit = 'm'] = /^(\d{1,4}(?:\.\d)?) ?(m|mins?|minutes?|h|hrs?|hours?)?$/i.exec(text) ?? [];
  const minutes = Number(amount) * (unit.toLowerCase().startsWith('h') ? 60 : 1);
  if (Number.isInteger(minutes) && minutes >= 5 && minutes <= 240) return minutes;
  if (isDemo && minutes > 0 && minutes < 1) return minutes;
  throw new UserError(
    `${code(text, 40)} is not a time from 5 minutes to 4 hours. Give it as \`15m\` or \`1h\`.`,
  );
}
