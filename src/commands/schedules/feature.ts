import { isDeepStrictEqual } from 'node:util';
import { closest, distance } from 'fastest-levenshtein';
import { withTimeout } from '../../core/clock.ts';
import { isDirect, mayRead } from '../../core/direct.ts';
import { UserError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import type { Message } from '../../core/message.ts';
import { code, dateTime, unmarked } from '../../core/mrkdwn.ts';
import { isNamed } from '../../core/names.ts';
import type { ProjectRef } from '../../core/project-ref.ts';
import type { Reply } from '../../core/reply.ts';
import {
  isAsleep,
  isPersonal,
  nextOf,
  type Schedule,
  type ScheduleKind,
  type ScheduleOf,
  type ScheduleState,
  type TimedSchedule,
  type Watch,
} from '../../records/schedules.ts';
import { deliver } from '../../scheduler/deliver.ts';
import { INVOICES } from '../../scheduler/invoices/notices.ts';
import { pauseSchedule, removeSchedules } from '../../scheduler/schedules/lifecycle.ts';
import { readPolling } from '../../scheduler/schedules/polling.ts';
import { ACTIVITY } from '../../scheduler/watches/feed.ts';
import { isSlackFailure, undefinedOnSlackError } from '../../slack/failure.ts';
import { withFooterChange } from '../../views/digests/digest.ts';
import { notifyStateMessage } from '../../views/invoices/invoices.ts';
import {
  type ListScope,
  type OpenedFrom,
  removedCard,
  SCHEDULE_FACES,
  type ScheduleChange,
  type ScheduleListing,
  type ShownSchedule,
  scheduleCard,
  scheduleList,
} from '../../views/schedules/schedule.ts';
import { timedLines } from '../../views/schedules/timed.ts';
import { nameSchedule, scheduleWords } from '../../views/schedules/words.ts';
import { watchLines } from '../../views/watches/watch.ts';
import { findCurrentProject } from '../../workspace/projects.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type CommandContext, FormFault } from '../command.ts';
import { refusalOf } from '../permission.ts';

/** What people read of a kind of schedule. */
interface ScheduleFeature<S extends Schedule = Schedule> {
  /** More to say of a change; mrkdwn. */
  note?(schedule: S, done: ScheduleChange['done'], now: number): string | undefined;
  list(workspace: Workspace, schedules: readonly S[], listing: ScheduleListing): Promise<Message>;
  /** The message that it posted, after one of its buttons was used; undefined if the message is a card. */
  redraw?(message: Message, schedule: S, change: ScheduleChange, now: number): Message | undefined;
}

const ROWS: { [K in ScheduleKind]: ScheduleFeature<ScheduleOf<K>> } = {
  digest: {
    note(digest, done, now) {
      const { snoozedUntil } = digest;
      if (done === 'snoozed')
        return snoozedUntil === undefined ? undefined : `It is back after ${dateTime(snoozedUntil)}.`;
      if (done === 'removed' || done === 'paused' || done === 'restored') return undefined;
      const next = nextOf({ ...digest, snoozedUntil: 0 }, now);
      return next === undefined ? undefined : `The next one is ${dateTime(next)}.`;
    },
    list: (workspace, digests, listing) => listTimed(workspace, 'digest', digests, listing),
    redraw: (message, digest, { done, user }, now) =>
      withFooterChange(
        message,
        { digest, next: nextOf(digest, now) },
        { said: `${done} by <@${user}>`, isAsleep: isAsleep(digest) },
      ),
  },
  guard: {
    note(guard, done, now) {
      const next = done === 'removed' ? undefined : nextOf(guard, now);
      return next === undefined
        ? undefined
        : `It is silent while all is reachable. The next run is ${dateTime(next)}.`;
    },
    list: (workspace, guards, listing) => listTimed(workspace, 'guard', guards, listing),
  },
  watch: {
    list: listWatches,
  },
  invoices: {
    async list({ store }, all, { word }) {
      const readPace = await readPolling(store, INVOICES);
      const listed = all.map((notices) => ({ notices, polling: readPace(notices.account) }));
      return notifyStateMessage(listed, word);
    },
  },
};

const FEATURES: Readonly<Record<ScheduleKind, ScheduleFeature>> = ROWS;

async function listWatches(
  workspace: Workspace,
  watches: readonly Watch[],
  listing: ScheduleListing,
): Promise<Message> {
  const readPace = await readPolling(workspace.store, ACTIVITY);
  const lines = (await workspace.feeds.list('watch')).flatMap(({ kept }) => kept.lines);
  const rows = watches.map(async (watch) => {
    const kept = lines.filter((line) => line.for.includes(watch.id)).length;
    const found = await findPresentProject(workspace, watch);
    const isGone = found === 'gone';
    const project = isGone ? watch.project : (found ?? watch.project);
    const shown = { scope: listing.scope, polling: readPace(watch.account), kept, isGone };
    return { id: watch.id, isAsleep: isAsleep(watch), lines: watchLines({ ...watch, project }, shown) };
  });
  return scheduleList(SCHEDULE_FACES.watch, await Promise.all(rows), listing);
}

/** A list does not wait longer for the service. */
const LOOKUP_TIMEOUT_MS = 800;

/** The project of a watch under its present name; undefined if the service does not say it in time. */
async function findPresentProject(
  { accounts, clock, projects }: Workspace,
  watch: Watch,
): Promise<ProjectRef | 'gone' | undefined> {
  const account = await accounts.get(watch.account);
  if (watch.project === undefined || account === undefined) return undefined;
  const looking = findCurrentProject(projects, account, watch.project);
  return withTimeout(
    clock,
    LOOKUP_TIMEOUT_MS,
    looking.then((current) => current ?? 'gone'),
  );
}

async function listTimed(
  { clock }: Workspace,
  kind: TimedSchedule['kind'],
  schedules: readonly TimedSchedule[],
  listing: ScheduleListing,
): Promise<Message> {
  const now = clock.now();
  const rows = schedules.map((schedule) => {
    const { id, state, snoozedUntil = 0 } = schedule;
    const lines = timedLines(schedule, { scope: listing.scope, now, nextAt: nextOf(schedule, now) });
    return { id, isAsleep: state.kind === 'paused' || snoozedUntil > now, lines };
  });
  return scheduleList(SCHEDULE_FACES[kind], rows, listing);
}

export function describe(schedule: Schedule): ShownSchedule {
  const { kind, id } = schedule;
  return { face: SCHEDULE_FACES[kind], id, words: scheduleWords(schedule), isAsleep: isAsleep(schedule) };
}

/** Draws a digest that was posted again, after one of its buttons was used; undefined for any other message. */
export function redrawPosted(
  message: Message,
  schedule: Schedule,
  done: ScheduleChange['done'],
  { caller, workspace: { clock } }: CommandContext,
): Message | undefined {
  const change = { done, user: caller.user };
  return FEATURES[schedule.kind].redraw?.(message, schedule, change, clock.now());
}

interface ListOptions extends Pick<ScheduleListing, 'removed' | 'isShared' | 'isWhole'> {
  /** All if left out. */
  isMeant?: ((schedule: Schedule) => boolean) | undefined;
}

/** Schedules that a person may read, or with undefined a channel. Watches of one's own deployments are listed nowhere. */
async function listVisible<K extends ScheduleKind>(
  kind: K,
  { schedules }: Workspace,
  user: string | undefined,
): Promise<ScheduleOf<K>[]> {
  const all = await schedules.list(kind);
  return all.filter(
    (schedule) =>
      !isPersonal(schedule) && mayRead(user, { channel: schedule.channel, person: schedule.setUpBy }),
  );
}

/** Lists this channel's, or all of a kind. */
export async function listSchedules(
  kind: ScheduleKind,
  { caller, workspace }: CommandContext,
  scope: ListScope,
  { removed, isShared, isWhole, isMeant = () => true }: ListOptions = {},
): Promise<Message> {
  // A list that a channel reads names nothing of anybody's direct messages elsewhere.
  const reader = isShared === true && !isDirect(caller.channel) ? undefined : caller.user;
  const all = (await listVisible(kind, workspace, reader)).filter(isMeant);
  const listed = scope === 'all' ? all : all.filter(({ channel }) => channel === caller.channel);
  const elsewhere = all.length - listed.length;
  const unreadable = await workspace.schedules.countUnreadable(kind);
  const { role } = SCHEDULE_FACES[kind];
  const canChange = isShared === true || (await workspace.roles.holds(caller.user, role));
  const known = { scope, elsewhere, unreadable, word: workspace.word, canChange };
  const listing = { ...known, removed, ...defined({ isShared, isWhole }) };
  return FEATURES[kind].list(workspace, listed, listing);
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
  const note = FEATURES[schedule.kind].note?.(schedule, done, workspace.clock.now());
  return scheduleCard(describe(schedule), { done, user: caller.user, note });
}

export function removalCard(
  removed: readonly Schedule[],
  context: CommandContext,
  list?: ListScope,
): Message {
  const { user, requestId: removal } = context.caller;
  return removedCard(removed.map(describe), user, { removal, list });
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
  fits: (schedule: Schedule) => boolean = () => true,
): Promise<ScheduleOf<K>> {
  const all = await listVisible(kind, workspace, caller.user);
  const here = all.filter(({ channel }) => channel === caller.channel);
  const { noun, plural, commands } = SCHEDULE_FACES[kind];
  const severalOf = (some: readonly Schedule[]): UserError => {
    const choices = some.map((one) => ({ value: one.id, text: unmarked(scheduleWords(one)) }));
    return new UserError(`This channel has ${some.length} ${plural}.`, commands.list, { choices });
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
    if (isSlackFailure(error) && !error.mayHavePosted) await undo();
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
  if (isDeepStrictEqual({ ...existing, ...choices }, { ...choices, ...existing }))
    throw new FormFault({}, 'Nothing was changed, so nothing was saved.');
}

export function recordChange(
  { caller, workspace }: CommandContext,
  what: string,
  schedule: Schedule,
): Promise<void> {
  const { channel: where } = schedule;
  const target = nameSchedule(schedule);
  return workspace.audit.record({ who: caller.user, what, where, target, result: 'done' });
}
