import { isDeepStrictEqual } from 'node:util';
import { type Account, SCHEDULES } from '../../records/accounts.ts';
import { cursorAfter } from '../../records/feed-cursor.ts';
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
import { listFollowers } from '../schedules/outbox.ts';
import { expectRoomForSchedule } from '../schedules/pause-schedule.ts';
import { startPolling } from '../schedules/polling.ts';
import { withoutWaiting } from './channel-news.ts';
import { ACTIVITY, catchUp, newFeed, readFeed } from './feed.ts';
import type { FeedPage } from './find-news.ts';
import { endUnwatched, planSettling } from './switch-push.ts';

export type WatchChoices = Pick<Watch, 'mode' | 'project' | 'pattern' | 'server' | 'hours' | 'escalation'>;

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
  const { channel, account: key, project, pattern, server, person, requestId } = requested;
  const { clock, schedules, store } = workspace;
  const page = await readFeed(workspace, key);
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
    const choices = { project, pattern, server, ...completeChoices(requested, existing) };
    // A person has one personal watch for each account.
    if (existing === undefined && person === undefined) await expectRoomForSchedule(workspace, channel);
    await beginWatch(workspace, { channel, account }, page, existing);
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
  const { clock, schedules, store } = workspace;
  return store.exclusive(SCHEDULES_LOCK, async () => {
    const watch: Watch = { ...requested, kind: 'watch', createdAt: clock.now(), state: ACTIVE };
    await beginWatch(workspace, watch, undefined, undefined);
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
  const page = await readFeed(workspace, await workspace.accounts.resolve(SCHEDULES, watch.account));
  return async () => {
    const existing = await workspace.schedules.get('watch', watch.id);
    if (existing !== undefined) await beginWatch(workspace, watch, page, existing);
  };
}

function isActive({ state }: Watch): boolean {
  return state.kind === 'active';
}

/**
 * Stores where the channel is as a watch starts or resumes. Other watches still get their news. A channel that a person paused starts
 * over; any other catches up.
 * @param page undefined if the feed was not read: earlier events are no news then
 */
async function beginWatch(
  workspace: Workspace,
  { channel, account }: FeedPlace,
  page: FeedPage | undefined,
  watch: Watch | undefined,
): Promise<void> {
  const { clock, feeds, ledger } = workspace;
  const place = { channel, account };
  const now = clock.now();
  const cursor = page
    ? cursorAfter(page.events, now, page.unread)
    : { recentMarks: [], floor: now, lookedAt: now };
  const anew = newFeed(place, await ledger.next(account), cursor);
  const isAnew = watch?.state.kind !== 'paused' || watch.state.cause === 'person';
  await feeds.update('watch', place, async (current) => {
    const all = await listFollowers(workspace, 'watch', place);
    const active = all.filter(isActive);
    if (current === undefined || all.length === 0) return anew;
    if (active.length > 0) {
      const isResumed = watch?.state.kind === 'paused' && isAnew;
      return catchUp(workspace, isResumed ? withoutWaiting(current, watch.id) : current, active);
    }
    if (isAnew) return { ...anew, announced: current.announced, unread: current.unread };
    return catchUp(workspace, current, [watch]);
  });
}
