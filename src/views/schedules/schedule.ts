import type { Overflow } from '@slack/types';
import { z } from 'zod';
import { isDirect, type KnownBlock, type Message } from '../../core/message.ts';
import {
  capitalised,
  code,
  count,
  dateTime,
  joinLinesWithin,
  truncate,
  unmarked,
} from '../../core/mrkdwn.ts';
import type { LastResult, Paused, Schedule, ScheduleKind, ScheduleState } from '../../records/schedules.ts';
import { inPages } from '../blocks/lists.ts';
import { button, buttons, headed, LIMITS, notes, overflowMenu, say, section } from '../blocks/message.ts';
import { describeSchedule, describeStart } from './words.ts';

/** The words and buttons of a kind of schedule. */
export interface ScheduleFace {
  kind: ScheduleKind;
  /** The role that may set it up and change it. */
  role: 'operator' | 'billing';
  icon: string;
  /** Heading. */
  title: string;
  /** The command that sets it up: if it is switched off in a channel, nothing of the kind is posted there. */
  command: string;
  noun: string;
  plural: string;
  /** Its commands, without the slash word. */
  commands: { add: string; list: string; remove: string };
  /** The consequence of a removal, in the question before it. */
  confirm: string;
  /** Buttons of this kind alone: label by verb. */
  extras: Readonly<Record<string, string>>;
  /** Words that name one, in usage lines. */
  names: readonly string[];
  /** The facts that its list shows of each. */
  listed: string;
}

export const SCHEDULE_FACES = {
  digest: {
    ...createFace('digest', 'digests', 'It will no longer be posted.'),
    names: ['id'],
    icon: ':calendar:',
    extras: { edit: 'Edit', preview: 'Preview' },
    listed: 'their next time and latest result, and who set them up',
  },
  guard: {
    ...createFace('guard', 'guards', 'The project will no longer be tested on a schedule.'),
    icon: ':shield:',
    listed: 'their next run and latest result',
  },
  watch: {
    ...createFace('watch', 'watches', 'Its events will no longer be posted here.'),
    command: 'watch',
    icon: ':eyes:',
    commands: { add: 'watch all failures', list: 'watch list', remove: 'unwatch' },
    listed: 'their latest events, and who set them up',
  },
  invoices: {
    kind: 'invoices',
    role: 'billing',
    icon: ':receipt:',
    title: 'Invoice notices',
    command: 'invoices notify',
    noun: 'invoice notices',
    plural: 'invoice notices',
    commands: { add: 'invoices notify here', list: 'invoices notify', remove: 'invoices notify off' },
    confirm: 'Invoices will no longer be posted here.',
    names: ['id'],
    extras: {},
    listed: '',
  },
} as const satisfies Record<ScheduleKind, ScheduleFace>;

/** The parts that most kinds have in common. */
function createFace(kind: 'digest' | 'guard' | 'watch', plural: string, confirm: string) {
  const commands = { add: `${kind} add`, list: `${kind} list`, remove: `${kind} remove` };
  return {
    kind,
    role: 'operator' as const,
    title: capitalised(kind),
    command: commands.add,
    noun: kind,
    plural,
    commands,
    confirm,
    names: ['id', 'project'],
    extras: { edit: 'Edit' },
  };
}

export interface ShownSchedule {
  schedule: Schedule;
  /** Paused or snoozed. */
  isAsleep: boolean;
  /** True for a watch whose events the service can tell within seconds. */
  canBePushed?: boolean | undefined;
}

/** A new schedule has the icon of its kind. */
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
  /** The person who did it. */
  user: string;
  /** More sentences; mrkdwn. */
  note?: string | undefined;
}

/** The channel's message about a change, with the buttons for the next one. */
export function scheduleCard(
  { schedule, isAsleep, canBePushed }: ShownSchedule,
  { done, user, note }: ScheduleChange,
): Message {
  const { id, kind } = schedule;
  const face = SCHEDULE_FACES[kind];
  const start = done === 'set up' ? describeStart(schedule, user) : undefined;
  const sentence = start ?? `<@${user}> ${done} ${describeSchedule(schedule)}.`;
  const text = [ICONS[done] ?? face.icon, sentence, note].filter(Boolean).join(' ');
  return say(text, ...scheduleButtons({ face, id, isAsleep, canBePushed }));
}

