import { isDeepStrictEqual } from 'node:util';
import { type Account, SCHEDULES } from '../../records/accounts.ts';
import type { ActivityFeed } from '../../records/feeds.ts';
import {
  ACTIVE,
  type FeedPlace,
  isSameSubject,
  SCHEDULES_LOCK,
  type Watch,
} from '../../records/schedules.ts';
import { makeFreeId } from '../../store/store.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { replanEscalations } from '../episodes/escalation.ts';
import { expectRoomForSchedule } from '../schedules/lifecycle.ts';
import { listFollowers } from '../schedules/outbox.ts';
import { type PageContext, pageContext, startPolling } from '../schedules/polling.ts';
import { ACTIVITY, afterPage, type FeedPage, fromPage, newFeed, readFeed, without } from './feed.ts';
import { endUnwatched, planSettling } from './push.ts';

export type WatchChoices = Pick<Watch, 'mode' | 'project' | 'server' | 'hours' | 'escalation'>;

export interface NewWatch extends Omit<WatchChoices, 'mode'>, Pick<Watch, 'person'> {
  /** Default: that of the existing watch, or all events. */
  mode: WatchChoices['mode'] | undefined;
  channel: string;
  account: Account;
  user: string;
  requestId: string;
}

/** Adds or changes a watch. A channel has one watch of a project and server, whose mode and hours may change. */
export interface SetUp {
  kind: 'new' | 'changed' | 'resumed' | 'same';
  watch: Watch;
}

/**
 * Starts to watch from now on, so it reads the feed first.
 * @throws AccountFailure if the service does not show it
 */
export async function setUpWatch(workspace: Workspace, requested: NewWatch): Promise<SetUp> {
  const { channel, account: key, project, server, person, requestId } = requested;
  const { clock, schedules, store } = workspace;
  const page = await readFeed(workspace, key);
  const context = pageContext(workspace, await workspace.names.mentions(key.name));
  return store.exclusive(SCHEDULES_LOCK, async () => {
    const all = await schedules.list('watch');
    // A repeat after a kill, perhaps after the watch was edited.
    const repeated = all.find((one) => one.requestId === requestId);
    if (repeated !== undefined) {
      await startPolling(workspace, ACTIVITY, repeated);
      return { kind: 'new', watch: repeated };
    }
    const account = key.name;
    const existing = all.find(
      (one) => one.channel === channel && one.account === account && isSameSubject(one, requested),
    );
    const choices = { project, server, ...completeChoices(requested, existing) };
    // A person has one personal watch for each account.
    if (existing === undefined && person === undefined) await expectRoomForSchedule(workspace, channel);
    await keepPage(workspace, { channel, account }, page, existing, context);
    const kind = existing === undefined ? 'new' : howChanged(existing, choices);
    const id = makeFreeId('w', requestId, (candidate) => all.some((one) => one.id === candidate));
    const setUp = { createdBy: requested.user, createdAt: clock.now() };
    const newWatch: Watch = {
      kind: 'watch',
      id,
      requestId,
      channel,
      account,
      ...setUp,
      ...choices,
      person,
      state: ACTIVE,
    };
    const changed =
      existing &&
      (await schedules.change(existing, (current) => ({
        ...current,
        ...choices,
        state: ACTIVE,
        mutedUntil: undefined,
      })));
    if (changed === undefined) await schedules.put(newWatch);
    const watch = changed ?? newWatch;
    await startPolling(workspace, ACTIVITY, watch);
    if (changed !== undefined) await replanEscalations(workspace, changed);
    return { kind, watch };
  });
}

/** Choices that a request leaves out stay. */
function completeChoices(
  requested: NewWatch,
  existing: Watch | undefined,
): Pick<Watch, 'mode' | 'hours' | 'escalation'> {
  return {
    mode: requested.mode ?? existing?.mode ?? 'all',
    hours: requested.hours ?? existing?.hours,
    escalation: requested.escalation ?? existing?.escalation,
  };
}

function howChanged(existing: Watch, { mode, hours, escalation }: WatchChoices): SetUp['kind'] {
  const { mode: before, hours: hoursBefore, escalation: escalationBefore } = existing;
  if (!isDeepStrictEqual([before, hoursBefore, escalationBefore], [mode, hours, escalation]))
    return 'changed';
  return existing.state.kind === 'paused' ? 'resumed' : 'same';
}

/**
 * Starts to watch from now on, without a call to the service. Earlier events are not news. A watch with the same
 * id moves.
 */
