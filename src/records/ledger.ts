import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { type Clock, DAY_MS } from '../core/time/clock.ts';
import {
  type Activity,
  type ActivityEvent,
  findTwins,
  identifyProject,
  MAX_EVENTS,
  readEventTime,
} from '../service/activity.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { advance, FeedCursor, identifyEvent } from './feed-cursor.ts';
import { createStandings, type Standings } from './standings.ts';

/** How long an event is kept after Deckhand read it. */
export const KEPT_MS = 400 * DAY_MS;

/** An event of the service, once, however often the feed repeats it. Foreign text. */
const Entry = z.object({
  /** The mark that `identifyEvent` makes. */
  mark: z.string(),
  /** Milliseconds since the epoch. Never later than `readAt`: a date in the future is no reason to wait. */
  at: z.number(),
  readAt: z.number(),
  event: z.string(),
  /** The key that `identifyProject` makes. */
  project: z.string(),
  /** The project's name at that time. */
  name: z.string().optional(),
  ref: z.string().optional(),
  servers: z.array(z.string()).optional(),
  user: z.string().optional(),
});
export interface Entry extends z.infer<typeof Entry> {}

/** A time in which the feed held more than Deckhand could read. Milliseconds since the epoch. */
const Gap = z.object({ from: z.number(), to: z.number() });
export interface Gap extends z.infer<typeof Gap> {}

const Head = z.object({
  kind: z.literal('head'),
  /** The cursor and what it has passed are one write, so that a kill loses and repeats nothing. */
  cursor: FeedCursor,
  /** The newest entries, in the order of reading. */
  entries: z.array(Entry),
  /** Number of the first of them. The numbers of an account's entries count up as they are read. */
  first: z.number(),
  /** Events since this time are known, but for the gaps. */
  since: z.number(),
  gaps: z.array(Gap),
});
type Head = z.infer<typeof Head>;

const Part = z.object({ kind: z.literal('part'), first: z.number(), entries: z.array(Entry) });

/** The newest entries of an account, or older ones, which never change. */
export const LedgerDocument = z.discriminatedUnion('kind', [Head, Part]);
type LedgerDocument = z.infer<typeof LedgerDocument>;

/** Entries in a document. A document is rewritten with each new entry, and a long one is read at once. */
const PART_SIZE = 200;
/** Documents that are read before other work goes on. */
const PAGE = 10;
const MAX_GAPS = 50;
/** Foreign text of an event is cut to these numbers of servers and characters. */
const MAX_SERVERS = 100;
const MAX_TEXT = 200;
const MAX_NAME = 100;
/** Days of the range that is polled (API 4.9 in docs/service-api.md). */
const POLLED_DAYS = 7;

/** The known events of an account since a time. */
export interface LedgerRange {
  /** In the order of reading. */
  entries: Entry[];
  /** Events before this time are not known. Undefined if the account was never read. */
  since: number | undefined;
  gaps: Gap[];
}

/** The part of a range whose events are known. Milliseconds since the epoch. */
export interface Coverage {
  /** The beginning, if it is later than the range's. */
  since: number | undefined;
  /** Times without known events. */
  gaps: readonly Gap[];
}

/** The known events of a range, the most recent first. */
export type KnownActivity = Omit<Activity, 'repeated'> & Coverage;

/** Everything that Deckhand has read of the service's feeds. It is written here alone. */
export function createLedger({ store, clock }: { store: WorkspaceStore; clock: Clock }) {
  const documents: Collection<LedgerDocument> = store.collection('ledger', LedgerDocument);
  const standings = createStandings(store);
  const locked = <T>(account: string, work: () => Promise<T>): Promise<T> =>
    store.exclusive(`ledger ${account}`, work);
  return {
    /** Stores the events of a page that are new. @param page the latest first @param days of its range */
    take: (account: string, page: Page, days = POLLED_DAYS): Promise<void> =>
      locked(account, () => takePage({ documents, standings }, account, { ...page, days }, clock.now())),
    /** The events of an account since a time. @param from milliseconds since the epoch */
    read: (account: string, from: number): Promise<LedgerRange> =>
      readRange(documents, account, Math.max(from, clock.now() - KEPT_MS)),
    /** Deletes what is known of an account. */
    forget: (account: string): Promise<void> =>
      locked(account, async () => {
        for (const { id } of await documents.list(`${account} `)) await documents.delete(id);
        await standings.forget(account);
      }),
    /** Deletes the latest outcomes of a project that the service no longer lists. */
    forgetProject: (account: string, project: string): Promise<void> =>
      locked(account, () => standings.forgetProject(account, project)),
    /** The latest outcome of each server of each project. */
    standings,
  };
}

export type Ledger = ReturnType<typeof createLedger>;

type Documents = Collection<LedgerDocument>;
type Page = Pick<Activity, 'events' | 'unread'>;

function nameHead(account: string): string {
  return `${account} head`;
}

/** Digits sort before the head. */
function namePart(account: string, first: number): string {
  return `${account} ${String(first).padStart(12, '0')}`;
}

