import type { Overflow } from '@slack/types';
import { z } from 'zod';
import { isDirect, type Message, type ModalView } from '../../core/message.ts';
import {
  capitalised,
  code,
  count,
  dateTime,
  joinLinesWithin,
  joinNames,
  truncate,
  unmarked,
} from '../../core/mrkdwn.ts';
import type { Pages } from '../../core/service-pages.ts';
import type { LastResult, Paused, Schedule, ScheduleState } from '../../records/schedules.ts';
import { inPages } from '../blocks/lists.ts';
import { button, buttons, headed, LIMITS, notes, overflowMenu, say, section } from '../blocks/make-blocks.ts';
import { modal } from '../blocks/modal.ts';
import { readFace, type ScheduleFace } from './faces.ts';
import { describeSchedule } from './words.ts';

interface ShownSchedule {
  schedule: Schedule;
  /** True for a watch whose events the service can send within seconds. */
  canBePushed?: boolean | undefined;
}

/** Icons of new schedules. */
const ICONS = {
  'set up': undefined,
  edited: ':pencil2:',
  paused: ':double_vertical_bar:',
  resumed: ':arrow_forward:',
  snoozed: ':zzz:',
  removed: ':wastebasket:',
  restored: ':leftwards_arrow_with_hook:',
} as const;

export interface ScheduleChange {
  done: keyof typeof ICONS;
  /** The person who made the change. */
  user: string;
  note?: string | undefined;
  /** For links. */
  pages?: Pages | undefined;
}

/** A line about a change, for the channel. @param note further sentences; mrkdwn */
export function changeLine(
  changed: readonly Schedule[],
  { done, user, note, pages }: ScheduleChange,
): Message {
  const icon = ICONS[done] ?? readIcon(changed);
  return say([icon, `<@${user}> ${done} ${nameSchedules(changed, pages)}.`, note].filter(Boolean).join(' '));
}

/** The answer to the person who made a change. @param note further sentences; mrkdwn */
export function changeAnswer(
  { schedule, canBePushed }: ShownSchedule,
  { done, note, pages }: Omit<ScheduleChange, 'user'>,
): Message {
  const { id } = schedule;
  const start = done === 'set up' ? readFace(schedule.kind).describeStart?.(schedule, pages) : undefined;
  const sentence = start ?? `${capitalised(done)}: ${describeSchedule(schedule, pages)}.`;
  const text = [ICONS[done] ?? readIcon([schedule]), sentence, note].filter(Boolean).join(' ');
  return say(text, ...buttons(canBePushed && button(PUSH, `watch:push#${id}`, { value: { id } })));
}

const PUSH = 'Hear within seconds';

function readIcon([first]: readonly Schedule[]): string | undefined {
  return first && readFace(first.kind).icon;
}

/** The answer to a person who removed schedules. @param removal id for "Undo" */
export function removedAnswer(removed: readonly Schedule[], removal: string, pages?: Pages): Message {
  const undo = button('Undo', `${removed[0]?.kind}:undo`, { value: { removal } });
  return say(`${ICONS.removed} Removed: ${nameSchedules(removed, pages)}.`, ...buttons(undo));
}

export function restoredAnswer(restored: readonly Schedule[], pages?: Pages): Message {
  return say(`${ICONS.restored} Restored: ${nameSchedules(restored, pages)}.`);
}

/** Asks before a schedule is removed. */
export function removeModal(origin: RemoveOrigin, schedule: Schedule): ModalView {
  const { kind } = schedule;
  const { confirm, noun } = readFace(kind);
  const form = { submit: 'Remove', metadata: origin };
  return modal(`${kind}.remove`, `Remove ${kind === 'invoices' ? noun : `a ${noun}`}?`, form, [
    section(`${capitalised(describeSchedule(schedule))}. ${confirm}`),
  ]);
}

/**
 * The menu of a schedule. *Remove* asks first, because the rows of a menu share one question.
 * @param list the list that has the menu, which is drawn again
 */
