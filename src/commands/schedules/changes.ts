import { isDeepStrictEqual } from 'node:util';
import { closest, distance } from 'fastest-levenshtein';
import { UserError } from '../../core/errors.ts';
import type { Message, Reply } from '../../core/message.ts';
import { code, dateTime, unmarked } from '../../core/mrkdwn.ts';
import { isNamed } from '../../core/names.ts';
import {
  isAsleep,
  nextOf,
  type Schedule,
  type ScheduleKind,
  type ScheduleOf,
  type ScheduleState,
} from '../../records/schedules.ts';
import { deliver } from '../../scheduler/deliver.ts';
import { pauseSchedule, removeSchedules } from '../../scheduler/schedules/lifecycle.ts';
import { isSlackFailure, mayHavePosted, undefinedOnSlackError } from '../../slack/failure.ts';
import { withFooterChange } from '../../views/digests/digest.ts';
import {
  type ListScope,
  type OpenedFrom,
  removedCard,
  SCHEDULE_FACES,
  type ScheduleChange,
  type ShownSchedule,
  scheduleCard,
} from '../../views/schedules/schedule.ts';
import { nameSchedule, scheduleWords } from '../../views/schedules/words.ts';
import { type CommandContext, FormFault } from '../command.ts';
import { refusalOf } from '../permission.ts';
import { listSchedules, listVisible } from './lists.ts';

export function describe(schedule: Schedule): ShownSchedule {
  return { schedule, isAsleep: isAsleep(schedule) };
}

/** What the channel reads of a change. @param list the list whose button did it */
export function changeCard(
  schedule: Schedule,
  done: ScheduleChange['done'],
  context: CommandContext,
  list?: ListScope,
): Message {
  if (done === 'removed') return removalCard([schedule], context, list);
  const { caller, workspace } = context;
  const note = describeNext(schedule, done, workspace.clock.now());
  return scheduleCard(describe(schedule), { done, user: caller.user, note });
}

/** Says when a digest or guard runs next, after a change; mrkdwn. */
function describeNext(schedule: Schedule, done: ScheduleChange['done'], now: number): string | undefined {
  if (schedule.kind === 'guard') {
    const next = done === 'set up' ? undefined : nextOf(schedule, now);
    return next === undefined ? undefined : `The next run is ${dateTime(next)}.`;
  }
  if (schedule.kind !== 'digest' || ['removed', 'paused', 'restored'].includes(done)) return undefined;
  const { snoozedUntil } = schedule;
  if (done === 'snoozed')
    return snoozedUntil === undefined ? undefined : `It is back after ${dateTime(snoozedUntil)}.`;
  const next = nextOf({ ...schedule, snoozedUntil: 0 }, now);
  return next === undefined ? undefined : `The next one is ${dateTime(next)}.`;
}

/** Draws a digest that was posted again, after one of its buttons was used; undefined for any other message. */
export function redrawPosted(
  message: Message,
  schedule: Schedule,
  done: ScheduleChange['done'],
  { caller, workspace: { clock } }: CommandContext,
): Message | undefined {
  if (schedule.kind !== 'digest') return undefined;
  const frame = { digest: schedule, next: nextOf(schedule, clock.now()) };
  const change = { said: `${done} by <@${caller.user}>`, isAsleep: isAsleep(schedule) };
  return withFooterChange(message, frame, change);
}

export function removalCard(
  removed: readonly Schedule[],
  context: CommandContext,
  list?: ListScope,
): Message {
  const { user, requestId: removal } = context.caller;
  return removedCard(removed, user, { removal, list });
}

/** In an identifier of four letters; more are another one. */
const MAX_MISTAKES = 2;

/**
 * The schedule of that id, in any channel, or this channel's that a word means; without one this channel's only one,
 * or the only one that `fits`.
 * @throws UserError where the name is unknown, or several would do
 */
