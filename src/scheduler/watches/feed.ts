import { type Activity, getActivity } from '../../service/activity.ts';
import { newsCount, watchMessages } from '../../views/watches/news.ts';
import type { Account } from '../../workspace/accounts.ts';
import type { Batch } from '../../workspace/outbox-batch.ts';
import { type WatchedChannel, watchedChannels } from '../../workspace/watches.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Feed, PageContext } from '../schedules/poll-account.ts';
import { advance, cursorAfter } from './feed-cursor.ts';
import { follow, select } from './news.ts';

const INTERVAL_MS = 60_000;
/** The cursor is stored at least this often, so that it says roughly when the feed was read. */
const LONGEST_UNSTORED_MS = 3_600_000;
/** API 4.9 (docs/service-api.md): seven days, so that neither a midnight elsewhere nor a pause of ours hides an event. */
const RANGE = 'last_7_days';

/** The activity of an account, polled once a minute. */
export const WATCH_FEED: Feed<WatchedChannel, Activity> = {
  interval: {
    queue: 'watch-activity',
    intervalMs: ({ config }) => config.NOTICE_INTERVAL_MS ?? INTERVAL_MS,
    longestIntervals: 10,
  },
  outbox: {
    queue: 'post-watch-news',
    metric: 'watch',
    collection: watchedChannels,
    isActive,
    withResult: (channel, batch, last) => ({
      ...channel,
      watches: channel.watches.map((watch) => (batch.for.includes(watch.id) ? { ...watch, last } : watch)),
    }),
  },
  fetch: (client, signal) =>
    getActivity(client, { range: RANGE }, signal === undefined ? {} : { signal, retries: 0 }),
  after: afterPage,
  hasMoved: (before, after) =>
    after.pending.length !== before.pending.length ||
    after.place.floor !== before.place.floor ||
    after.place.seen.length !== before.place.seen.length ||
    after.place.seen[0]?.[0] !== before.place.seen[0]?.[0] ||
    after.place.lookedAt - before.place.lookedAt > LONGEST_UNSTORED_MS,
};

/** For a person who waits. @throws AccountFailure where the service does not show the feed */
export async function readFeed({ accounts }: Workspace, account: Account): Promise<Activity> {
  return accounts.use(account, (client) => WATCH_FEED.fetch(client));
}

export function isActive({ watches }: WatchedChannel): boolean {
  return watches.some(({ state }) => state.kind === 'active');
}

/** A page of the feed as a watch reads it. */
export type FeedPage = Pick<Activity, 'events' | 'unread'>;

/** The channel after a page of the feed: its cursor moved, and what its watches ask for pending. Pure. */
export function afterPage(
  channel: WatchedChannel,
  { events, unread }: FeedPage,
  { now, batch: id, word }: PageContext,
): WatchedChannel {
  const { place, fresh, isCut } = advance(channel.place, events, now, unread);
  const { standing, turns } = follow(channel.standing, fresh);
  const watches = channel.watches.filter(({ state }) => state.kind === 'active');
  const selected = select(watches, fresh, turns);
  const next = { ...channel, place, standing };
  // Events that are missing may be among those that were watched for.
  if (selected.news.length === 0 && !isCut) return next;
  const ids = (isCut ? watches : selected.for).map((watch) => watch.id);
  const found = { account: channel.account, news: selected.news, isCut, ids, word };
  const batch: Batch = { id, at: now, ...watchMessages(found), what: newsCount(found), for: ids };
  return { ...next, pending: [...channel.pending, batch] };
}

/** The channel as if it had just begun to watch: nothing of the page is news. Pure. */
export function fromPage(channel: WatchedChannel, { events, unread }: FeedPage, now: number): WatchedChannel {
  const place = cursorAfter(events, now, unread);
  return { ...channel, place, standing: follow({}, events.toReversed()).standing };
}

/** A channel without watches. */
export function newChannel(channel: string, account: string): WatchedChannel {
  const place = { seen: [], floor: null, lookedAt: 0 };
  return { channel, account, place, standing: {}, watches: [], pending: [] };
}
