import { z } from 'zod';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { code, count, dateTime, mrkdwn } from '../../core/mrkdwn.ts';
import { WEEKDAYS, type Weekday } from '../../core/schedule-choices.ts';
import { type Cron, parseCron } from '../../core/time/cron.ts';
import { CronError } from '../../core/time/zone.ts';
import type { Cadence, LastOccurrence, TimedNoun, TimedSchedule } from '../../records/timed-schedules.ts';
import { zoneName } from '../blocks/days.ts';
import { type Choice, searchInput, selectInput, textInput, timeInput } from '../blocks/inputs.ts';
import { context } from '../blocks/message.ts';
import { modal, refill, type Values } from '../blocks/modal.ts';
import {
  OpenedFrom,
  pausedWords,
  type ScheduleFace,
  type ScheduleListing,
  scheduleList,
} from './schedule.ts';

/** Digests and guards: schedules by the clock, in words, in their form and in their list. */

export const DAY_NAMES: Readonly<Record<Weekday, string>> = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
};

interface Timed {
  cadence: Cadence;
  zone: string;
}

/** "every Monday at 09:00, Europe/Lisbon"; mrkdwn. */
export function cadenceWords({ cadence, zone }: Timed): string {
  return cadence.kind === 'hourly' ? 'every hour' : `${timesOf(cadence)}, ${zoneName(zone)}`;
}

function timesOf(cadence: Exclude<Cadence, { kind: 'hourly' }>): string {
  switch (cadence.kind) {
    case 'daily':
      return `every day at ${cadence.time}`;
    case 'weekdays':
      return `from Monday to Friday at ${cadence.time}`;
    case 'weekly':
      return `every ${DAY_NAMES[cadence.day]} at ${cadence.time}`;
    case 'cron':
      return describeCron(cadence.cron);
  }
}

/** "every Monday and Thursday at 09:00", "every 15 minutes"; a line that says more than that is shown as it is. */
function describeCron(line: string): string {
  const { minutes = [], hours = [], weekdays } = readCron(line) ?? {};
  const days = weekdays && describeDays(weekdays);
  const rhythm = days === 'every day' ? describeRhythm(minutes, hours) : undefined;
  if (rhythm !== undefined) return rhythm;
  const [minute = 0, ...others] = minutes;
  if (days === undefined || others.length > 0 || hours.length > MAX_TIMES) return `at ${code(line, 100)}`;
  const times = hours.map((hour) => [hour, minute].map((part) => `${part}`.padStart(2, '0')).join(':'));
  return `${days} at ${joined(times)}`;
}

/** Undefined for a line that cannot be read, which a list still has to show. */
function readCron(line: string): Cron | undefined {
  try {
    return parseCron(line);
  } catch (error) {
    if (error instanceof CronError) return undefined;
    throw error;
  }
}

/** Undefined if the runs of a day are not equally far apart, to the first of the next day. */
function describeRhythm(minutes: readonly number[], hours: readonly number[]): string | undefined {
  const [minute = 0, ...others] = minutes;
  if (hours.length === 24 && others.length === 0)
    return minute === 0 ? 'every hour' : `at ${count(minute, 'minute')} past every hour`;
  if (hours.length === 24 && isEven(minutes, 60))
    return minutes.length === 60 ? 'every minute' : `every ${60 / minutes.length} minutes`;
  const isHours = minute === 0 && others.length === 0 && hours.length > 1 && isEven(hours, 24);
  return isHours ? `every ${24 / hours.length} hours` : undefined;
}

const MAX_TIMES = 3;

/** True if a step of one length leads from each to the next, and from the last to the end, beginning with 0. */
function isEven(values: readonly number[], end: number): boolean {
  return values.every((value, at) => value === (at * end) / values.length);
}

/** Undefined for more days than are worth a list. @param weekdays from Sunday, ascending */
function describeDays(weekdays: readonly number[]): string | undefined {
  if (weekdays.length === 7) return 'every day';
  if (weekdays.join('') === '12345') return 'from Monday to Friday';
  const names = weekdays.flatMap((day) => WEEKDAYS[(day + 6) % 7] ?? []).map((day) => DAY_NAMES[day]);
  return names.length <= 3 ? `every ${joined(names)}` : undefined;
}

/** "a, b and c" */
function joined(texts: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(texts);
}

/** What the form of a digest or a guard carries from one version to the next. */
export const TimedOrigin = z.object({
  channel: z.string(),
  /** Of what is edited; undefined for a new one. */
  id: z.string().optional(),
  from: OpenedFrom.optional(),
  /** Whose projects the menu offers. */
  account: z.string().optional(),
  /** Those that may be chosen; none where there is only one. */
  accounts: z.array(z.string()),
});
export type TimedOrigin = z.infer<typeof TimedOrigin>;

