import { isDeepStrictEqual } from 'node:util';
import { closest, distance } from 'fastest-levenshtein';
import { isDirect, mayRead } from '../../core/direct.ts';
import { UserError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import type { Message } from '../../core/message.ts';
import { code, unmarked } from '../../core/mrkdwn.ts';
import type { Reply } from '../../core/reply.ts';
import type { Schedule, ScheduleState } from '../../records/schedules.ts';
import { deliver } from '../../scheduler/deliver.ts';
import { pauseSchedule, removeSchedules, type ScheduleKind } from '../../scheduler/schedules/lifecycle.ts';
import { isSlackFailure, undefinedOnSlackError } from '../../slack/failure.ts';
import {
  type ListScope,
  type OpenedFrom,
  removedCard,
  type ScheduleChange,
  type ScheduleFace,
  type ScheduleListing,
  type ShownSchedule,
  scheduleCard,
} from '../../views/schedules/schedule.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type ActionContext, type CommandContext, FormFault } from '../command.ts';
import { refusalOf } from '../permission.ts';

/** What people may do with a kind of schedule, and what they read of it. */
export interface ScheduleFeature<R> {
  kind: ScheduleKind<R>;
  face: ScheduleFace;
  /** Set where all that is done with it belongs to one command. */
  command?: string;
  /** What it posts and when; mrkdwn. */
  words(record: R): string;
  /** More to say of a change; mrkdwn. */
  note?(record: R, done: ScheduleChange['done'], context: CommandContext): string | undefined;
  /** True where it posts nothing for some time although it is not paused. */
  isSnoozed?(record: R): boolean;
  /** True where a word other than its id means it, in its own channel. */
  matches?(record: R, wanted: string): boolean;
  /** Lists some of them. */
  list(records: readonly R[], listing: ScheduleListing, workspace: Workspace): Promise<Message>;
  /** What its snooze button does. */
  snoozing?: Operation<R>;
  /** What it posted, after one of its buttons was used; undefined where the message is a card. */
  redraw?(message: Message, record: R, change: ScheduleChange, context: ActionContext): Message | undefined;
}

/** What words and buttons may do with a schedule. */
export interface Operation<R> {
  verb: string;
  /** The name of the command that it belongs to. */
  command: string;
  /** What the audit log calls it; left out, the command. */
  audited?: string;
  done: ScheduleChange['done'];
  /** Which schedule is meant where none is named. */
  fits?(schedule: Schedule<R>): boolean;
  /** @returns the schedule as it is then; undefined where it was removed meanwhile */
  change(context: CommandContext, schedule: Schedule<R>): Promise<Schedule<R> | undefined>;
}

export function isAsleep<R>({ isSnoozed }: ScheduleFeature<R>, { state, record }: Schedule<R>): boolean {
  return state.kind === 'paused' || isSnoozed?.(record) === true;
}

export function described<R>(feature: ScheduleFeature<R>, schedule: Schedule<R>): ShownSchedule {
  const { id, record } = schedule;
  const { face, words } = feature;
  return { face, id, words: words(record), isAsleep: isAsleep(feature, schedule) };
}

interface ListOptions<R> extends Pick<ScheduleListing, 'removed' | 'isShared'> {
  /** All if left out. */
  isMeant?: ((schedule: Schedule<R>) => boolean) | undefined;
}

/** Schedules that a person may read, or with undefined a channel. */
async function listVisible<R>(
  kind: ScheduleKind<R>,
  workspace: Workspace,
  user: string | undefined,
): Promise<Schedule<R>[]> {
  const all = await kind.list(workspace);
  return all.filter(({ channel, setUpBy: person }) => mayRead(user, { channel, person }));
}

/** Lists this channel's, or all of a kind. */
export async function listOf<R>(
  { face, kind, list }: ScheduleFeature<R>,
  { caller, workspace }: CommandContext,
  scope: ListScope,
  { removed, isShared, isMeant = () => true }: ListOptions<R> = {},
): Promise<Message> {
  // A list that a channel reads names nothing of anybody's direct messages elsewhere.
  const reader = isShared === true && !isDirect(caller.channel) ? undefined : caller.user;
  const all = (await listVisible(kind, workspace, reader)).filter(isMeant);
  const listed = scope === 'all' ? all : all.filter(({ channel }) => channel === caller.channel);
  const records = listed.map(({ record }) => record);
  const elsewhere = all.length - listed.length;
  const bad = await workspace.store.unreadable([kind.collection]);
  const canChange = isShared === true || (await workspace.roles.holds(caller.user, face.role));
  const known = { scope, elsewhere, unreadable: bad.length, word: workspace.word, canChange };
  return list(records, { ...known, removed, ...defined({ isShared }) }, workspace);
}

/** What the channel reads of a change. @param list the list whose button did it */
export function cardOf<R>(
  feature: ScheduleFeature<R>,
  schedule: Schedule<R>,
  done: ScheduleChange['done'],
  context: CommandContext,
  list?: ListScope,
): Message {
  if (done === 'removed') return removedCardOf(feature, [schedule], context, list);
  const note = feature.note?.(schedule.record, done, context);
  return scheduleCard(described(feature, schedule), { done, user: context.caller.user, note });
}

export function removedCardOf<R>(
  feature: ScheduleFeature<R>,
  removed: readonly Schedule<R>[],
  context: CommandContext,
  list?: ListScope,
): Message {
  const { user, requestId: removal } = context.caller;
  const all = removed.map((schedule) => described(feature, schedule));
  return removedCard(all, user, { removal, list });
}

/** In an identifier of four letters; more are another one. */
const MAX_MISTAKES = 2;

/**
 * The schedule of that id, in any channel, or this channel's that a word means; without one this channel's only one,
 * or the only one that `fits`.
 * @throws UserError where the name is unknown, or several would do
 */
export async function resolveSchedule<R>(
  { kind, face, matches, words }: ScheduleFeature<R>,
  { caller, workspace }: CommandContext,
  named: string | undefined,
  fits: (schedule: Schedule<R>) => boolean = () => true,
): Promise<Schedule<R>> {
  const all = await listVisible(kind, workspace, caller.user);
  const here = all.filter(({ channel }) => channel === caller.channel);
  const { noun, plural, commands } = face;
  const severalOf = (some: readonly Schedule<R>[]): UserError => {
    const choices = some.map(({ id, record }) => ({ value: id, text: unmarked(words(record)) }));
    return new UserError(`This channel has ${some.length} ${plural}.`, commands.list, { choices });
  };
  if (named === undefined) {
    if (here.length === 0) throw new UserError(`This channel has no ${noun} yet.`, commands.add);
    const [only, ...others] = here.length === 1 ? here : here.filter(fits);
    if (only !== undefined && others.length === 0) return only;
    throw severalOf(here);
  }
  const wanted = named.toLowerCase();
  const byWord = here.filter(({ record }) => matches?.(record, named));
  const found =
    all.find(({ id }) => id.toLowerCase() === wanted) ?? (byWord.length === 1 ? byWord[0] : undefined);
  if (found !== undefined) return found;
  if (byWord.length > 1) throw severalOf(byWord);
  const ids = (here.length > 0 ? here : all).map(({ name }) => name);
  throw new UserError(`There is no ${noun} ${code(named, 40)}.${nearWords(wanted, ids)}`, commands.list);
}

function nearWords(wanted: string, ids: readonly string[]): string {
  const near = closest(wanted, ids);
  const isNear = ids.length > 0 && distance(wanted, near) <= MAX_MISTAKES;
  return isNear ? ` Did you mean ${code(near)}?` : '';
}

/**
 * A schedule is changed only where its own channel allows the command, from wherever that is asked for.
 * @throws Refusal
 */
export async function expectAllowedThere<R>(
  feature: ScheduleFeature<R>,
  { caller, workspace }: CommandContext,
  { channel }: Pick<Schedule<R>, 'channel'>,
  name: string,
): Promise<void> {
  const { command = name } = feature;
  const wanted = { user: caller.user, command, role: undefined, channels: [caller.channel, channel] };
  const refusal = await refusalOf(workspace, wanted);
  if (refusal !== undefined) throw refusal;
}

/**
 * Posts a card in the schedule's channel or in the thread of a mention there, once, and shows it to a person who asked
 * from elsewhere.
 * @param isOptional true where the change holds although the channel cannot be posted in
 * @throws SlackFailure
 */
export async function announce(
  { caller, workspace }: CommandContext,
  { channel }: Schedule,
  card: Message,
  isOptional = false,
): Promise<Reply> {
  const id = `changed ${channel} ${caller.requestId}`;
  const threadTs = channel === caller.channel ? caller.answerTs : undefined;
  try {
    await deliver(workspace, { id, channel, threadTs, message: card });
  } catch (error) {
    if (!isOptional || !isSlackFailure(error, 'gone', 'forbidden', 'revoked')) throw error;
    return { kind: 'private', message: card };
  }
  return channel === caller.channel ? { kind: 'nothing' } : { kind: 'private', message: card };
}

/** Posts the card of a new schedule; where Slack certainly has not taken it, the schedule is taken away again. */
export async function announceNew<R>(
  feature: ScheduleFeature<R>,
  context: CommandContext,
  schedule: Schedule<R>,
  what: string,
): Promise<Reply> {
  const { caller, workspace } = context;
  const reply = await announceOr(feature, context, schedule, 'set up', async () => {
    await removeSchedules(workspace, feature.kind, [schedule], caller.requestId);
  });
  await recordChange(context, what, schedule);
  return reply;
}

/** As `announceNew`: what could not post either is paused as it was before. */
export function announceResumed<R>(
  feature: ScheduleFeature<R>,
  context: CommandContext,
  resumed: Schedule<R>,
  before: ScheduleState,
): Promise<Reply> {
  return announceOr(feature, context, resumed, 'resumed', async () => {
    if (before.kind === 'paused') await pauseSchedule(context.workspace, feature.kind, resumed, before);
  });
}

async function announceOr<R>(
  feature: ScheduleFeature<R>,
  context: CommandContext,
  schedule: Schedule<R>,
  done: ScheduleChange['done'],
  undo: () => Promise<void>,
): Promise<Reply> {
  try {
    return await announce(context, schedule, cardOf(feature, schedule, done, context));
  } catch (error) {
    if (isSlackFailure(error) && !error.mayHavePosted) await undo();
    throw error;
  }
}

/**
 * Draws the card or the list whose button opened the form anew. A card is posted where neither was in the schedule's
 * channel, or Slack refuses that.
 */
export async function showEdited<R>(
  feature: ScheduleFeature<R>,
  context: CommandContext,
  edited: Schedule<R>,
  from: OpenedFrom | undefined,
): Promise<void> {
  const card = cardOf(feature, edited, 'edited', context);
  const isShown = from !== undefined && (await redrawn(feature, context, card, from));
  if (isShown && from.channel === edited.channel) return;
  await announce(context, edited, card, true);
}

async function redrawn<R>(
  feature: ScheduleFeature<R>,
  context: CommandContext,
  card: Message,
  { channel, ts, list }: OpenedFrom,
): Promise<boolean> {
  const { caller, workspace } = context;
  const there = { ...context, caller: { ...caller, channel } };
  const message = list === undefined ? card : await listOf(feature, there, list, { isShared: true });
  const updated = workspace.slack.update({ channel, ts }, message).then(() => true);
  return (await undefinedOnSlackError(updated)) ?? false;
}

/**
 * @param choices those of the form that edits it
 * @throws FormFault if they are what the schedule has already
 */
export function expectChange(existing: object, choices: object): void {
  if (isDeepStrictEqual({ ...existing, ...choices }, { ...choices, ...existing }))
    throw new FormFault({}, 'Nothing was changed, so nothing was saved.');
}

export function recordChange(
  { caller, workspace }: CommandContext,
  what: string,
  { channel, name }: Schedule,
): Promise<void> {
  return workspace.audit.record({ who: caller.user, what, where: channel, target: name, result: 'done' });
}