export async function resolveSchedule<K extends ScheduleKind>(
  kind: K,
  { caller, workspace }: CommandContext,
  named: string | undefined,
  {
    done = 'used',
    fits = () => true,
  }: { done?: string; fits?: ((schedule: Schedule) => boolean) | undefined } = {},
): Promise<ScheduleOf<K>> {
  const all = await listVisible(kind, workspace, caller.user);
  const here = all.filter(({ channel }) => channel === caller.channel);
  const { noun, commands } = SCHEDULE_FACES[kind];
  const severalOf = (some: readonly Schedule[]): UserError => {
    const choices = some.map((one) => ({ value: one.id, text: unmarked(scheduleWords(one)) }));
    return new UserError(`Which ${noun} should be ${done}?`, undefined, { choices });
  };
  if (named === undefined) {
    if (here.length === 0) throw new UserError(`This channel has no ${noun} yet.`, commands.add);
    const [only, ...others] = here.length === 1 ? here : here.filter(fits);
    if (only !== undefined && others.length === 0) return only;
    throw severalOf(here);
  }
  const wanted = named.toLowerCase();
  const byWord = here.filter((schedule) => isNamedByProject(schedule, named));
  const found =
    all.find(({ id }) => id.toLowerCase() === wanted) ?? (byWord.length === 1 ? byWord[0] : undefined);
  if (found !== undefined) return found;
  if (byWord.length > 1) throw severalOf(byWord);
  const ids = (here.length > 0 ? here : all).map(nameSchedule);
  throw new UserError(`There is no ${noun} ${code(named, 40)}.${nearWords(wanted, ids)}`, commands.list);
}

/** Digests are named by their ids alone: several may be of one project. */
function isNamedByProject(schedule: Schedule, wanted: string): boolean {
  const project = schedule.kind === 'guard' || schedule.kind === 'watch' ? schedule.project : undefined;
  return project !== undefined && isNamed(project, wanted);
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
export async function expectAllowedThere(
  { caller, workspace }: CommandContext,
  { kind, channel }: Pick<Schedule, 'kind' | 'channel'>,
  name: string,
): Promise<void> {
  // All that is done with invoice notices belongs to one command.
  const command = kind === 'invoices' ? SCHEDULE_FACES.invoices.command : name;
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
export async function announceNew(context: CommandContext, schedule: Schedule, what: string): Promise<Reply> {
  const { caller, workspace } = context;
  const reply = await announceOr(context, schedule, 'set up', async () => {
    await removeSchedules(workspace, [schedule], caller.requestId);
  });
  await recordChange(context, what, schedule);
  return reply;
}

/** As `announceNew`: what could not post either is paused as it was before. */
export function announceResumed(
  context: CommandContext,
  resumed: Schedule,
  before: ScheduleState,
): Promise<Reply> {
  return announceOr(context, resumed, 'resumed', async () => {
    if (before.kind === 'paused') await pauseSchedule(context.workspace, resumed, before);
  });
}

async function announceOr(
  context: CommandContext,
  schedule: Schedule,
  done: ScheduleChange['done'],
  undo: () => Promise<void>,
): Promise<Reply> {
  try {
    return await announce(context, schedule, changeCard(schedule, done, context));
  } catch (error) {
    if (isSlackFailure(error) && !mayHavePosted(error)) await undo();
    throw error;
  }
}

/**
 * Draws the card or the list whose button opened the form anew. A card is posted where neither was in the schedule's
 * channel, or Slack refuses that.
 */
export async function showEdited(
  context: CommandContext,
  edited: Schedule,
  from: OpenedFrom | undefined,
): Promise<void> {
  const card = changeCard(edited, 'edited', context);
  const isShown = from !== undefined && (await updateMessage(context, edited.kind, card, from));
  if (isShown && from.channel === edited.channel) return;
  await announce(context, edited, card, true);
}

async function updateMessage(
  context: CommandContext,
  kind: ScheduleKind,
  card: Message,
  { channel, ts, list }: OpenedFrom,
): Promise<boolean> {
  const { caller, workspace } = context;
  const there = { ...context, caller: { ...caller, channel } };
  const message = list === undefined ? card : await listSchedules(kind, there, list, { isShared: true });
  const updated = workspace.slack.update({ channel, ts }, message).then(() => true);
  return (await undefinedOnSlackError(updated)) ?? false;
}

/**
 * @param choices those of the form that edits it
 * @throws FormFault if they are what the schedule has already
 */
export function expectChange(existing: object, choices: object): void {
  const before = new Map<string, unknown>(Object.entries(existing));
  if (Object.entries(choices).every(([field, choice]) => isDeepStrictEqual(choice, before.get(field))))
    throw new FormFault({}, 'Nothing was changed, so nothing was saved.');
}

export function recordChange(
  { caller, workspace }: CommandContext,
  what: string,
  schedule: Schedule,
): Promise<void> {
  const { channel: where } = schedule;
  const target = unmarked(scheduleWords(schedule));
  return workspace.audit.record({ who: caller.user, what, where, target, result: 'done' });
}
