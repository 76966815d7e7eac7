import { z } from 'zod';
import { isDirect, type KnownBlock, type Message } from '../../core/message.ts';
import { capitalised, code, count, dateTime, linesWithin, truncate, unmarked } from '../../core/mrkdwn.ts';
import type { LastResult, Paused, Schedule, ScheduleKind, ScheduleState } from '../../records/schedules.ts';
import { inPages } from '../blocks/lists.ts';
import { button, buttons, context, headed, LIMITS, say, section } from '../blocks/message.ts';
import { describeSchedule } from './words.ts';

/** How messages speak of a kind of schedule, and what its buttons are called. */
export interface ScheduleFace {
  /** Of its action ids: `digest:pause`. */
  prefix: ScheduleKind;
  /** That may set it up and change it. */
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
  remove: { verb: 'remove' | 'stop'; label: string; confirm: string };
  /** Buttons of this kind alone: label by verb. */
  extras: Readonly<Record<string, string>>;
  /** Words that name one, in usage lines. */
  names: readonly string[];
  /** What its list says of each. */
  listed: string;
}

export const SCHEDULE_FACES = {
  digest: {
    ...faceOf('digest', 'digests', 'It will not be posted any more.'),
    names: ['id'],
    icon: ':calendar:',
    extras: { edit: 'Edit', preview: 'Preview' },
    listed: 'their next time and latest result, and who set them up',
  },
  guard: {
    ...faceOf('guard', 'guards', 'The project will not be tested by itself any more.'),
    icon: ':shield:',
    listed: 'their next run and latest result',
  },
  watch: {
    ...faceOf('watch', 'watches', ''),
    command: 'watch',
    icon: ':eyes:',
    commands: { add: 'watch all failures', list: 'watch list', remove: 'unwatch' },
    remove: { verb: 'stop', label: 'Stop', confirm: 'Its events will not be posted here any more.' },
    listed: 'their latest events, and who set them up',
  },
  invoices: {
    prefix: 'invoices',
    role: 'billing',
    icon: ':receipt:',
    title: 'Invoice notices',
    command: 'invoices notify',
    noun: 'invoice notices',
    plural: 'invoice notices',
    commands: { add: 'invoices notify here', list: 'invoices notify', remove: 'invoices notify off' },
    remove: { verb: 'stop', label: 'Stop', confirm: 'Invoices will not be posted here any more.' },
    names: ['id'],
    extras: {},
    listed: '',
  },
} as const satisfies Record<ScheduleKind, ScheduleFace>;

/** What most kinds have in common. */
function faceOf(noun: 'digest' | 'guard' | 'watch', plural: string, confirm: string) {
  const commands = { add: `${noun} add`, list: `${noun} list`, remove: `${noun} remove` };
  const remove = { verb: 'remove', label: 'Remove', confirm } as const;
  const role = 'operator' as const;
  return {
    prefix: noun,
    role,
    title: capitalised(noun),
    command: commands.add,
    noun,
    plural,
    commands,
    remove,
    names: ['id', 'project'],
    extras: { edit: 'Edit' },
  };
}

/** A schedule as people are shown it. */
export interface ShownSchedule {
  face: ScheduleFace;
  id: string;
  /** Of what it is, what it posts and when; mrkdwn. */
  words: string;
  /** Paused or snoozed. */
  isAsleep: boolean;
}

/** What is new has that of its kind. */
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

/** "the watch of *Storefront* in `acme`: failures" */
export function nameOf({ face, words }: Pick<ShownSchedule, 'face' | 'words'>): string {
  return `the ${face.noun} of ${words}`;
}

/** What a channel reads of a change, with the buttons for the next one. */
export function scheduleCard(shown: ShownSchedule, { done, user, note }: ScheduleChange): Message {
  const sentence = `${ICONS[done] ?? shown.face.icon} <@${user}> ${doneWords(shown, done)}.`;
  return say([sentence, note].filter(Boolean).join(' '), ...scheduleButtons(shown));
}

/** "is watching *Storefront* in `acme`: all events", "set up a digest of `acme`: …", "paused the guard of …" */
function doneWords(shown: ShownSchedule, done: ScheduleChange['done']): string {
  if (done === 'set up' && shown.face.prefix === 'watch') return `is watching ${shown.words}`;
  return `${done} ${nameOf(shown)}`;
}

/** Replaces the cards of what was removed. @param removal names it for "Undo" @param list whose button did it */
export function removedCard(
  removed: readonly ShownSchedule[],
  user: string,
  { removal, list }: { removal: string; list?: string | undefined },
): Message {
  const { prefix } = removed[0]?.face ?? SCHEDULE_FACES.digest;
  const undo = button('Undo', `${prefix}:undo`, { value: { removal, list } });
  return say(`${ICONS.removed} <@${user}> removed ${namesOf(removed)}.`, ...buttons(undo));
}

