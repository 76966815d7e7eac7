import { z } from 'zod';
import { WEEKDAYS } from '../../core/choices.ts';
import type { KnownBlock, ModalView } from '../../core/message.ts';
import { code, dateTime, mrkdwn } from '../../core/mrkdwn.ts';
import type { Pages } from '../../core/service-pages.ts';
import type { Escalation, LastOccurrence, TimedSchedule } from '../../records/schedules.ts';
import { type Choice, input, searchInput, selectInput, textInput } from '../blocks/inputs.ts';
import { context } from '../blocks/make-blocks.ts';
import { modal, refill, type Values } from '../blocks/modal.ts';
import { DAY_NAMES, describeHandle } from './details.ts';
import { type ListScope, pausedWords } from './schedule.ts';
import { scheduleWords } from './words.ts';

/** Data that the form of a digest or guard keeps while it is drawn again. */
export const TimedOrigin = z.object({
  channel: z.string(),
  /** Undefined for a new schedule. */
  id: z.string().optional(),
  /** The account whose projects the menu lists. */
  account: z.string().optional(),
  /** Accounts to choose from; empty if there is only one. */
  accounts: z.array(z.string()),
});
export interface TimedOrigin extends z.infer<typeof TimedOrigin> {}

export interface TimedForm {
  origin: TimedOrigin;
  values: Values;
  /** The next times, milliseconds since the epoch; or the reason why there are none yet. */
  next: readonly number[] | string;
}

const CADENCES: readonly Choice[] = [
  { value: 'weekdays', text: 'From Monday to Friday' },
  { value: 'daily', text: 'Every day' },
  ...WEEKDAYS.map((day) => ({ value: `weekly:${day}`, text: `Every ${DAY_NAMES[day]}` })),
  { value: 'hourly', text: 'Every hour' },
  { value: 'cron', text: 'By a cron line' },
];

export function timedModal(
  noun: TimedSchedule['kind'],
  { origin, values }: TimedForm,
  blocks: KnownBlock[],
): ModalView {
  const isNew = origin.id === undefined;
  const [id, title, submit] = isNew
    ? [`${noun}.add`, `Add a ${noun}`, 'Add']
    : [`${noun}.edit`, `Edit a ${noun}`, 'Save'];
  return refill(modal(id, title, { submit, metadata: origin }, blocks), values, []);
}

export function guardModal(form: TimedForm): ModalView {
  return timedModal('guard', form, [
    ...accountInput(form, 'Account', { optional: false }),
    searchInput('project', 'Project', { placeholder: 'Search a project' }),
    ...timeInputs(form),
    ...escalationInputs(),
  ]);
}

/** Fields for the person or group to mention if nobody takes a failure. */
export function escalationInputs(): KnownBlock[] {
  return [
    textInput('mention', 'Mention', {
      placeholder: 'Nobody, or e.g. @oncall',
      hint: 'The person or user group to mention if nobody is on a failure.',
      optional: true,
    }),
    textInput('after', 'Mention after', {
      placeholder: '15m, or any time from 5m to 4h',
      optional: true,
    }),
  ];
}

export function escalationValues(escalation: Escalation | undefined): { mention?: string; after?: string } {
  return escalation === undefined
    ? {}
    : { mention: describeHandle(escalation), after: `${escalation.after}m` };
}

/** Fields for cadence, time and zone, with a preview of the next times. */
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
  if (cadence !== 'cron') return [input('time', 'At', { dispatch: true }, { type: 'timepicker' })];
  return [
    textInput('cron', 'Cron fields', {
      hint: 'Minute, hour, day of month, month, day of week. Press Enter to see the next times.',
      placeholder: '0 9 * * 1-5',
      maxLength: 100,
      dispatch: true,
    }),
  ];
}

/** A menu of accounts; none if there is only one. */
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

/** @param nextAt next due time, milliseconds since the epoch; undefined while it is paused */
export function timedLines(
  schedule: TimedSchedule,
  {
    scope,
    now,
    nextAt,
    pages,
  }: { scope: ListScope; now: number; nextAt: number | undefined; pages?: Pages | undefined },
): string[] {
  const { id, channel, createdBy, createdAt, last } = schedule;
  const where = scope === 'all' ? `  in <#${channel}>` : '';
  return [
    `${code(id)}${where}  ${scheduleWords(schedule, pages)}`,
    stateWords(schedule, now, nextAt),
    `${last === undefined ? 'No result yet.' : lastWords(last)} Set up by <@${createdBy}> ${dateTime(createdAt)}.`,
  ];
}

/** Hides a snooze that has ended. */
function stateWords(
  { state, snoozedUntil = 0 }: TimedSchedule,
  now: number,
  nextAt: number | undefined,
): string {
  if (state.kind === 'paused') return pausedWords(state);
  const when = nextAt === undefined ? '' : `Next ${dateTime(nextAt)}.`;
  return snoozedUntil > now ? `:zzz: Snoozed until ${dateTime(snoozedUntil)}. ${when}` : when;
}

const OUTCOMES: Readonly<Partial<Record<LastOccurrence['outcome'], string>>> = {
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
