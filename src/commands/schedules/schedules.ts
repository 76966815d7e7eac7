import { isDeepStrictEqual } from 'node:util';
import { closest, distance } from 'fastest-levenshtein';
import { showCard } from '../../cards/card.ts';
import { UserError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import {
  type CardReply,
  type Change,
  isDirect,
  type Message,
  mayRead,
  type Reply,
} from '../../core/message.ts';
import { code, dateTime, unmarked } from '../../core/mrkdwn.ts';
import { isNamed } from '../../core/names.ts';
import {
  findNextTime,
  isAsleep,
  isPersonal,
  type Schedule,
  type ScheduleKind,
  type ScheduleOf,
  type TimedKind,
  type TimedSchedule,
  type Watch,
} from '../../records/schedules.ts';
import { INVOICES } from '../../scheduler/invoices/notices.ts';
import { readPolling } from '../../scheduler/schedules/polling.ts';
import { removeSchedules } from '../../scheduler/schedules/start.ts';
import { ACTIVITY } from '../../scheduler/watches/feed.ts';
import { canBePushed, isPushFor } from '../../scheduler/watches/push.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import { say } from '../../views/blocks/message.ts';
import { withFooterChange } from '../../views/digests/digest.ts';
import { notifyStateMessage } from '../../views/invoices/invoices.ts';
import { SCHEDULE_FACES, type ScheduleFace } from '../../views/schedules/faces.ts';
import {
  type ListedSchedule,
  type ListScope,
  type OpenedFrom,
  removedCard,
  type ScheduleChange,
  type ScheduleListing,
  type ShownSchedule,
  scheduleCard,
  scheduleList,
} from '../../views/schedules/schedule.ts';
import { timedLines } from '../../views/schedules/timed.ts';
import { describeSchedule, nameSchedule, scheduleWords } from '../../views/schedules/words.ts';
import { watchLines } from '../../views/watches/watch.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CommandContext } from '../context.ts';
import { findRefusal } from '../permission.ts';
import { lookUpProject } from '../targets/targets.ts';

interface ListOptions extends Pick<ScheduleListing, 'removed' | 'isShared' | 'isWhole'> {
  /** All if left out. */
  isMeant?: ((schedule: Schedule) => boolean) | undefined;
}

/** Set if the account does not list the schedule's project any more. */
interface Listed {
  isGone?: boolean;
}

/**
 * Schedules with the present names of their projects. People's watches of their own deployments are listed nowhere.
 * @param user the reader; undefined for a list in a channel
 */
async function listVisible<K extends ScheduleKind>(
  kind: K,
  workspace: Workspace,
  user: string | undefined,
): Promise<Array<ScheduleOf<K> & Listed>> {
  const all = await workspace.schedules.list(kind);
  const visible = all.filter(
    (schedule) =>
      !isPersonal(schedule) && mayRead(user, { channel: schedule.channel, person: schedule.createdBy }),
  );
  return Promise.all(
    visible.map(async (schedule) => {
      const project = schedule.kind === 'invoices' ? undefined : await lookUpProject(workspace, schedule);
      if (project === 'gone') return { ...schedule, isGone: true };
      return project === undefined ? schedule : { ...schedule, project };
    }),
  );
}

export async function listSchedules(
  kind: ScheduleKind,
  { invocation, workspace }: CommandContext,
  scope: ListScope,
  { removed, isShared, isWhole, isMeant = () => true }: ListOptions = {},
): Promise<Message> {
  // A list in a channel names nothing of a person's direct messages.
  const reader = isShared === true && !isDirect(invocation.channel) ? undefined : invocation.user;
  const all: ReadonlyArray<Schedule & Listed> = (await listVisible(kind, workspace, reader)).filter(isMeant);
  const listed = scope === 'all' ? all : all.filter(({ channel }) => channel === invocation.channel);
  const elsewhere = all.length - listed.length;
  const unreadable = await workspace.schedules.countUnreadable(kind);
  const { role } = SCHEDULE_FACES[kind];
  const canChange = isShared === true || (await workspace.roles.holds(invocation.user, role));
  const details = { scope, elsewhere, unreadable, word: workspace.word, canChange };
  const listing = { ...details, removed, ...defined({ isShared, isWhole }) };
  const ownLists: Partial<Record<ScheduleKind, DrawList>> = OWN_LISTS;
  return (ownLists[kind] ?? listTimed)(workspace, listed, listing, SCHEDULE_FACES[kind]);
}

type DrawList = (
  workspace: Workspace,
  listed: ReadonlyArray<Schedule & Listed>,
  listing: ScheduleListing,
  face: ScheduleFace,
) => Promise<Message> | Message;

/** Lists of the kinds that do not run by the clock. */
const OWN_LISTS: Readonly<Record<Exclude<ScheduleKind, TimedKind>, DrawList>> = {
  async watch(workspace, listed, listing, face) {
    const watches = listed.filter((one) => one.kind === 'watch');
    return scheduleList(face, await describeWatches(workspace, watches, listing.scope), listing);
  },
  async invoices(workspace, listed, { word }) {
    const readPace = await readPolling(workspace, INVOICES);
    const all = listed.filter((one) => one.kind === 'invoices');
    const notices = all.map((one) => ({ notices: one, polling: readPace(one.account) }));
    return notifyStateMessage(notices, word);
  },
};

function listTimed(
  { clock }: Workspace,
  listed: readonly Schedule[],
  listing: ScheduleListing,
  face: ScheduleFace,
): Message {
  const timed = listed.filter((one) => 'cadence' in one);
  return scheduleList(face, describeTimed(timed, listing.scope, clock.now()), listing);
}

async function describeWatches(
  workspace: Workspace,
  watches: ReadonlyArray<Watch & Listed>,
  scope: ListScope,
): Promise<ListedSchedule[]> {
  const readPace = await readPolling(workspace, ACTIVITY);
  const lines = (await workspace.feeds.list('watch')).flatMap(({ backlog }) => backlog.lines);
  const pushes = await workspace.pushes.list();
  return watches.map((watch) => {
    const backlog = lines.filter((line) => line.for.includes(watch.id)).length;
    const { isGone = false } = watch;
    const push = pushes.find((one) => isPushFor(one, watch));
    const { PUBLIC_URL: publicUrl } = workspace.config;
    const details = { scope, polling: readPace(watch.account), backlog, isGone, push, publicUrl };
    return {
      id: watch.id,
      isAsleep: isAsleep(watch),
      lines: watchLines(watch, details),
      canBePushed: canBePushed(workspace, watch, push),
    };
  });
}

function describeTimed(schedules: readonly TimedSchedule[], scope: ListScope, now: number): ListedSchedule[] {
  return schedules.map((schedule) => {
    const { id, state, snoozedUntil = 0 } = schedule;
    const lines = timedLines(schedule, { scope, now, nextAt: findNextTime(schedule, now) });
    return { id, isAsleep: state.kind === 'paused' || snoozedUntil > now, lines };
  });
}

export function toShownSchedule(schedule: Schedule): ShownSchedule {
  return { schedule, isAsleep: isAsleep(schedule) };
}

/** Card of a change, for the channel. @param list the list whose button was used */
export function changeCard(
  schedule: Schedule,
  done: ScheduleChange['done'],
  context: CommandContext,
  list?: ListScope,
): Message {
  if (done === 'removed') return removalCard([schedule], context, list);
  const { invocation, workspace } = context;
  const note = describeNext(schedule, done, workspace.clock.now());
  return scheduleCard(toShownSchedule(schedule), { done, user: invocation.user, note });
}

/** Says when a schedule by the clock runs next, after a change; mrkdwn. */
function describeNext(schedule: Schedule, done: ScheduleChange['done'], now: number): string | undefined {
  if (schedule.kind === 'guard') {
    const next = done === 'set up' ? undefined : findNextTime(schedule, now);
    return next === undefined ? undefined : `The next run is ${dateTime(next)}.`;
  }
  if (!('cadence' in schedule) || ['removed', 'paused', 'restored'].includes(done)) return undefined;
  const { snoozedUntil } = schedule;
  if (done === 'snoozed')
    return snoozedUntil === undefined ? undefined : `It is back after ${dateTime(snoozedUntil)}.`;
  const next = findNextTime({ ...schedule, snoozedUntil: 0 }, now);
  return next === undefined ? undefined : `The next one is ${dateTime(next)}.`;
}

/** Redraws a posted digest after one of its buttons was used; undefined for any other kind. */
export function redrawPosted(
  message: Message,
  schedule: Schedule,
  done: ScheduleChange['done'],
  { invocation, workspace: { clock } }: CommandContext,
): Message | undefined {
  if (schedule.kind !== 'digest') return undefined;
  const frame = { digest: schedule, next: findNextTime(schedule, clock.now()) };
  const change = { text: `${done} by <@${invocation.user}>`, isAsleep: isAsleep(schedule) };
  return withFooterChange(message, frame, change);
}

export function removalCard(
  removed: readonly Schedule[],
  context: CommandContext,
  list?: ListScope,
): Message {
  const { user, requestId: removal } = context.invocation;
  return removedCard(removed, user, { removal, list });
}

/** Typing mistakes in an id of four letters; more mistakes mean another id. */
const MAX_MISTAKES = 2;

/**
 * Finds a schedule by its id in any channel, or by its project in this channel. Without a name: this channel's only one, or
 * the only one that `fits`.
 * @throws UserError if the name is unknown, or several match
 */
export async function resolveSchedule<K extends ScheduleKind>(
  kind: K,
  { invocation, workspace }: CommandContext,
  nameOrId: string | undefined,
  {
    done = 'used',
    fits = () => true,
  }: { done?: string; fits?: ((schedule: Schedule) => boolean) | undefined } = {},
): Promise<ScheduleOf<K>> {
  const all = await listVisible(kind, workspace, invocation.user);
  const here = all.filter(({ channel }) => channel === invocation.channel);
  const { noun, commands } = SCHEDULE_FACES[kind];
  const askWhich = (some: readonly Schedule[]): UserError => {
    const choices = some.map((one) => ({ value: one.id, text: unmarked(scheduleWords(one)) }));
    return new UserError(`Which ${noun} should be ${done}?`, undefined, { choices });
  };
  if (nameOrId === undefined) {
    if (here.length === 0) throw new UserError(`This channel has no ${noun} yet.`, commands.add);
    const [only, ...others] = here.length === 1 ? here : here.filter(fits);
    if (only !== undefined && others.length === 0) return only;
    throw askWhich(here);
  }
  const query = nameOrId.toLowerCase();
  const byWord = here.filter((schedule) => isNamedByProject(schedule, nameOrId));
  const match = all.find(({ id }) => id.toLowerCase() === query) ?? byWord[0];
  if (match?.id.toLowerCase() !== query && byWord.length > 1) throw askWhich(byWord);
  if (match !== undefined) return match;
  const ids = (here.length > 0 ? here : all).map(nameSchedule);
  throw new UserError(`There is no ${noun} ${code(nameOrId, 40)}.${nearWords(query, ids)}`, commands.list);
}

/** Digests have no name but their id: several may be of one project. */
function isNamedByProject(schedule: Schedule, spelling: string): boolean {
  const project = schedule.kind === 'guard' || schedule.kind === 'watch' ? schedule.project : undefined;
  return project !== undefined && isNamed(project, spelling);
}

function nearWords(query: string, ids: readonly string[]): string {
  const near = closest(query, ids);
  const isNear = ids.length > 0 && distance(query, near) <= MAX_MISTAKES;
  return isNear ? ` Did you mean ${code(near)}?` : '';
}

/** Checks that the schedule's own channel allows the command too. @throws Refusal */
export async function expectAllowedThere(
  { invocation, workspace }: CommandContext,
  { kind, channel }: Pick<Schedule, 'kind' | 'channel'>,
  name: string,
): Promise<void> {
  // All changes of invoice notices belong to one command.
  const command = kind === 'invoices' ? SCHEDULE_FACES.invoices.command : name;
  const request = {
    user: invocation.user,
    command,
    role: undefined,
    channels: [invocation.channel, channel],
  };
  const refusal = await findRefusal(workspace, request);
  if (refusal !== undefined) throw refusal;
}

export function createRemovedError(schedule: Schedule): UserError {
  const { list } = SCHEDULE_FACES[schedule.kind].commands;
  return new UserError(`Somebody has removed ${describeSchedule(schedule)}.`, list);
}

interface CardOptions extends Pick<CardReply, 'ts' | 'isDone' | 'undo' | 'answer'> {
  /** Name of the change in the audit log. */
  what: string;
}

/** Replies with a card in the schedule's channel, which then has the schedule's buttons. */
export function replyWithCard(
  { workspace }: CommandContext,
  schedule: Schedule,
  message: Message,
  { what, ...options }: CardOptions,
): CardReply {
  const onShown = (ts: string): Promise<void> =>
    storeCard(workspace, schedule, ts === '' ? undefined : { ts, text: message.text });
  const audit = describeChange(what, schedule);
  return { kind: 'card', channel: schedule.channel, message, onShown, audit, ...options };
}

/** Replies with the card of a new schedule, which is removed if Slack does not post the card. */
export function replyWithNew(
  context: CommandContext,
  schedule: Schedule,
  what: string,
  message = changeCard(schedule, 'set up', context),
): CardReply {
  const undo = () => removeSchedules(context.workspace, [schedule], context.invocation.requestId);
  return replyWithCard(context, schedule, message, { what, undo });
}

/** Replies with the card in place of the message whose button opened the form. A list there is drawn again. */
export async function replyWithEdited(
  context: CommandContext,
  edited: Schedule,
  from: OpenedFrom | undefined,
  { what, card = changeCard(edited, 'edited', context) }: { what: string; card?: Message },
): Promise<Reply> {
  const { workspace, invocation } = context;
  const answer = { kind: 'nothing' } as const;
  const isThere = from?.channel === edited.channel;
  if (from !== undefined && (from.list !== undefined || !isThere)) {
    const { channel, ts, list } = from;
    const there = { ...context, invocation: { ...invocation, channel } };
    const message =
      list === undefined ? card : await listSchedules(edited.kind, there, list, { isShared: true });
    const update = workspace.slack.update({ channel, ts }, message).then(() => true);
    if ((await undefinedOnSlackError(update)) && isThere) {
      await storeCard(workspace, edited);
      return { ...answer, audit: describeChange(what, edited) };
    }
  }
  const ts = isThere && from?.list === undefined ? from?.ts : undefined;
  return replyWithCard(context, edited, card, { what, ts, isDone: true, answer });
}

/**
 * Stores which message is the schedule's card. The one before it loses its buttons.
 * @param card undefined if a list has the buttons now, or if Slack did not name the message
 */
export async function storeCard(
  workspace: Workspace,
  schedule: Schedule,
  card?: Schedule['card'],
): Promise<void> {
  const { channel, card: before } = schedule;
  if (isDeepStrictEqual(before, card)) return;
  await workspace.schedules.change(schedule, (current) => ({ ...current, card }));
  if (before === undefined || before.ts === card?.ts) return;
  const ref = { channel, ts: before.ts };
  const old = { id: `card ${ref.ts}`, channel, ref, root: say(before.text), cause: 'replaced' };
  await showCard(workspace, { ...old, ifRefused: 'leave' });
}

/** A change of a schedule for the audit log. */
export function describeChange(what: string, schedule: Schedule): Change {
  return { what, where: schedule.channel, target: unmarked(scheduleWords(schedule)) };
}
