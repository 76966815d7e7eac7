import type { ActivityEvent } from '../../service/activity.ts';
import { newsCount, watchMessages } from '../../views/watches/news.ts';
import type { Batch } from '../../workspace/outbox-batch.ts';
import type { WatchedChannel } from '../../workspace/watches.ts';
import { advance, cursorAfter } from './feed-cursor.ts';
import { follow, select } from './news.ts';

export function isActive({ watches }: WatchedChannel): boolean {
  return watches.some(({ state }) => state.kind === 'active');
}

export interface PageContext {
  /** Milliseconds since the epoch. */
  now: number;
  /** The id of a batch that may come of it. */
  batch: string;
  /** The slash word. */
  word: string;
}

/** The channel after a page of the feed: its place moved, and what its watches are for pending. Pure. */
export function afterPage(
  channel: WatchedChannel,
  events: readonly ActivityEvent[],
  { now, batch: id, word }: PageContext,
): WatchedChannel {
  const { place, fresh, isCut } = advance(channel.place, events, now);
  const { standing, turns } = follow(channel.standing, fresh);
  const watches = channel.watches.filter(({ state }) => state.kind === 'active');
  const selected = select(watches, fresh, turns);
  const next = { ...channel, place, standing };
  // Where some are missing, those that were watched for may be among them.
  if (selected.news.length === 0 && !isCut) return next;
  const ids = (isCut ? watches : selected.for).map((watch) => watch.id);
  const told = { account: channel.account, news: selected.news, isCut, ids, word };
  const batch: Batch = { id, at: now, ...watchMessages(told), what: newsCount(told), for: ids };
  return { ...next, pending: [...channel.pending, batch] };
}

/** The channel as if it had just begun to watch: nothing of the page is news. Pure. */
export function fromPage(
  channel: WatchedChannel,
  events: readonly ActivityEvent[],
  now: number,
): WatchedChannel {
  const place = cursorAfter(events, now);
  return { ...channel, place, standing: follow({}, events.toReversed()).standing };
}

/** Nothing watches the channel yet. */
export function newChannel(channel: string, account: string): WatchedChannel {
  const place = { seen: [], floor: null, lookedAt: 0 };
  return { channel, account, place, standing: {}, watches: [], pending: [] };
}