export function restoredCard(restored: readonly ShownSchedule[], user: string): Message {
  const [only] = restored;
  if (only !== undefined && restored.length === 1) return scheduleCard(only, { done: 'restored', user });
  return say(`${ICONS.restored} <@${user}> restored ${namesOf(restored)}.`);
}

/** "the watch of *Storefront* in `acme`: failures", or "3 watches" */
function namesOf(several: readonly ShownSchedule[]): string {
  const [only] = several;
  if (only === undefined) return 'nothing';
  return several.length === 1 ? nameOf(only) : count(several.length, only.face.noun, only.face.plural);
}

/** @param list the list that the buttons are in */
export function scheduleButtons(
  { face, id, isAsleep }: Pick<ShownSchedule, 'face' | 'id' | 'isAsleep'>,
  list?: string,
): KnownBlock[] {
  const value = { id, list };
  const { verb, label, confirm: text } = face.remove;
  const title = `${label} ${face.prefix === 'invoices' ? 'these' : 'this'}?`;
  const turn = isAsleep ? 'Resume' : 'Pause';
  return buttons(
    button(turn, actionId(face, turn.toLowerCase(), id), { value }),
    ...Object.entries(face.extras).map(([extra, name]) => button(name, actionId(face, extra, id), { value })),
    button(label, actionId(face, verb, id), {
      value,
      style: 'danger',
      confirm: { title, text, confirm: label },
    }),
  );
}

function actionId({ prefix }: ScheduleFace, verb: string, id: string): string {
  return prefix === 'watch' ? `watch:${verb}#${id}` : `${prefix}:${verb}`;
}

/** More are resumed by command. */
const MAX_RESUMED = 5;

/**
 * Sent once to the person who set up what is paused now.
 * @param paused.reason half a sentence: "the channel is archived" @param paused.next what to do, a sentence
 */
export function pausedMessage({
  reason,
  paused,
  next,
}: {
  reason: string;
  paused: readonly Schedule[];
  next: string;
}): Message {
  const place = (schedule: Schedule): string => {
    const what = describeSchedule(schedule);
    return isDirect(schedule.channel) ? what : `${what}, in <#${schedule.channel}>`;
  };
  const [only] = paused;
  const isOne = paused.length === 1 && only !== undefined;
  const lines = isOne
    ? ''
    : `\n${linesWithin(
        paused.map((one) => `• ${place(one)}`),
        LIMITS.sectionText - 600,
      )}`;
  const named = isOne ? place(only) : 'what you set up';
  const said = `:double_vertical_bar: Deckhand paused ${named}, because ${reason}. ${next}${lines}`;
  // What somebody watches for themselves is resumed by its own command.
  const resumed = paused.filter(({ channel }) => !isDirect(channel)).slice(0, MAX_RESUMED);
  const resume = resumed.map((schedule, at) => {
    const what = unmarked(describeSchedule(schedule));
    const label = isOne ? 'Resume' : truncate(`Resume ${what}`, LIMITS.buttonText);
    const value = { id: schedule.id, isNotice: true };
    return button(label, `${schedule.kind}:resume#${at}`, { value });
  });
  return say(truncate(said, LIMITS.sectionText), ...buttons(...resume));
}

/** The line for a channel; all mrkdwn of our own making. */
export function pausedLine(paused: readonly Schedule[], reason: string, next: string): Message {
  return say(
    truncate(
      `:double_vertical_bar: Deckhand paused ${countKinds(paused)}, because ${reason}. ${next}`,
      LIMITS.sectionText,
    ),
  );
}

export function resumedLine(resumed: readonly Schedule[], reason: string): Message {
  const verb = resumed.length === 1 && resumed[0]?.kind !== 'invoices' ? 'goes' : 'go';
  return say(
    truncate(
      `:arrow_forward: ${capitalised(countKinds(resumed))} ${verb} on: ${reason}.`,
      LIMITS.sectionText,
    ),
  );
}

/** "the guard of *Storefront* in `acme`, every hour", or "3 watches, 2 guards and 1 digest" */
function countKinds(schedules: readonly Schedule[]): string {
  const [only] = schedules;
  if (only !== undefined && schedules.length === 1) return describeSchedule(only);
  const kinds = [...Map.groupBy(schedules, ({ kind }) => kind)].map(([kind, { length }]) =>
    kind === 'invoices'
      ? SCHEDULE_FACES.invoices.noun
      : count(length, SCHEDULE_FACES[kind].noun, SCHEDULE_FACES[kind].plural),
  );
  return new Intl.ListFormat('en-GB').format(kinds);
}