/** Replaces the cards of removed schedules. @param removal names it for "Undo" @param list whose button did it */
export function removedCard(
  removed: readonly Schedule[],
  user: string,
  { removal, list }: { removal: string; list?: string | undefined },
): Message {
  const undo = button('Undo', `${removed[0]?.kind}:undo`, { value: { removal, list } });
  return say(`${ICONS.removed} <@${user}> removed ${nameSchedules(removed)}.`, ...buttons(undo));
}

export function restoredCard(restored: readonly ShownSchedule[], user: string): Message {
  const [only, ...others] = restored;
  if (only !== undefined && others.length === 0) return scheduleCard(only, { done: 'restored', user });
  const schedules = restored.map(({ schedule }) => schedule);
  return say(`${ICONS.restored} <@${user}> restored ${nameSchedules(schedules)}.`);
}

/** The menu of a row of App Home. */
export function scheduleMenu(schedule: Schedule): Overflow {
  const { id, kind, state } = schedule;
  const { extras }: ScheduleFace = SCHEDULE_FACES[kind];
  const verbs = [extras.edit, state.kind === 'paused' ? 'Resume' : 'Pause', 'Remove'];
  const options = verbs.flatMap((label) =>
    label === undefined ? [] : { label, actionId: `${kind}:${label.toLowerCase()}`, value: { id } },
  );
  return overflowMenu(`${kind}:menu`, options);
}

/** @param list the list that the buttons are in */
export function scheduleButtons(
  { face, id, isAsleep, canBePushed }: Omit<ShownSchedule, 'schedule'> & { face: ScheduleFace; id: string },
  list?: string,
): KnownBlock[] {
  const { kind, extras, confirm: text } = face;
  const value = { id, list };
  // A list of watches has many of these buttons in one message.
  const actionId = (verb: string): string => (kind === 'watch' ? `watch:${verb}#${id}` : `${kind}:${verb}`);
  const turn = isAsleep ? 'Resume' : 'Pause';
  const confirm = {
    title: `Remove ${kind === 'invoices' ? 'these notices' : `this ${kind}`}?`,
    text,
    confirm: 'Remove',
  };
  return buttons(
    button(turn, actionId(turn.toLowerCase()), { value }),
    canBePushed && button('Hear within seconds', actionId('push'), { value }),
    ...Object.entries(extras).map(([verb, label]) => button(label, actionId(verb), { value })),
    button('Remove', actionId('remove'), { value, style: 'danger', confirm }),
  );
}

/** More are resumed by command. */
const MAX_RESUMED = 5;

interface PausedNews {
  /** Half a sentence: "the channel is archived". */
  reason: string;
  paused: readonly Schedule[];
  /** The next step, a sentence. */
  next: string;
}

/** Sent once to the person who set up the paused schedules. */
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
  // A person's own watch is resumed by its own command.
  const resumable = paused.filter(({ channel }) => !isDirect(channel)).slice(0, MAX_RESUMED);
  const resume = resumable.map((schedule, at) => {
    const label = isOne ? 'Resume' : `Resume ${unmarked(describeSchedule(schedule))}`;
    const value = { id: schedule.id, isNotice: true };
    return button(truncate(label, LIMITS.buttonText), `${schedule.kind}:resume#${at}`, { value });
  });
  return say(isOne ? text : `${text}\n${list}`, ...buttons(...resume));
}

/** The line for a channel; all mrkdwn of our own making. */
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
function nameSchedules(schedules: readonly Schedule[]): string {
  const [only] = schedules;
  if (only !== undefined && schedules.length === 1) return describeSchedule(only);
  const kinds = [...Map.groupBy(schedules, ({ kind }) => kind)].map(([kind, { length }]) =>
    kind === 'invoices'
      ? SCHEDULE_FACES.invoices.noun
      : count(length, SCHEDULE_FACES[kind].noun, SCHEDULE_FACES[kind].plural),
  );
  return new Intl.ListFormat('en-GB').format(kinds);
}

/** The range of a list; its buttons carry it, so that they draw the same list again. */
export const LIST_SCOPES = ['here', 'all'] as const;
export type ListScope = (typeof LIST_SCOPES)[number];

/** The message whose button opened a form: the schedule's own card, or a list. */
export const OpenedFrom = z.object({
  channel: z.string(),
  ts: z.string(),
  /** Undefined for a card. */
  list: z.enum(LIST_SCOPES).optional(),
});
export type OpenedFrom = z.infer<typeof OpenedFrom>;