export function addWatch(
  workspace: Workspace,
  requested: Omit<Watch, 'kind' | 'createdAt' | 'state'>,
): Promise<Watch> {
  const { clock, feeds, schedules, store } = workspace;
  return store.exclusive(SCHEDULES_LOCK, async () => {
    const watch: Watch = { ...requested, kind: 'watch', createdAt: clock.now(), state: ACTIVE };
    const isFollowed = (await listFollowers(workspace, 'watch', watch)).some(isActive);
    await feeds.update('watch', watch, (current) =>
      current !== undefined && isFollowed ? current : newFeed(watch, clock.now()),
    );
    await planSettling(workspace);
    await schedules.put(watch);
    await endUnwatched(workspace);
    await startPolling(workspace, ACTIVITY, watch);
    return watch;
  });
}

/**
 * Returns undefined if the watch was removed; 'taken' if another watch of the channel has the project and server.
 * @param expectSame throws if the watch must not be changed any more
 */
export function editWatch(
  workspace: Workspace,
  { id, channel, account }: Watch,
  choices: WatchChoices,
  expectSame: (current: Watch) => void,
): Promise<Watch | 'taken' | undefined> {
  const { schedules, store } = workspace;
  return store.exclusive(SCHEDULES_LOCK, async () => {
    const current = await schedules.get('watch', id);
    if (current !== undefined) expectSame(current);
    const isTaken = (await schedules.list('watch')).some(
      (one) =>
        one.id !== id &&
        one.channel === channel &&
        one.account === account &&
        isSameSubject(one, { person: undefined, ...choices }),
    );
    return isTaken ? 'taken' : changeLocked(workspace, id, choices);
  });
}

/** Changes a watch, even if another one of the channel has the project and server. Returns undefined if it was removed. */
export function changeWatch(
  workspace: Workspace,
  id: string,
  change: Partial<Watch>,
): Promise<Watch | undefined> {
  return workspace.store.exclusive(SCHEDULES_LOCK, () => changeLocked(workspace, id, change));
}

/** Call it within `SCHEDULES_LOCK`. */
async function changeLocked(
  workspace: Workspace,
  id: string,
  change: Partial<Watch>,
): Promise<Watch | undefined> {
  await planSettling(workspace);
  const changed = await workspace.schedules.change({ kind: 'watch', id }, (watch) => ({
    ...watch,
    ...change,
  }));
  await endUnwatched(workspace);
  await replanEscalations(workspace, { id });
  return changed;
}

/** Reads the feed before a person resumes a watch. @returns stores the answer */
export async function prepareWatch(workspace: Workspace, watch: Watch): Promise<() => Promise<void>> {
  const account = await workspace.accounts.resolve(SCHEDULES, watch.account);
  const page = await readFeed(workspace, account);
  const context = pageContext(workspace, await workspace.names.mentions(account.name));
  return async () => {
    const existing = await workspace.schedules.get('watch', watch.id);
    if (existing !== undefined) await keepPage(workspace, watch, page, existing, context);
  };
}

function isActive({ state }: Watch): boolean {
  return state.kind === 'active';
}

/** Stores a page of the feed for a watch that starts or resumes. */
async function keepPage(
  workspace: Workspace,
  place: FeedPlace,
  page: FeedPage,
  watch: Watch | undefined,
  context: PageContext,
): Promise<void> {
  await workspace.feeds.update('watch', place, async (current) => {
    const all = await listFollowers(workspace, 'watch', place);
    const feed = current === undefined || all.length === 0 ? newFeed(place, context.now) : current;
    return withPage(feed, all.filter(isActive), page, { watch, context });
  });
}

/** Other watches still get their news. A channel that a person paused starts over; any other catches up. */
function withPage(
  feed: ActivityFeed,
  active: readonly Watch[],
  page: FeedPage,
  { watch, context }: { watch: Watch | undefined; context: PageContext },
): ActivityFeed {
  const isAnew = watch?.state.kind !== 'paused' || watch.state.cause === 'person';
  const isResumed = watch?.state.kind === 'paused' && isAnew;
  const backlog = isResumed ? without(feed.backlog, watch.id) : feed.backlog;
  if (active.length > 0) return afterPage({ ...feed, backlog }, active, page, context);
  if (isAnew) return { ...fromPage(feed, page, context.now), pending: [] };
  return afterPage(feed, [watch], page, context);
}
