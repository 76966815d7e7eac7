import { z } from 'zod';
import type { Message } from '../core/message.ts';
import { ProjectRef, projectId } from '../core/project-ref.ts';
import { DAY_MS } from '../core/time/clock.ts';
import type { SkippedRows } from '../service/call.ts';
import type { WorkspaceStore } from '../store/store.ts';
import { Outcome, Subject } from './episodes.ts';
import { type FeedPlace, feedPlace } from './schedules.ts';

export const StoredMessage = z.custom<Message>(
  (value) => typeof value === 'object' && value !== null && 'text' in value && 'blocks' in value,
);

/** News of a channel, as it will be posted. It is stored together with the cursor that found it. */
export const Batch = z.object({
  /** The same for each attempt, so that it is posted once. */
  id: z.string(),
  /** When it was found, milliseconds since the epoch. */
  at: z.number(),
  /** Undefined if all of it belongs to an episode. */
  root: StoredMessage.optional(),
  /** For the thread of the root message. */
  replies: z.array(StoredMessage),
  /** Failures and successes for the episode of the subject, oldest first. */
  episode: z.object({ subject: Subject, outcomes: z.array(Outcome) }).optional(),
  /** Its size, for lists: "3 events". */
  what: z.string(),
  /** The ids of the schedules that ask for it. */
  for: z.array(z.string()),
});
export type Batch = z.infer<typeof Batch>;

/**
 * How many entries of a list could not be read when the channel was last told. It is told again when there are more; a
 * lower number counts after a day, because odd entries come and go.
 */
export const ReportedUnread = z.object({ count: z.number(), at: z.number() });
export type ReportedUnread = z.infer<typeof ReportedUnread>;

/**
 * Whether a channel is to be told of the entries that could not be read, and what it was told then. Pure.
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

/** How far a feed was read. Events have no identifiers, so it holds marks of the latest ones. */
export const FeedCursor = z.object({
  /** The mark of each event, as often as it was there, with its instant in milliseconds since the epoch. */
  recentMarks: z.array(z.tuple([z.string(), z.number()])),
  /** Events that are not younger than this count as read. */
  floor: z.number().nullable(),
  lookedAt: z.number(),
});
export type FeedCursor = z.infer<typeof FeedCursor>;

/**
 * The servers of each project that fail, with the time of their latest failure, milliseconds since the epoch; the name is
 * empty if the event names none. As far as the channel's watches saw it.
 */
const Failing = z.record(z.string(), z.array(z.object({ server: z.string(), at: z.number() })));
export type Failing = z.infer<typeof Failing>;

/** An event as it will be posted. */
const BacklogLine = z.object({
  /** The event's type. */
  kind: z.string(),
  /** Mrkdwn of our own making. */
  line: z.string(),
  /** The ids of the watches that ask for it. */
  for: z.array(z.string()),
  /** Set if it belongs to an episode. */
  outcome: Outcome.omit({ lines: true })
    .extend({ project: z.string(), name: z.string(), permalink: z.string().optional() })
    .optional(),
});
export type BacklogLine = z.infer<typeof BacklogLine>;

/** Events that wait for the working hours of a watch. */
export const Backlog = z.object({
  /** Oldest first. */
  lines: z.array(BacklogLine),
  /** Number of older ones that were dropped for lack of room. */
  dropped: z.number(),
  /** True if the feed may have held more events than the service listed. */
  isTruncated: z.boolean(),
});
export type Backlog = z.infer<typeof Backlog>;

export const EMPTY_BACKLOG: Backlog = { lines: [], dropped: 0, isTruncated: false };

const Common = z.object({
  channel: z.string(),
  account: z.string(),
  /** The entries that could not be read, as the channel was told. */
  unread: ReportedUnread.optional(),
  /** Oldest first. */
  pending: z.array(Batch),
});

/** The activity of an account for a channel: its watches share one cursor, so that an event is posted once. */
export const ActivityFeed = Common.extend({
  /** The kind of the schedules that follow it. */
  kind: z.literal('watch'),
  cursor: FeedCursor,
  failing: Failing,
  backlog: Backlog,
  /** The servers whose creation Deckhand tells here itself, by `announcedServer`. */
  announced: z.array(z.string()),
});
export type ActivityFeed = z.infer<typeof ActivityFeed>;

/** Known invoices of the account, by number, so that each piece of news is posted once. */
export const KnownInvoices = z.object({
  /** Paid when they were first seen, or since, with a notice. */
  settled: z.array(z.number()),
  /** `reminded`: after how many days the latest reminder was due. */
  unpaid: z.array(z.object({ number: z.number(), reminded: z.number() })),
});
export type KnownInvoices = z.infer<typeof KnownInvoices>;

/** The invoices of an account for a channel. */
export const InvoiceFeed = Common.extend({
  kind: z.literal('invoices'),
  /** Undefined until the invoices have been read once. */
  knownInvoices: KnownInvoices.optional(),
});
export type InvoiceFeed = z.infer<typeof InvoiceFeed>;

/** How far a channel has read something of an account. It stays when the last schedule goes, so that "Undo" catches up. */
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
    /** `change` gets undefined if no feed is stored; it returns undefined to store nothing. */
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

/** While Deckhand itself tells a channel that a server is made, no watch repeats it. */
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

/** An integration at the service that tells Deckhand of a project's deployments. It stays there while it is switched off. */
export const Push = z.object({
  account: z.string(),
  project: ProjectRef,
  /** `ending`: the service is to be told that it is off. */
  state: z.enum(['on', 'ending', 'off']),
  /** Identifier of the integration; undefined if the service gave none. */
  integration: z.string().optional(),
  /** Digest of the token in its address; undefined while it is off. */
  token: z.string().optional(),
  /** `PUBLIC_URL` when it was switched on. */
  publicUrl: z.string(),
  /** The removal of watches that switched it off. */
  removalRequest: z.string().optional(),
  /** Time of the latest call, milliseconds since the epoch; undefined before the first. */
  arrivedAt: z.number().optional(),
  /** Mark of the project's newest deployment; empty if it had none. */
  newest: z.string().optional(),
  /** When a poll found a deployment that no call had told of. */
  awaitedSince: z.number().optional(),
  /** True if no call came for such a deployment. */
  isMissing: z.boolean().optional(),
});
export type Push = z.infer<typeof Push>;

type PushPlace = Pick<Push, 'account' | 'project'>;

export function createPushes(store: WorkspaceStore) {
  const collection = store.collection('pushes', Push);
  const key = ({ account, project }: PushPlace): string => `${account} ${projectId(project)}`;
  return {
    get: (place: PushPlace) => collection.get(key(place)),
    /** @param account all accounts if left out */
    async list(account?: string): Promise<Push[]> {
      const all = await collection.list(account === undefined ? undefined : `${account} `);
      return all.map(({ doc }) => doc);
    },
    put: (push: Push) => collection.put(key(push), push),
    change: (place: PushPlace, change: (current: Push) => Push) =>
      collection.update(key(place), (current) => current && change(current)),
  };
}
