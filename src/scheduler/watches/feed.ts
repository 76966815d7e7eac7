import { HOUR_MS } from '../../core/clock.ts';
import type { Account } from '../../records/accounts.ts';
import { afterUnread, type Batch } from '../../records/schedules.ts';
import { nameKey } from '../../records/service-names.ts';
import {
  type Kept,
  type KeptLine,
  NOTHING_KEPT,
  type Watch,
  type WatchedChannel,
  watchedChannels,
} from '../../records/watches.ts';
import { type Activity, type ActivityEvent, getActivity } from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import {
  newsCount,
  newsLine,
  type WatchedNews,
  type WatchNews,
  watchMessages,
} from '../../views/watches/news.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Feed, PageContext } from '../schedules/poll-account.ts';
import { advance, cursorAfter } from './feed-cursor.ts';
import { isOpen, keep, takeDue } from './kept.ts';
import { follow, select } from './news.ts';

const INTERVAL_MS = 60_000;
/** The cursor is stored at least this often, so that it says roughly when the feed was read. */
const MAX_UNSTORED_MS = HOUR_MS;
/** API 4.9 (docs/service-api.md): seven days, so that neither a midnight elsewhere nor a pause of ours hides an event. */
const RANGE = 'last_7_days';

/** The activity of an account, polled once a minute. */
export const WATCH_FEED: Feed<WatchedChannel, FeedPage> = {
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
  async fetch(client, signal) {
    const skipped: SkippedRows[] = [];
    const poll = signal === undefined ? {} : { signal, retries: 0 };
    const { events, unread } = await getActivity(client, { range: RANGE }, { skipped, ...poll });
    return { events, skipped, ...(unread === undefined ? {} : { unread }) };
  },
  after: afterPage,
  hasMoved: (before, after) =>
    after.pending.length !== before.pending.length ||
    after.kept.lines.length !== before.kept.lines.length ||
    after.kept.isCut !== before.kept.isCut ||
    after.unread?.at !== before.unread?.at ||
    after.place.floor !== before.place.floor ||
    after.place.seen.length !== before.place.seen.length ||
    after.place.seen[0]?.[0] !== before.place.seen[0]?.[0] ||
    after.place.lookedAt - before.place.lookedAt > MAX_UNSTORED_MS,
};

/** For a person who waits. @throws AccountFailure where the service does not show the feed */
export async function readFeed({ accounts }: Workspace, account: Account): Promise<FeedPage> {
  return accounts.use(account, (client) => WATCH_FEED.fetch(client));
}

export function isActive({ watches }: WatchedChannel): boolean {
  return watches.some(({ state }) => state.kind === 'active');
}

/** A page of the feed as a watch reads it. */
export type FeedPage = Pick<Activity, 'events' | 'unread'> & { skipped?: readonly SkippedRows[] };

/** The channel after a page of the feed: its cursor moved, and what its watches ask for pending or kept. Pure. */
export function afterPage(channel: WatchedChannel, page: FeedPage, context: PageContext): WatchedChannel {
  const { now } = context;
  const { place, fresh, isCut } = advance(channel.place, page.events, now, page.unread);
  const { standing, turns } = follow(channel.standing, fresh);
  const [open, closed] = openAndClosed(channel, now);
  const selected = select(open, fresh, turns);
  const posted = new Set(selected.news.map(({ event }) => event));
  const rest = fresh.filter((event) => !posted.has(event));
  const later = rest.flatMap((event) => linesFor(closed, event, turns, context));
  // Events that are missing may be among those that were watched for.
  const isCutForAll = isCut && open.length === 0;
  const { due, left } = takeDue(keep(channel.kept, later, isCutForAll && closed.length > 0), open);
  const { unread, isNews } = afterUnread(channel.unread, page.skipped ?? [], now);
  const isTold = isNews && open.length > 0;
  const told = isNews && !isTold ? channel.unread : unread;
  const next = { ...channel, place, standing, kept: left, unread: told };
  const found = {
    lines: selected.news.map((news) => newsLine(news, mentionedIn(context))),
    isCut: isCut && open.length > 0,
    skipped: isTold ? (page.skipped ?? []) : [],
    ids: (isCut || isTold ? open : selected.for).map(({ id }) => id),
  };
  const batches = [
    ...batchOf(channel, `${context.batch} kept`, keptNews(due, open), context),
    ...batchOf(channel, context.batch, found, context),
  ];
  return batches.length === 0 ? next : { ...next, pending: [...channel.pending, ...batches] };
}

function openAndClosed({ watches }: WatchedChannel, now: number): [Watch[], Watch[]] {
  const active = watches.filter(({ state }) => state.kind === 'active');
  return [active.filter((watch) => isOpen(watch, now)), active.filter((watch) => !isOpen(watch, now))];
}

function mentionedIn({ mentions }: PageContext): (name: string) => string | undefined {
  return (name) => mentions.get(nameKey(name));
}

/** The event in words for those watches that ask for it; none where none does. */
function linesFor(
  watches: readonly Watch[],
  event: ActivityEvent,
  turns: ReadonlyMap<ActivityEvent, WatchNews['turn']>,
  context: PageContext,
): KeptLine[] {
  const selected = select(watches, [event], turns);
  const ids = selected.for.map(({ id }) => id);
  return selected.news.map((news) => ({ ...newsLine(news, mentionedIn(context)), for: ids }));
}

type FoundNews = Omit<WatchedNews, 'account' | 'word'>;

/** None where there is nothing to say. */
function batchOf(
  { account }: WatchedChannel,
  id: string,
  news: FoundNews,
  { now: at, word }: PageContext,
): Batch[] {
  const { lines, isCut, skipped = [], ids } = news;
  if (lines.length === 0 && !isCut && skipped.length === 0) return [];
  const messages = watchMessages({ ...news, account, word });
  return [{ id, at, ...messages, what: newsCount(news), for: [...ids] }];
}

/** What was kept until now, as one summary for the watches that asked for some of it. */
function keptNews({ lines, dropped, isCut }: Kept, open: readonly Watch[]): FoundNews {
  const owed = open.filter(({ id }) => isCut || lines.some((line) => line.for.includes(id)));
  return { lines, isCut, ids: owed.map(({ id }) => id), kept: { dropped } };
}

/** The channel as if it had just begun to watch: nothing of the page is news. Pure. */
export function fromPage(channel: WatchedChannel, { events, unread }: FeedPage, now: number): WatchedChannel {
  const place = cursorAfter(events, now, unread);
  const standing = follow({}, events.toReversed()).standing;
  return { ...channel, place, standing, kept: NOTHING_KEPT };
}

/** A channel without watches. */
export function newChannel(channel: string, account: string): WatchedChannel {
  const place = { seen: [], floor: null, lookedAt: 0 };
  return { channel, account, place, standing: {}, watches: [], kept: NOTHING_KEPT, pending: [] };
}
