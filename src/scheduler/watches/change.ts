import { randomUUID } from 'node:crypto';
import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { type ActivityEvent, getActivity } from '../../service/activity.ts';
import type { Account } from '../../workspace/accounts.ts';
import { SCHEDULES_LOCK } from '../../workspace/schedules.ts';
import {
  changeWatch,
  freeWatchId,
  listWatches,
  type PlacedWatch,
  type Watch,
  type WatchedChannel,
  watchedChannelId,
  watchedChannels,
} from '../../workspace/watches.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { postPending } from '../schedules/outbox.ts';
import { ensurePolling } from '../schedules/poller.ts';
import { WATCH_OUTBOX } from './outbox.ts';
import { WATCHED_RANGE } from './poll.ts';
import { WATCH_BEAT } from './schedule.ts';
import { afterPage, fromPage, isActive, newChannel } from './watched-channel.ts';

export interface AskedWatch {
  channel: string;
  account: Account;
  project: Watch['project'];
  mode: Watch['mode'];
  user: string;
  requestId: string;
}

/** What came of the wish: there is one watch a project and channel, whose mode may change. */
export type SetUp = { kind: 'new' | 'changed' | 'resumed' | 'same'; placed: PlacedWatch };

/** Begins to watch from now on, so the feed is read first. @throws AccountFailure where the service does not show it */
export async function setUpWatch(workspace: Workspace, asked: AskedWatch): Promise<SetUp> {
  const { channel, account } = asked;
  const events = await readFeed(workspace, account);
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const all = (await listWatches(workspace.store)).map(({ watch }) => watch);
    const made = newWatch(workspace, asked, freeWatchId(all, asked.requestId));
    const isSame = ({ project }: Watch): boolean => project?.permalink === made.project?.permalink;
    let kind: SetUp['kind'] = 'same';
    const id = watchedChannelId(channel, account.name);
    const changed = await watchedChannels(workspace.store).update(
      id,
      (current = newChannel(channel, account.name)) => {
        const standing = current.watches.find(isSame);
        kind = kindOf(standing, asked);
        const read = withPage(workspace, current, events, standing);
        return { ...read, watches: withWatch(read.watches, standing, made) };
      },
    );
    const placed = { watch: changed?.watches.find(isSame) ?? made, channel, account: account.name };
    await goOn(workspace, placed);
    return { kind, placed };
  });
}

/** A watch that was carried out again after a kill is as new as it was. */
function kindOf(standing: Watch | undefined, { mode, requestId }: AskedWatch): SetUp['kind'] {
  if (standing === undefined || standing.requestId === requestId) return 'new';
  if (standing.mode !== mode) return 'changed';
  return standing.state.kind === 'paused' ? 'resumed' : 'same';
}

function newWatch({ clock }: Workspace, { requestId, project, mode, user }: AskedWatch, id: string): Watch {
  const setUpAt = clock.now();
  return { id, requestId, project, mode, setUpBy: user, setUpAt, state: { kind: 'active' } };
}

function withWatch(watches: readonly Watch[], standing: Watch | undefined, made: Watch): Watch[] {
  if (standing === undefined) return [...watches, made];
  const { mode, state } = made;
  return watches.map((watch) => (watch.id === standing.id ? { ...watch, mode, state } : watch));
}

/**
 * Goes on with a paused watch: from now on where a person had paused it, else from where it was.
 * @throws AccountFailure where the service does not show the feed, UserError where the watch is gone
 */
export async function resumeWatch(
  workspace: Workspace,

  placed: PlacedWatch,
): Promise<PlacedWatch> {
  const { channel } = placed;
  const account = await workspace.accounts.resolve(placed.account, undefined);
  const events = await readFeed(workspace, account);
  const id = watchedChannelId(channel, account.name);
  const changed = await watchedChannels(workspace.store).update(id, (current) => {
    const standing = current?.watches.find((one) => one.id === placed.watch.id);
    if (current === undefined || standing === undefined) return current;
    const read = withPage(workspace, current, events, standing);
    return { ...read, watches: read.watches.map((one) => (one.id === standing.id ? resumed(one) : one)) };
  });
  const watch = changed?.watches.find((one) => one.id === placed.watch.id);
  if (watch === undefined) throw new UserError(`The watch ${code(placed.watch.id)} is gone.`, 'watch list');
  await goOn(workspace, placed);
  return { ...placed, watch };
}

function resumed(watch: Watch): Watch {
  return { ...watch, state: { kind: 'active' } };
}

/** @throws UserError where the watch is gone */
export async function pauseWatch(
  workspace: Workspace,
  placed: PlacedWatch,
  user: string,
): Promise<PlacedWatch> {
  const state = {
    kind: 'paused',
    cause: 'person',
    reason: 'until somebody resumes it',
    by: user,
    at: workspace.clock.now(),
  } as const;
  let watch: Watch | undefined;
  await changeWatch(workspace.store, placed, (current) => {
    watch = { ...current, state };
    return watch;
  });
  if (watch === undefined) throw new UserError(`The watch ${code(placed.watch.id)} is gone.`, 'watch list');
  return { ...placed, watch };
}

function readFeed(workspace: Workspace, account: Account): Promise<ActivityEvent[]> {
  return workspace.accounts.use(account, async (client) => {
    const { events } = await getActivity(client, { range: WATCHED_RANGE });
    return events;
  });
}

/**
 * The channel with its place moved over the page, for a watch that begins or goes on. What others watch for is still
 * told; a channel that was silent because a person wanted it begins anew, any other catches up.
 */
function withPage(
  { clock, config }: Workspace,
  channel: WatchedChannel,
  events: readonly ActivityEvent[],
  watch: Watch | undefined,
): WatchedChannel {
  const now = clock.now();
  const context = { now, batch: randomUUID(), word: config.SLACK_COMMAND };
  if (isActive(channel)) return afterPage(channel, events, context);
  const isAnew = watch?.state.kind !== 'paused' || watch.state.cause === 'person';
  if (isAnew) return { ...fromPage(channel, events, now), pending: [] };
  const { watches } = channel;
  const woken = watches.map((one) => (one.id === watch.id ? resumed(one) : one));
  return { ...afterPage({ ...channel, watches: woken }, events, context), watches };
}

/** What is pending is posted, and the rounds go on. */
async function goOn(workspace: Workspace, { channel, account }: PlacedWatch): Promise<void> {
  const id = watchedChannelId(channel, account);
  const standing = await watchedChannels(workspace.store).get(id);
  if (standing !== undefined) await postPending(workspace, WATCH_OUTBOX, id, standing.pending);
  await ensurePolling(workspace, WATCH_BEAT, account);
}