export function scheduleMenu(
  { schedule, canBePushed }: ShownSchedule,
  actionId: string,
  list?: ListScope,
): Overflow {
  const { id, kind } = schedule;
  const { extras } = readFace(kind);
  const turn = restWords(schedule) === undefined ? 'Pause' : 'Resume';
  const push = canBePushed === true ? { push: PUSH } : {};
  const verbs = { [turn.toLowerCase()]: turn, ...push, ...extras, ask: 'Remove' };
  const value = { id, list };
  return overflowMenu(
    actionId,
    Object.entries(verbs).map(([verb, label]) => ({ label, actionId: `${kind}:${verb}`, value })),
  );
}

/** Why a schedule posts nothing for now; undefined if it does. mrkdwn */
export function restWords(schedule: Schedule): string | undefined {
  if (schedule.state.kind === 'paused') return pausedWords(schedule.state);
  const until = schedule.kind === 'digest' ? schedule.snoozedUntil : undefined;
  return until === undefined ? undefined : `:zzz: Snoozed until ${dateTime(until)}.`;
}

/** Maximum number of schedules with a button that resumes them. A command resumes the others. */
const MAX_RESUMED = 5;

interface PausedNews {
  /** Half a sentence: "the channel is archived". */
  reason: string;
  paused: readonly Schedule[];
  next: string;
}

/** Sent once to the person who created the paused schedules. */
export function pausedMessage({ reason, paused, next }: PausedNews): Message {
  const places = paused.map((schedule) => {
    const where = isDirect(schedule.channel) ? '' : `, in <#${schedule.channel}>`;
    return `${describeSchedule(schedule)}${where}`;
  });
  const isOne = paused.length === 1;
  const list = joinLinesWithin(
    places.map((place) => `• ${place}`),
    LIMITS.sectionText - 600,
  );
  const text = describePause(isOne ? places.join() : 'what you set up', reason, next);
  // A personal watch has its own command.
  const resumable = paused.filter(({ channel }) => !isDirect(channel)).slice(0, MAX_RESUMED);
  const resume = resumable.map((schedule, at) => {
    const label = isOne ? 'Resume' : `Resume ${unmarked(describeSchedule(schedule))}`;
    const value = { id: schedule.id, isNotice: true };
    return button(truncate(label, LIMITS.buttonText), `${schedule.kind}:resume#${at}`, { value });
  });
  return say(isOne ? text : `${text}\n${list}`, ...buttons(...resume));
}

/** One line for a channel; mrkdwn. */
export function pausedLine(paused: readonly Schedule[], reason: string, next: string): Message {
  return say(describePause(nameSchedules(paused), reason, next));
}

function describePause(what: string, reason: string, next: string): string {
  return `:double_vertical_bar: Deckhand paused ${what}, because ${reason}. ${next}`;
}

export function resumedLine(resumed: readonly Schedule[], reason: string): Message {
  const verb = resumed.length === 1 && resumed[0]?.kind !== 'invoices' ? 'goes' : 'go';
  return say(`:arrow_forward: ${capitalised(reason)}, so ${nameSchedules(resumed)} ${verb} on.`);
}

/** "the guard of *Storefront* in `acme` (every hour)", or "3 watches, 2 guards and 1 digest" */
export function nameSchedules(schedules: readonly Schedule[], pages?: Pages): string {
  const [only] = schedules;
  if (only !== undefined && schedules.length === 1) return describeSchedule(only, pages);
  const kinds = [...Map.groupBy(schedules, ({ kind }) => kind)].map(([kind, { length }]) => {
    const { noun, plural } = readFace(kind);
    return kind === 'invoices' ? noun : count(length, noun, plural);
  });
  return joinNames(kinds);
}

/** Scope of a list. Its buttons carry it, so that a click draws the same list again. */
export const LIST_SCOPES = ['here', 'all'] as const;
export type ListScope = (typeof LIST_SCOPES)[number];

/** The schedule to remove, and the channel where the person is answered. */
export const RemoveOrigin = z.object({ id: z.string(), channel: z.string().optional() });
interface RemoveOrigin extends z.infer<typeof RemoveOrigin> {}

export interface ScheduleListing {
  scope: ListScope;
  elsewhere: number;
  /** Number of unreadable schedules of the kind. */
  unreadable?: number;
  word: string;
  /** True if the answer may consist of several messages. Otherwise the list is cut at the end of one. */
  isWhole?: boolean;
  /** False for a person who may only read the list. */
  canChange?: boolean;
}

