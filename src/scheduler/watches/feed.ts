import { isDeepStrictEqual } from 'node:util';
import { isSameProject, type ProjectRef, toProjectRef } from '../../core/project-ref.ts';
import { MINUTE_MS } from '../../core/time/clock.ts';
import { type Account, SCHEDULES } from '../../records/accounts.ts';
import type { FeedCursor } from '../../records/feed-cursor.ts';
import {
  type ActivityFeed,
  afterUnread,
  type FeedKind,
  type FeedOf,
  type HeardFeed,
  NOTHING_WAITS,
} from '../../records/feeds.ts';
import { isQuietFor, listQuiets } from '../../records/quiets.ts';
import type { FeedPlace, Watch } from '../../records/schedules.ts';
import type { FindMentioned, Mentions } from '../../records/service-people.ts';
import { type ActivityEvent, getActivity, MAX_EVENTS, readEventTime } from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import { storePresentNames } from '../../workspace/present-names.ts';
import { keepActivity } from '../../workspace/read-activity.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { readFindMentioned } from '../episodes/standing-failure.ts';
import { postPending } from '../schedules/outbox.ts';
import { type PageContext, pageContext, planPoll, type Source } from '../schedules/polling.ts';
import { notePushes } from './arrivals.ts';
import { afterEntries, isQuiet } from './channel-news.ts';
import { createNewsFinder, type FeedPage, type NewsFinder } from './find-news.ts';
import { followRenamed } from './renames.ts';

const INTERVAL_MS = 60_000;
/** API 4.9 (docs/service-api.md). Seven days, so that neither time zones nor a pause of Deckhand hide an event. */
const RANGE = 'last_7_days';

export const ACTIVITY: Source<'watch', FeedPage> = {
  kind: 'watch',
  keyUse: SCHEDULES,
  queue: 'watch-activity',
  postQueue: 'post-watch-news',
  isForAll: true,
  intervalMs: ({ config }) => config.NOTICE_INTERVAL_MS ?? INTERVAL_MS,
  longestIntervals: 10,
  async fetch(client, signal) {
    const skipped: SkippedRows[] = [];
    const poll = signal === undefined ? {} : { signal, retries: 0 };
    const { events, unread } = await getActivity(
      client,
      { range: RANGE, keepTwins: true },
      { skipped, ...poll },
    );
    return { events, skipped, ...(unread === undefined ? {} : { unread }) };
  },
  takePage: tellChannels,
  async onRead(workspace, { account, active: watches, page, pushed }) {
    const { events } = page ?? {};
    if (watches.length === 0) return choosePause(events ?? [], workspace.clock.now());
    return notePushes(workspace, { account, watches, events, pushed }, ACTIVITY.intervalMs(workspace));
  },
};

/** Pauses between two reads that nobody waits for. The shorter ones are for accounts whose feed of 100 events rolls over sooner. */
const PAUSES_MS = [15, 8, 4, 2, 1].map((minutes) => minutes * MINUTE_MS);
const [IDLE_MS = MINUTE_MS, ...BUSY_MS] = PAUSES_MS;

/** The longest pause in which half a feed of events fits, at the pace of the latest ones. */
function choosePause(events: readonly ActivityEvent[], now: number): number {
  const oldest = events.map(readEventTime).toSorted((one, other) => other - one)[MAX_EVENTS / 2];
  if (oldest === undefined || now - oldest >= IDLE_MS) return IDLE_MS;
  return BUSY_MS.find((pauseMs) => pauseMs <= now - oldest) ?? MINUTE_MS;
}

/** Plans polls of all accounts with a shared key that works, so that the ledger misses none of their events. Safe to repeat. */
export async function planFeedReads(workspace: Workspace): Promise<void> {
  for (const { name, purpose, state } of await workspace.accounts.list())
    if (purpose === 'shared' && state === 'ok')
      await planPoll(workspace, ACTIVITY, name, 0, { failures: 0, pauseMs: IDLE_MS });
}

/** Reads the feed for a person who waits. @throws AccountFailure if the service does not show the feed */
export async function readFeed({ accounts, ledger }: Workspace, account: Account): Promise<FeedPage> {
  const page = await accounts.use(account, (client) => ACTIVITY.fetch(client));
  await keepActivity({ ledger }, account, page);
  return page;
}

/**
 * Puts a page into the ledger, then tells each channel what it has not heard of. Only channels with news are read and written. After a
 * kill in between, the next page has it all told: the channels' positions say to whom.
 */
async function tellChannels(
  workspace: Workspace,
  account: string,
  page: FeedPage,
  watches: readonly Watch[],
): Promise<void> {
  const { clock, feeds, ledger } = workspace;
  const next = await ledger.take(account, page);
  const stored = await feeds.getHeard(account);
  if (stored === undefined && watches.length === 0) return;
  const byChannel = Map.groupBy(watches, ({ channel }) => channel);
  const before = stored ?? (await beginHearing(workspace, account, [...byChannel.keys()], next));
  const { unread } = afterUnread(before.unread, page.skipped ?? [], clock.now());
  const after: HeardFeed = { ...before, next, channels: [...byChannel.keys()], unread };
  const isChanged = stored === undefined || JSON.stringify(after) !== JSON.stringify(stored);
  const haveHours = watches.some(({ hours }) => hours !== undefined);
  if (!isChanged && !haveHours) return;
  await stopHearing(workspace, before, after);
  const finder = await createNewsFinder(workspace, before, page);
  if (finder.fresh.length > 0) await storeNames(workspace, account, watches, finder.fresh);
  const mentions = await workspace.names.mentions(account);
  const findMentioned = await readFindMentioned(workspace, account, watches);
  for (const [channel, own] of byChannel) {
    const isCalled = !before.channels.includes(channel) || unread !== before.unread;
    if (isCalled || own.some(({ hours }) => hours !== undefined) || (await finder.hasNews(own, mentions)))
      await tellChannel(workspace, { channel, account }, own, {
        finder,
        mentions,
        findMentioned: findMentioned(channel),
      });
  }
  if (isChanged) await feeds.putHeard({ ...after, next: finder.next });
}