export interface ScheduleListing {
  scope: ListScope;
  /** Number of schedules in other channels. */
  elsewhere: number;
  /** Number of records of the kind that cannot be read. */
  unreadable?: number;
  /** The slash word. */
  word: string;
  /** The card of a schedule that a button of the list removed. */
  removed?: Message | undefined;
  /** True if the channel sees it; otherwise it can be shared. */
  isShared?: boolean;
  /** True for an answer that may have several messages; otherwise the list ends when one is full. */
  isWhole?: boolean;
  /** False for a person who may read the list and change nothing. */
  canChange?: boolean;
}

export interface ListedSchedule extends Omit<ShownSchedule, 'schedule'> {
  id: string;
  lines: readonly string[];
}

/** Two blocks each, within Slack's 50. */
const MOST = 20;
/** Length of the rows as JSON. Slack refuses messages whose blocks exceed some 13,000 characters. */
const MAX_ROWS = 12_000;

/** Schedules of one kind, each with its buttons. */
export function scheduleList(
  face: ScheduleFace,
  listed: readonly ListedSchedule[],
  listing: ScheduleListing,
): Message {
  const { scope, elsewhere, unreadable = 0, word, removed } = listing;
  const { isShared = false, isWhole = false, canChange = true } = listing;
  const { commands, kind, noun, plural } = face;
  const place = scope === 'here' ? 'channel' : 'workspace';
  const add = code(`${word} ${commands.add}`);
  const all = code(`${word} ${commands.list} all`);
  const others = elsewhere === 0 ? '' : ` ${count(elsewhere, 'other')} elsewhere: ${all}.`;
  const doctor = code(`${word} doctor`);
  const bad =
    unreadable > 0 &&
    `:warning: ${count(unreadable, noun, plural)} cannot be read. ${doctor} names what is wrong.`;
  const undo = removed?.blocks ?? [];
  if (listed.length === 0) {
    const none = `This ${place} has no ${noun} yet. ${canChange ? 'Set' : 'Operators set'} one up with ${add}.`;
    return say(`${none}${others}`, ...notes(bad), ...undo);
  }
  const rows = listed.map(({ lines, ...one }) => [
    section(lines.join('\n')),
    ...(canChange ? scheduleButtons({ face, ...one }, scope) : []),
  ]);
  const [first = []] = inPages(rows, { most: MOST, room: MAX_ROWS }, (row) => JSON.stringify(row).length);
  const page = isWhole ? rows : first;
  const omitted = rows.length - page.length;
  const more = omitted > 0 && `and ${omitted} more: ${code(`${word} ${commands.list} ${scope}`)}`;
  const next = `${canChange ? `${add} adds one.` : ''}${others}`.trim();
  const share = !isShared && canChange && button('Share to channel', `${kind}:share`, { value: { scope } });
  const title = `${count(listed.length, noun, plural)} of this ${place}`;
  return headed(title, ...page.flat(), ...notes(more, bad, next), ...undo, ...buttons(share));
}

/** "Paused by <@U1> today at 09:00." or "Paused today at 09:00, because the channel is archived." */
export function pausedWords({ requestedBy, at, reason }: Paused): string {
  const when =
    requestedBy === undefined ? `${dateTime(at)}, because ${reason}` : `by <@${requestedBy}> ${dateTime(at)}`;
  return `:double_vertical_bar: Paused ${when}.`;
}

/** After "paused": the person who did it, or Deckhand's reason. */
export function whyPaused({ requestedBy, reason }: Pick<Paused, 'requestedBy' | 'reason'>): string {
  return requestedBy === undefined ? `because ${reason}` : `by <@${requestedBy}>`;
}

/** The state of polling. */
export interface ShownPolling {
  /** Time of the last answer, milliseconds since the epoch; undefined before the first. */
  lookedAt?: number | undefined;
  /** Polls in a row that failed. */
  failures: number;
}

/** The last post and the state of a polled schedule. */
export function polledLines(
  state: ScheduleState,
  { lookedAt, failures }: ShownPolling,
  last: LastResult | undefined,
): string[] {
  const checked = lookedAt === undefined ? 'not checked yet' : `last checked ${dateTime(lookedAt)}`;
  const active =
    failures < 2
      ? `Active, ${checked}.`
      : `:warning: The service does not answer, ${checked}. Deckhand keeps trying.`;
  return [
    last === undefined ? 'Nothing posted yet.' : `Last: ${last.text}, ${dateTime(last.at)}.`,
    state.kind === 'paused' ? pausedWords(state) : active,
  ];
}