export interface ListedSchedule extends ShownSchedule {
  lines: readonly string[];
}

const MOST = 20;
/** Length of the rows as JSON. Slack refuses messages whose blocks exceed some 13,000 characters. */
const MAX_ROWS = 12_000;

export function scheduleList(
  face: ScheduleFace,
  listed: readonly ListedSchedule[],
  listing: ScheduleListing,
): Message {
  const { scope, elsewhere, unreadable = 0, word, isWhole = false, canChange = true } = listing;
  const { commands, kind, noun, plural } = face;
  const place = scope === 'here' ? 'channel' : 'workspace';
  const add = code(`${word} ${commands.add}`);
  const all = code(`${word} ${commands.list} all`);
  const others = elsewhere === 0 ? '' : ` ${count(elsewhere, 'other')} elsewhere: ${all}.`;
  const doctor = code(`${word} doctor`);
  const bad =
    unreadable > 0 &&
    `:warning: ${count(unreadable, noun, plural)} cannot be read. ${doctor} names what is wrong.`;
  if (listed.length === 0) {
    const none = `This ${place} has no ${noun} yet. ${canChange ? 'Set' : 'Operators set'} one up with ${add}.`;
    return say(`${none}${others}`, ...notes(bad));
  }
  const rows = listed.map(({ lines, ...one }) => [
    section(lines.join('\n'), canChange && scheduleMenu(one, `${kind}:menu`, scope)),
  ]);
  const [first = []] = inPages(rows, { most: MOST, room: MAX_ROWS }, (row) => JSON.stringify(row).length);
  const page = isWhole ? rows : first;
  const omitted = rows.length - page.length;
  const more = omitted > 0 && `and ${omitted} more: ${code(`${word} ${commands.list} ${scope}`)}`;
  const next = `${canChange ? `${add} adds one.` : ''}${others}`.trim();
  const title = `${count(listed.length, noun, plural)} of this ${place}`;
  return headed(title, ...page.flat(), ...notes(more, bad, next));
}

/** "Paused by <@U1> today at 09:00." or "Paused today at 09:00, because the channel is archived." */
export function pausedWords({ requestedBy, at, reason }: Paused): string {
  const when =
    requestedBy === undefined ? `${dateTime(at)}, because ${reason}` : `by <@${requestedBy}> ${dateTime(at)}`;
  return `:double_vertical_bar: Paused ${when}.`;
}

/** For use after "paused": the person, or Deckhand's reason. */
export function whyPaused({ requestedBy, reason }: Pick<Paused, 'requestedBy' | 'reason'>): string {
  return requestedBy === undefined ? `because ${reason}` : `by <@${requestedBy}>`;
}

export interface ShownPolling {
  /** Time of the last answer, milliseconds since the epoch; undefined before the first. */
  lookedAt?: number | undefined;
  /** Number of failed polls in a row. */
  failures: number;
  /** End of a wait that the service asked for. */
  waitsUntil?: number | undefined;
}

/** Lines about the last post and the polls of a schedule. */
export function polledLines(
  state: ScheduleState,
  polling: ShownPolling,
  last: LastResult | undefined,
): string[] {
  const trouble = pollingTrouble(polling);
  const active =
    trouble === undefined ? `Active, ${checkedWords(polling)}.` : `:warning: ${capitalised(trouble)}`;
  return [
    last === undefined ? 'Nothing posted yet.' : `Last: ${last.text}, ${dateTime(last.at)}.`,
    state.kind === 'paused' ? pausedWords(state) : active,
  ];
}

/** Says why nothing is polled now, in lower case; undefined if all is well. One failed poll is no trouble. */
export function pollingTrouble(polling: ShownPolling): string | undefined {
  const { failures, waitsUntil } = polling;
  const checked = checkedWords(polling);
  if (waitsUntil !== undefined)
    return `the service is busy, ${checked}. Deckhand waits until ${dateTime(waitsUntil)}.`;
  return failures < 2 ? undefined : `the service does not answer, ${checked}. Deckhand keeps trying.`;
}

function checkedWords({ lookedAt }: ShownPolling): string {
  return lookedAt === undefined ? 'not checked yet' : `last checked ${dateTime(lookedAt)}`;
}