/** Nobody was told yet. @param next number after the last entry of the ledger */
async function beginHearing(
  { feeds }: Workspace,
  account: string,
  channels: readonly string[],
  next: number,
): Promise<HeardFeed> {
  const own = await Promise.all(channels.map((channel) => feeds.get('watch', { channel, account })));
  const positions = own.flatMap((feed) => feed?.position ?? []);
  return { kind: 'account', account, next: Math.min(next, ...positions), channels: [] };
}

/** The feed with a position that does not lag. @param heard of its account */
export function atPresent<F extends FeedOf<FeedKind>>(feed: F, heard: HeardFeed | undefined): F {
  if (feed.kind !== 'watch' || heard?.channels.includes(feed.channel) !== true) return feed;
  return { ...feed, position: Math.max(feed.position, heard.next) };
}

/** Stores how far channels have heard in which nothing follows the account any more. */
async function stopHearing({ feeds }: Workspace, before: HeardFeed, after: HeardFeed): Promise<void> {
  const { account, channels } = before;
  const present = new Set(after.channels);
  for (const channel of channels.filter((one) => !present.has(one)))
    await feeds.update('watch', { channel, account }, (feed) => feed && atPresent(feed, before));
}

/** Stores the channel's position and the news in one write, then sends the jobs that post them. */
async function tellChannel(
  workspace: Workspace,
  place: FeedPlace,
  watches: readonly Watch[],
  { finder, ...people }: { finder: NewsFinder; mentions: Mentions; findMentioned: FindMentioned },
): Promise<void> {
  const { feeds, schedules } = workspace;
  // The ids of its batches are its own: a job or a message with the id of another channel's would be left out.
  const quiet = { isQuiet: await createQuietCheck(workspace, place) };
  const context = pageContext(workspace, { ...people, ...quiet });
  const tell = async (feed: ActivityFeed, own: readonly Watch[]): Promise<ActivityFeed> =>
    afterEntries(feed, own, await finder.find(feed, own), context);
  const feed = await feeds.get('watch', place);
  if (feed === undefined) return;
  // A kill may have left a batch without its job.
  if (isQuiet(feed, await tell(feed, watches))) return postPending(workspace, ACTIVITY, feed);
  const changed = await feeds.update('watch', place, async (current) => {
    const present = await Promise.all(watches.map(({ id }) => schedules.get('watch', id)));
    const active = present.filter((one) => one !== undefined).filter(({ state }) => state.kind === 'active');
    return current && active.length > 0 ? tell(current, active) : current;
  });
  await postPending(workspace, ACTIVITY, changed);
}

async function createQuietCheck(
  { clock, store }: Workspace,
  { channel, account }: FeedPlace,
): Promise<PageContext['isQuiet']> {
  const quiets = await listQuiets(store, channel, clock.now());
  return (event) =>
    quiets.some((quiet) => isQuietFor(quiet, { account, project: event?.project ?? undefined }));
}

/** The feed after all that the ledger has. Its news are still to be posted. @param watches those that hear of it */
export async function catchUp(
  workspace: Workspace,
  feed: ActivityFeed,
  watches: readonly Watch[],
): Promise<ActivityFeed> {
  const { account } = feed;
  const { position: next } = feed;
  const before = (await workspace.feeds.getHeard(account)) ?? {
    kind: 'account',
    account,
    next,
    channels: [],
  };
  const finder = await createNewsFinder(workspace, before);
  const context = pageContext(workspace, {
    mentions: await workspace.names.mentions(account),
    findMentioned: (await readFindMentioned(workspace, account))(feed.channel),
    isQuiet: await createQuietCheck(workspace, feed),
  });
  return afterEntries(feed, watches, await finder.find(feed, watches), context);
}

/** A feed whose channel has heard of all entries before a number, and of what a cursor has passed. */
export function newFeed(
  { channel, account }: FeedPlace,
  position: number,
  cursor?: FeedCursor,
): ActivityFeed {
  const nothing = { waiting: NOTHING_WAITS, announced: [], pending: [] };
  const begun = cursor === undefined ? {} : { begun: { cursor, lines: [] } };
  return { kind: 'watch', channel, account, position, ...begun, ...nothing };
}

/** Stores the present names of people and projects. */
async function storeNames(
  workspace: Workspace,
  account: string,
  watches: readonly Watch[],
  fresh: NewsFinder['fresh'],
): Promise<void> {
  const events = fresh.map(({ event }) => event);
  const present = listPresentNames(watches, events);
  if (present.length > 0) await storePresentNames(workspace, account, present);
  await followRenamed(workspace, account, watches, events);
}

/** The present names of the projects of watches, taken from the newest events. */
function listPresentNames(watches: readonly Watch[], fresh: readonly ActivityEvent[]): ProjectRef[] {
  return watches.flatMap(({ project }) => {
    const newest = fresh.findLast(
      (event) => project !== undefined && event.project?.name && isSameProject(event.project, project),
    )?.project;
    if (project === undefined || !newest) return [];
    const permalink = newest.permalink || project.permalink;
    const present = toProjectRef({ identifier: newest.identifier, permalink, name: newest.name });
    return isDeepStrictEqual({ ...project, ...present }, project) ? [] : [present];
  });
}