async function takePage(
  { documents, standings }: { documents: Documents; standings: Standings },
  account: string,
  { events, unread, days }: Page & { days: number },
  now: number,
): Promise<void> {
  const before = await documents.get(nameHead(account));
  const head = before?.kind === 'head' ? before : createHead(events, now);
  const { cursor, fresh, isTruncated } = advance(head.cursor, events, now, unread);
  // A day less, because days begin in the account's zone.
  const whole = isFull(events, unread) ? now : now - (days - 1) * DAY_MS;
  // Most pages have nothing new. Then nothing is written.
  const isNews = fresh.length > 0 || cursor.lookedAt !== head.cursor.lookedAt || whole < head.since - DAY_MS;
  if (before !== undefined && !isNews) return;
  const twins = findTwins(events);
  const read = fresh
    .filter((event) => !twins.has(event))
    .map((event) => ({ event, entry: toEntry(event, now) }));
  const added = read.map(({ entry }) => entry);
  const outcomes = read.map(({ event, entry: { mark, at } }) => ({ event, mark, at }));
  const isGap = isTruncated && before !== undefined;
  const missed = isGap ? [...head.gaps, findGap(head, fresh, now)] : head.gaps;
  const gaps = missed.filter(({ from }) => from < whole).slice(-MAX_GAPS);
  const entries = [...head.entries, ...added];
  const since = isFull(events, unread) ? head.since : Math.min(whole, head.since);
  const { first, remaining } = await sealParts(documents, account, head.first, entries);
  // Before the head, which says that the events are read. A repeat changes nothing.
  await standings.add(account, outcomes, now + KEPT_MS);
  const next = { ...head, cursor, since, gaps, first, entries: remaining };
  await documents.put(nameHead(account), next, now + KEPT_MS);
}

/** Stores full documents of the oldest entries, before the head drops them. */
async function sealParts(
  documents: Documents,
  account: string,
  from: number,
  entries: readonly Entry[],
): Promise<{ first: number; remaining: Entry[] }> {
  let first = from;
  let remaining = [...entries];
  for (; remaining.length > PART_SIZE; first += PART_SIZE) {
    const sealed = remaining.slice(0, PART_SIZE);
    const expiresAt = (sealed.at(-1)?.readAt ?? 0) + KEPT_MS;
    await documents.put(namePart(account, first), { kind: 'part', first, entries: sealed }, expiresAt);
    remaining = remaining.slice(PART_SIZE);
  }
  return { first, remaining };
}

async function readRange(documents: Documents, account: string, from: number): Promise<LedgerRange> {
  const pages: Entry[][] = [];
  let head: Head | undefined;
  for (let offset = 0; ; offset += PAGE) {
    const rows = await documents.latest(PAGE, { upTo: nameHead(account), offset });
    const own = rows.filter(({ id }) => id.startsWith(`${account} `)).map(({ doc }) => doc);
    head ??= own.find((doc) => doc.kind === 'head');
    pages.push(...own.map(({ entries }) => entries.filter(({ at }) => at >= from)));
    const oldest = own.at(-1)?.entries[0]?.readAt ?? 0;
    if (own.length < PAGE || oldest < from) break;
    // Other requests run between two pages.
    await setImmediate();
  }
  const gaps = (head?.gaps ?? []).filter(({ to }) => to > from);
  return { entries: pages.toReversed().flat(), since: head?.since, gaps };
}

/** True if the service may have left older events out. */
function isFull(events: readonly ActivityEvent[], unread = 0): boolean {
  return events.length + unread >= MAX_EVENTS;
}

function createHead(events: readonly ActivityEvent[], now: number): Head {
  return {
    kind: 'head',
    cursor: { recentMarks: [], floor: null, lookedAt: now },
    entries: [],
    first: 0,
    since: Math.min(now, ...events.map(readEventTime)),
    gaps: [],
  };
}

/** The time between the newest event that was read before and the oldest new one. */
function findGap({ cursor }: Head, fresh: readonly ActivityEvent[], now: number): Gap {
  const readTimes = cursor.recentMarks.map(([, at]) => at).filter((at) => at <= now);
  const to = Math.min(now, ...fresh.map(readEventTime));
  return { from: Math.min(to, Math.max(cursor.floor ?? 0, ...readTimes)), to };
}

/** An event as it is kept. @param now when it was read, milliseconds since the epoch */
export function toEntry(event: ActivityEvent, now: number): Entry {
  const { end_ref: ref, servers } = event.properties;
  const name = event.project?.name || event.project?.permalink;
  return {
    mark: identifyEvent(event),
    at: Math.min(readEventTime(event), now),
    readAt: now,
    event: event.event.slice(0, MAX_TEXT),
    project: identifyProject(event),
    ...(name ? { name: name.slice(0, MAX_NAME) } : {}),
    ...(ref === null ? {} : { ref: ref.slice(0, MAX_TEXT) }),
    ...(servers.length === 0
      ? {}
      : { servers: servers.slice(0, MAX_SERVERS).map((name) => name.slice(0, MAX_TEXT)) }),
    ...(event.user === null ? {} : { user: event.user.slice(0, MAX_TEXT) }),
  };
}
