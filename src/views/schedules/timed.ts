import { z } from 'zod';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { code, dateTime, mrkdwn } from '../../core/mrkdwn.ts';
import { WEEKDAYS, type Weekday } from '../../core/schedule-choices.ts';
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
      return cronWords(cadence.cron);
  }
}

/** "every Monday and Thursday at 09:00", "every 15 minutes"; fields that say more than that are shown as they are. */
function cronWords(cron: string): string {
  const [minute = '', hour = '', date, month, weekday = ''] = cron.split(' ');
  const days = daysOf(weekday);
  if (date === '*' && month === '*' && days !== undefined) {
    const everyDay = days === 'every day';
    const step = /^\*\/(\d+)$/.exec(minute)?.[1];
    if (step !== undefined && hour === '*' && everyDay) return `every ${step} minutes`;
    const hours = /^\*\/(\d+)$/.exec(hour)?.[1];
    if (/^\d+$/.test(minute) && hours !== undefined && everyDay) return `every ${hours} hours`;
    if (/^\d+$/.test(minute) && /^\d+$/.test(hour))
      return `${days} at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  }
  return `at ${code(cron, 100)}`;
}

/** Undefined where the field is a step, a name or a longer list. */
function daysOf(weekday: string): string | undefined {
  if (weekday === '*') return 'every day';
  if (weekday === '1-5') return 'from Monday to Friday';
  const names = weekday.split(',').map((day) => (/^[0-7]$/.test(day) ? dayAt(Number(day)) : undefined));
  const known = names.filter((name) => name !== undefined);
  return known.length === names.length && known.length <= 3 ? `every ${known.join(' and ')}` : undefined;
}

/** Cron counts from Sunday, and has it twice. */
function dayAt(day: number): string | undefined {
  const name = WEEKDAYS[(day + 6) % 7];
  return name && DAY_NAMES[name];
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