export interface TimedForm {
  origin: TimedOrigin;
  /** What is filled in so far. */
  values: Values;
  /** The next times, milliseconds since the epoch, or why there are none yet. */
  next: readonly number[] | string;
}

const CADENCES: readonly Choice[] = [
  { value: 'weekdays', text: 'From Monday to Friday' },
  { value: 'daily', text: 'Every day' },
  ...WEEKDAYS.map((day) => ({ value: `weekly:${day}`, text: `Every ${DAY_NAMES[day]}` })),
  { value: 'hourly', text: 'Every hour' },
  { value: 'cron', text: 'By five cron fields' },
];

export function timedModal(noun: TimedNoun, { origin, values }: TimedForm, blocks: KnownBlock[]): ModalView {
  const isNew = origin.id === undefined;
  const [id, title, submit] = isNew
    ? [`${noun}.add`, `Add a ${noun}`, 'Add']
    : [`${noun}.edit`, `Edit a ${noun}`, 'Save'];
  return refill(modal(id, title, { submit, metadata: origin }, blocks), values, []);
}

/** When it is due: how often, at what time, in which zone, and the next times. */
export function timeInputs({ values, next }: TimedForm): KnownBlock[] {
  return [
    selectInput('cadence', 'How often', { choices: CADENCES, dispatch: true }),
    ...whenInputs(values),
    searchInput('zone', 'Time zone', { placeholder: 'Search, e.g. Lisbon', dispatch: true }),
    { ...context(nextWords(next)), block_id: 'next' },
  ];
}

function whenInputs({ cadence }: Values): KnownBlock[] {
  if (cadence === 'hourly') return [];
  if (cadence !== 'cron') return [timeInput('time', 'At', { dispatch: true })];
  return [
    textInput('cron', 'Cron fields', {
      hint: 'Minute, hour, day of month, month, day of week. Press Enter to see the next times.',
      placeholder: '0 9 * * 1-5',
      maxLength: 100,
      dispatch: true,
    }),
  ];
}

/** Where there are several accounts. */
export function accountInput(
  { origin: { accounts } }: TimedForm,
  label: string,
  options: { hint?: string; optional: boolean },
): KnownBlock[] {
  if (accounts.length === 0) return [];
  const choices = accounts.map((name) => ({ value: name, text: name }));
  return [selectInput('account', label, { ...options, choices, dispatch: true })];
}

function nextWords(next: TimedForm['next']): string {
  if (typeof next === 'string') return `:calendar: ${mrkdwn(next, 300)}`;
  return `:calendar: Next, in your own time: ${next.map((at) => dateTime(at)).join(', ')}`;
}

/** `next`: when it is due next, milliseconds since the epoch; undefined while it is paused or has an unknown zone. */
export type Listed<R extends TimedSchedule> = R & { next: number | undefined };

/** Of digests and guards. */
export function timedList<R extends TimedSchedule>(
  face: ScheduleFace,
  listed: readonly Listed<R>[],
  listing: ScheduleListing,
  wordsOf: (record: R) => string,
): Message {
  const rows = listed.map((one) => {
    const { id, channel, state, snoozedUntil, setUpBy, setUpAt, last } = one;
    const where = listing.scope === 'all' ? `  in <#${channel}>` : '';
    const lines = [
      `${code(id)}${where}  ${wordsOf(one)}`,
      stateWords(one),
      `${last === undefined ? 'No result yet.' : lastWords(last)} Set up by <@${setUpBy}> ${dateTime(setUpAt)}.`,
    ];
    return { id, isAsleep: state.kind === 'paused' || snoozedUntil !== undefined, lines };
  });
  return scheduleList(face, rows, listing);
}

function stateWords({ state, snoozedUntil, next }: Listed<TimedSchedule>): string {
  if (state.kind === 'paused') return pausedWords(state);
  const when = next === undefined ? '' : `Next ${dateTime(next)}.`;
  return snoozedUntil === undefined ? when : `:zzz: Snoozed until ${dateTime(snoozedUntil)}. ${when}`;
}

const OUTCOMES: Readonly<Record<string, string>> = {
  reachable: '',
  unreachable: '',
  late: 'posted late',
  quiet: 'skipped, because there were no deployments',
  snoozed: 'skipped, because it was snoozed',
  missed: 'skipped, because it was more than 12 h late',
};

function lastWords({ at, outcome, reason }: LastOccurrence): string {
  return `Last ${dateTime(at)}: ${[OUTCOMES[outcome] ?? outcome, reason].filter(Boolean).join(': ')}.`;
}
