import { z } from 'zod';
import type { Message } from '../core/message.ts';
import { DAY_MS } from '../core/time/clock.ts';
import type { SkippedRows } from '../service/call.ts';
import type { WorkspaceStore } from '../store/store.ts';
import { Outcome, Subject } from './episodes.ts';
import { FeedCursor } from './feed-cursor.ts';
import { type FeedPlace, feedPlace } from './schedules.ts';

export const StoredMessage = z.custom<Message>(
  (value) => typeof value === 'object' && value !== null && 'text' in value && 'blocks' in value,
);

/** News to post in a channel. Stored in one write with the feed's cursor. */
export const Batch = z.object({
  /** The same for each attempt, so that Deckhand posts it once. */
  id: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Undefined if all news belong to an episode. */
  root: StoredMessage.optional(),
  replies: z.array(StoredMessage),
  /** Failures and successes for the episode of the subject, oldest first. */
  episode: z.object({ subject: Subject, outcomes: z.array(Outcome) }).optional(),
  /** Size for lists: "3 events". */
  what: z.string(),
  /** Ids of the schedules that follow these news. */
  for: z.array(z.string()),
});
export interface Batch extends z.infer<typeof Batch> {}

/**
 * Number of unreadable entries that the channel was last told about. It is told again when there are more. A
 * lower number counts after a day, because unreadable entries come and go.
 */
export const ReportedUnread = z.object({ count: z.number(), at: z.number() });
export interface ReportedUnread extends z.infer<typeof ReportedUnread> {}

/**
 * Decides whether to tell a channel about unreadable entries, and returns the new record. Pure.
 * @param now milliseconds since the epoch
 */
export function afterUnread(
  reported: ReportedUnread | undefined,
  skipped: readonly SkippedRows[],
  now: number,
): { unread?: ReportedUnread; isNews: boolean } {
  const count = skipped.reduce((sum, rows) => sum + rows.count, 0);
  const reportedCount = reported?.count ?? 0;
  if (count > reportedCount) return { unread: { count, at: now }, isNews: true };
  if (reported === undefined) return { isNews: false };
  const isOld = count < reportedCount && now - reported.at > DAY_MS;
  return { unread: isOld ? { count, at: now } : reported, isNews: false };
}

/**
 * Failing servers of each project that the channel's watches follow, with the time of their latest failure
 * (milliseconds since the epoch). The name is empty if the event names no server.
 */
const Failing = z.record(z.string(), z.array(z.object({ server: z.string(), at: z.number() })));
export type Failing = z.infer<typeof Failing>;

/** An event, ready to post. */
const BacklogLine = z.object({
  kind: z.string(),
  /** Mrkdwn. */
  line: z.string(),
  /** Ids of the watches that follow the event. */
  for: z.array(z.string()),
  /** Set if the event belongs to an episode. */
  outcome: Outcome.omit({ lines: true })
    .extend({ project: z.string(), name: z.string(), permalink: z.string().optional() })
    .optional(),
});
export interface BacklogLine extends z.infer<typeof BacklogLine> {}

/** Events that wait for the working hours of a watch. */
export const Backlog = z.object({
  /** Oldest first. */
  lines: z.array(BacklogLine),
  /** Number of older lines that were dropped to save space. */
  dropped: z.number(),
  /** True if the feed may have held more events than the service listed. */
  isTruncated: z.boolean(),
});
export interface Backlog extends z.infer<typeof Backlog> {}

export const EMPTY_BACKLOG: Backlog = { lines: [], dropped: 0, isTruncated: false };

const Common = z.object({
  channel: z.string(),
  account: z.string(),
  /** The number of unreadable entries that the channel was told about. */
  unread: ReportedUnread.optional(),
  /** Oldest first. */
  pending: z.array(Batch),
});

/**
 * The activity of an account for a channel. The channel's watches share one cursor, so that it posts an event
 * once.
 */
export const ActivityFeed = Common.extend({
  kind: z.literal('watch'),
  cursor: FeedCursor,
  failing: Failing,
  backlog: Backlog,
  /** Servers whose creation Deckhand announces in the channel by itself, by `announcedServer`. */
  announced: z.array(z.string()),
});
export interface ActivityFeed extends z.infer<typeof ActivityFeed> {}

/** Known invoices of the account, by number, so that each piece of news is posted once. */
export const KnownInvoices = z.object({
  /** Invoices that were paid at the first poll, or whose payment was posted. */
  settled: z.array(z.number()),
  /** `reminded`: the days after which the latest reminder was due. */
  unpaid: z.array(z.object({ number: z.number(), reminded: z.number() })),
});
export interface KnownInvoices extends z.infer<typeof KnownInvoices> {}

export const InvoiceFeed = Common.extend({
  kind: z.literal('invoices'),
  /** Undefined until the invoices have been read once. */
  knownInvoices: KnownInvoices.optional(),
});
export interface InvoiceFeed extends z.infer<typeof InvoiceFeed> {}

/**
 * Position of a channel in an account's feed. It remains after the last schedule is removed, so that "Undo"
 * catches up.
 */
export const Feed = z.discriminatedUnion('kind', [ActivityFeed, InvoiceFeed]);
export type Feed = z.infer<typeof Feed>;
export type FeedKind = Feed['kind'];

interface FeedByKind {
  watch: ActivityFeed;
  invoices: InvoiceFeed;
}
export type FeedOf<K extends FeedKind> = FeedByKind[K];

function isOfKind<K extends FeedKind>(feed: Feed, kind: K): feed is FeedOf<K> {
  return feed.kind === kind;
}

export function createFeeds(store: WorkspaceStore) {
  const collection = store.collection('feeds', Feed);
  return {
    async get<K extends FeedKind>(kind: K, place: FeedPlace): Promise<FeedOf<K> | undefined> {
      const feed = await collection.get(`${kind} ${feedPlace(place)}`);
      return feed !== undefined && isOfKind(feed, kind) ? feed : undefined;
    },
    async list<K extends FeedKind>(kind: K): Promise<FeedOf<K>[]> {
      const feeds = (await collection.list(`${kind} `)).map(({ doc }) => doc);
      return feeds.filter((feed) => isOfKind(feed, kind));
    },
    /** `change` gets undefined if no feed is stored, and returns undefined to store nothing. */
    async update<K extends FeedKind>(
      kind: K,
      place: FeedPlace,
      change: (current: FeedOf<K> | undefined) => FeedOf<K> | undefined | Promise<FeedOf<K> | undefined>,
    ): Promise<FeedOf<K> | undefined> {
      const changed = await collection.update(`${kind} ${feedPlace(place)}`, (current) =>
        change(current !== undefined && isOfKind(current, kind) ? current : undefined),
      );
      return changed !== undefined && isOfKind(changed, kind) ? changed : undefined;
    },
  };
}

export type Feeds = ReturnType<typeof createFeeds>;

export function announcedServer(project: string, server: string): string {
  return `${project}/${server}`;
}

/** Watches do not repeat the creation of a server that Deckhand announces in the channel itself. */
export async function setAnnounced(
  feeds: Feeds,
  place: FeedPlace,
  server: string,
  isAnnounced: boolean,
): Promise<void> {
  await feeds.update('watch', place, (current) => {
    const others = current?.announced.filter((one) => one !== server) ?? [];
    return current && { ...current, announced: isAnnounced ? [...others, server] : others };
  });
}
