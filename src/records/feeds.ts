import { z } from 'zod';
import { isObject } from '../core/json.ts';
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
  /** Successful deployments, a line each; mrkdwn. They go into the channel's message of its latest ones. */
  successes: z.array(z.string()).optional(),
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

/** An event, ready to post. */
const NewsItem = z.object({
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
export interface NewsItem extends z.infer<typeof NewsItem> {}

/** Events that wait for the working hours of a watch. */
const Waiting = z.object({
  /** Numbers of entries in the ledger, oldest first, and the ids of the watches that follow each. */
  entries: z.array(z.object({ number: z.number(), for: z.array(z.string()) })),
  /** Number of older ones that were dropped to save space. */
  dropped: z.number(),
  /** True if the feed may have held more events than the service listed. */
  isTruncated: z.boolean(),
});
export interface Waiting extends z.infer<typeof Waiting> {}

export const NOTHING_WAITS: Waiting = { entries: [], dropped: 0, isTruncated: false };

/** One message about successful deployments, which later ones edit. */
const SuccessMessage = z.object({
  /** Names the post. */
  id: z.string(),
  /** Milliseconds since the epoch. */
  beganAt: z.number(),
  /** Mrkdwn. */
  lines: z.array(z.string()),
  /** Number of lines that Slack shows. */
  visible: z.number(),
  ts: z.string().optional(),
});
export interface SuccessMessage extends z.infer<typeof SuccessMessage> {}

const Common = z.object({
  channel: z.string(),
  account: z.string(),
  /** The number of unreadable entries that the channel was told about. */
  unread: ReportedUnread.optional(),
  /** Oldest first. */
  pending: z.array(Batch),
});

/** The activity of an account for a channel. The channel's watches share one position, so that it posts an event once. */
export const ActivityFeed = Common.extend({
  kind: z.literal('watch'),
  /** Number of the first entry of the ledger that the channel may not have heard of. */
  position: z.number(),
  /** Knowledge of the channel besides, until it is told. */
  begun: z
    .object({
      /** Events that it has heard of, or that are older than its first watch. */
      cursor: FeedCursor.optional(),
      /** Events that waited for working hours before the ledger had them. */
      lines: z.array(NewsItem),
    })
    .optional(),
  waiting: Waiting,
  successes: z
    .object({
      /** Ids of pending batches whose lines the messages have. */
      batches: z.array(z.string()),
      /** Messages with lines to post, and the latest one, which gets the next lines. Oldest first. */
      messages: z.array(SuccessMessage),
    })
    .optional(),
  /** Servers whose creation Deckhand announces in the channel by itself, by `announcedServer`. */
  announced: z.array(z.string()),
});
export interface ActivityFeed extends z.infer<typeof ActivityFeed> {}

/** Known invoices of the account, by number, so that each piece of news is posted once. */
export const KnownInvoices = z.object({
  /** Invoices with nothing to pay: paid at the first poll, their payment was posted, or credit notes. */
  settled: z.array(z.number()),
  /** `reminded`: the days after which the latest reminder was due. `since`: when it was unpaid again. */
  unpaid: z.array(z.object({ number: z.number(), reminded: z.number(), since: z.number().optional() })),
});
export interface KnownInvoices extends z.infer<typeof KnownInvoices> {}

export const InvoiceFeed = Common.extend({
  kind: z.literal('invoices'),
  /** Undefined until the invoices have been read once. */
  knownInvoices: KnownInvoices.optional(),
});
export interface InvoiceFeed extends z.infer<typeof InvoiceFeed> {}

/**
 * How far the channels of an account have heard of its ledger. It saves reading each channel's own position: only those with news
 * are read.
 */
export const HeardFeed = z.object({
  kind: z.literal('account'),
  account: z.string(),
  /** Number of the next entry. */
  next: z.number(),
  /** The channels that have heard of all before it. */
  channels: z.array(z.string()),
  /** The same for the whole account. */
  unread: ReportedUnread.optional(),
});
export interface HeardFeed extends z.infer<typeof HeardFeed> {}

/**
 * Position of a channel in an account's feed. It remains after the last schedule is removed, so that "Undo"
 * catches up.
 */
export const Feed = z.discriminatedUnion('kind', [ActivityFeed, InvoiceFeed, HeardFeed]);
export type Feed = z.infer<typeof Feed>;

/** Release 1.0.0 had a cursor for each channel, and kept what failed and what waited as text. */
export const Feeds = {
  schema: Feed,
  upgrades: [
    (doc: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
      const { cursor, failing: _, backlog, ...feed } = doc;
      if (feed.kind !== 'watch' || !isObject(backlog)) return doc;
      const { lines, ...cut } = backlog;
      return { ...feed, position: 0, begun: { cursor, lines }, waiting: { ...cut, entries: [] } };
    },
  ],
};

export type FeedKind = keyof FeedByKind;

interface FeedByKind {
  watch: ActivityFeed;
  invoices: InvoiceFeed;
}
export type FeedOf<K extends FeedKind> = FeedByKind[K];

function isOfKind<K extends FeedKind>(feed: Feed, kind: K): feed is Extract<Feed, FeedOf<K>> {
  return feed.kind === kind;
}

export function createFeeds(store: WorkspaceStore) {
  const collection = store.collection('feeds', Feeds);
  return {
    async getHeard(account: string): Promise<HeardFeed | undefined> {
      const feed = await collection.get(`account ${account}`);
      return feed?.kind === 'account' ? feed : undefined;
    },
    /** Keeps what another replica has stored, if that is further. */
    async putHeard(heard: HeardFeed): Promise<void> {
      await collection.update(`account ${heard.account}`, (current) =>
        current?.kind === 'account' && current.next > heard.next ? current : heard,
      );
    },
    /** The channel has moved. */
    async dropHeard(account: string, channel: string): Promise<void> {
      await collection.update(`account ${account}`, (current) =>
        current?.kind === 'account'
          ? { ...current, channels: current.channels.filter((one) => one !== channel) }
          : current,
      );
    },
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

export type FeedStore = ReturnType<typeof createFeeds>;

export function announcedServer(project: string, server: string): string {
  return `${project}/${server}`;
}

/** Watches do not repeat the creation of a server that Deckhand announces in the channel itself. */
export async function setAnnounced(
  feeds: FeedStore,
  place: FeedPlace,
  server: string,
  isAnnounced: boolean,
): Promise<void> {
  await feeds.update('watch', place, (current) => {
    const others = current?.announced.filter((one) => one !== server) ?? [];
    return current && { ...current, announced: isAnnounced ? [...others, server] : others };
  });
}