/** How much a list shows; its buttons carry it, so that they draw the same list anew. */
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
  /** How many of other channels are not listed. */
  elsewhere: number;
  /** How many records of the kind cannot be read. */
  unreadable?: number;
  /** The slash word. */
  word: string;
  /** What was removed by a button of the list, with "Undo". */
  removed?: Message | undefined;
  /** True where the channel sees it; else it can be shared. */
  isShared?: boolean;
  /** True for an answer that may have several messages; else the list ends where one is full. */
  isWhole?: boolean;
  /** False for a person who may read the list and change nothing. */
  canChange?: boolean;
}

export interface ListedSchedule {
  id: string;
  isAsleep: boolean;
  lines: readonly string[];
}

/** Two blocks each, within Slack's 50. */
const MOST = 20;
/** Of the rows as JSON: Slack refuses messages whose blocks are longer than some 13,000 characters. */
const MAX_ROWS = 12_000;

/** Schedules of one kind, each with its buttons. */
export function scheduleList(
  face: ScheduleFace,
  listed: readonly ListedSchedule[],
  {
    scope,
    elsewhere,
    unreadable = 0,
    word,
    removed,
    isShared = false,
    isWhole = false,
    canChange = true,
  }: ScheduleListing,
): Message {
  const add = code(`${word} ${face.commands.add}`);
  const share =
    !isShared && canChange && button('Share to channel', `${face.prefix}:share`, { value: { scope } });
  const all = code(`${word} ${face.commands.list} all`);
  const others = elsewhere === 0 ? '' : ` ${count(elsewhere, 'other')} elsewhere: ${all}.`;
  const bad =
    unreadable > 0 &&
    `:warning: ${count(unreadable, face.noun, face.plural)} cannot be read. ${code(`${word} doctor`)} names what is wrong.`;
  const undo = removed?.blocks ?? [];
  if (listed.length === 0) {
    const where = scope === 'here' ? 'This channel' : 'This workspace';
    const none = `${where} has no ${face.noun} yet. ${canChange ? 'Set' : 'Operators set'} one up with ${add}.${others}`;
    return say(none, ...(bad ? [context(bad)] : []), ...undo);
  }
  const title = `${count(listed.length, face.noun, face.plural)} of this ${scope === 'all' ? 'workspace' : 'channel'}`;
  const rows = listed.map(({ lines, ...one }): KnownBlock[] => [
    section(truncate(lines.join('\n'), LIMITS.sectionText)),
    ...(canChange ? scheduleButtons({ face, ...one }, scope) : []),
  ]);
  const page = isWhole ? rows : firstPage(rows);
  const left = rows.length - page.length;
  const more = left > 0 && `and ${left} more: ${code(`${word} ${face.commands.list} ${scope}`)}`;
  const next = `${canChange ? `${add} adds one.` : ''}${others}`.trim();
  return headed(title, ...page.flat(), ...notesOf([more, bad, next]), ...undo, ...buttons(share));
}

function notesOf(notes: ReadonlyArray<string | false>): KnownBlock[] {
  const texts = notes.filter((note) => note !== false && note !== '');
  return texts.length === 0 ? [] : [context(...texts)];
}

function firstPage(rows: readonly KnownBlock[][]): KnownBlock[][] {
  const [page = []] = inPages(rows, { most: MOST, room: MAX_ROWS }, (row) => JSON.stringify(row).length);
  return page;
}

/** "Paused by <@U1> today at 09:00." or "Paused today at 09:00: the channel is archived." */
export function pausedWords({ by, at, reason }: Paused): string {
  const when = by === undefined ? `${dateTime(at)}: ${reason}` : `by <@${by}> ${dateTime(at)}`;
  return `:double_vertical_bar: Paused ${when}.`;
}

/** After "paused": the person who did it, else Deckhand's reason. */
export function whyPaused({ by, reason }: Pick<Paused, 'by' | 'reason'>): string {
  return by === undefined ? `because ${reason}` : `by <@${by}>`;
}

/** How polling goes. */
export interface ShownPolling {
  /** When the service answered last, milliseconds since the epoch; undefined before that. */
  lookedAt?: number | undefined;
  /** Polls in a row that failed. */
  failures: number;
}

/** What a polled schedule posted last, and its state. */
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
    last === undefined ? 'Nothing was posted yet.' : `Last: ${last.said}, ${dateTime(last.at)}.`,
    state.kind === 'paused' ? pausedWords(state) : active,
  ];
}
