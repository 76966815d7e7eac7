import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { type Clock, DAY_MS } from '../core/time/clock.ts';
import {
  type Activity,
  type ActivityEvent,
  findTwins,
  identifyProject,
  isTruncated,
  readEventTime,
} from '../service/activity.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { advance, FeedCursor, identifyEvent } from './feed-cursor.ts';
import { type CountedFigures, NO_OUTCOMES, type OutcomeCounts } from './figures.ts';
import {
  Columns,
  type Entry,
  type EntryFilter,
  type NumberedEntry,
  readColumns,
  toColumns,
} from './ledger-columns.ts';
import { addResults, type Outage, type ProjectResults, REACHABLE } from './reachability.ts';
import { createStandings, type Standing, type Standings } from './standings.ts';

/** How long an event is kept after Deckhand read it. */
export const KEPT_MS = 400 * DAY_MS;

/**
 * A time in which the feed held more than Deckhand could read. Milliseconds since the epoch. `next`: number of the first entry after it.
 */
const Gap = z.object({ from: z.number(), to: z.number(), next: z.number().optional() });
export interface Gap extends z.infer<typeof Gap> {}

const Head = z.object({
  kind: z.literal('head'),
  /** The cursor and what it has passed are one write, so that a kill loses and repeats nothing. */
  cursor: FeedCursor,
  /** The newest entries, in the order of reading. */
  entries: Columns,
  /** Number of the first of them. The numbers of an account's entries count up as they are read. */
  first: z.number(),
  /**
   * Number of the account's first entry. It is the time at which that was read, so that no number of a forgotten account
   * comes again.
   */
  begin: z.number(),
  /** Events since this time are known, but for the gaps. */
  since: z.number(),
  gaps: z.array(Gap),
});
type Head = z.infer<typeof Head>;

const Part = z.object({ kind: z.literal('part'), first: z.number(), entries: Columns });
type Part = z.infer<typeof Part>;

/** In place of a head whose account was disconnected. If it is connected again, no event is new twice. */
const Ended = z.object({ kind: z.literal('ended'), cursor: FeedCursor, next: z.number() });

/** The newest entries of an account, or older ones, which never change. */
export const LedgerDocument = z.discriminatedUnion('kind', [Head, Part, Ended]);
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
/** An event that is older when it is read comes from a longer range that a person asked for, and is news to nobody. Days begin in any zone. */
export const MAX_LATE_MS = (POLLED_DAYS + 1) * DAY_MS;

/** The known events of an account since a time. */
export interface LedgerRange {
  /** In the order of reading. */
  entries: NumberedEntry[];
  /** Numbers of the account's first entry, and of the next one; 0 if it was never read. */
  begin: number;
  next: number;
  /** Events before this time are not known. Undefined if the account was never read. */
  since: number | undefined;
  gaps: Gap[];
  /** Outcomes of the entries that were only counted. */
  counts: OutcomeCounts;
}

/** The part of a range whose events are known. Milliseconds since the epoch. */
export interface Coverage {
  /** The beginning, if it is later than the range's. */
  since: number | undefined;
  /** Times without known events. */
  gaps: readonly Gap[];
}

/** The known events of a range, the most recent first. */
export type KnownActivity = Omit<Activity, 'repeated'> &
  Coverage & {
    /** Counted by Deckhand, against the period before; undefined if nobody asked for them. */
    figures?: CountedFigures | undefined;
    /** Outages of what guards test that ended in the range, oldest first. */
    outages?: readonly Outage[] | undefined;
  };

/** Everything that Deckhand has read of the service's feeds. It is written here alone. */
export function createLedger({ store, clock }: { store: WorkspaceStore; clock: Clock }) {
  const documents: Collection<LedgerDocument> = store.collection('ledger', LedgerDocument);
  const standings = createStandings(store);
  const locked = <T>(account: string, work: () => Promise<T>): Promise<T> =>
    store.exclusive(`ledger ${account}`, work);
  return {
    /**
     * Stores the events of a page that are new. Returns the number of the next entry.
     * @param page the latest first
     * @param days of its range
     */
    take: (account: string, page: Page, days = POLLED_DAYS): Promise<number> =>
      locked(account, () => takePage({ documents, standings }, account, { ...page, days }, clock.now())),
    /**
     * The events of an account since a time, and those that were read late.
     * @param from milliseconds since the epoch
     */
    read: (account: string, from: number, more: Partial<EntryFilter> = {}): Promise<LedgerRange> =>
      readRange(documents, account, {
        number: Number.POSITIVE_INFINITY,
        ...more,
        from: Math.max(from, clock.now() - KEPT_MS),
      }),
    /** Stores what a test changed. Safe to repeat. @param request id of the test */
    noteTest: (project: TestedProject, results: ProjectResults, request: string): Promise<void> =>
      locked(project.account, () =>
        takeTest({ documents, standings }, project, results, request, clock.now()),
      ),
    /** Number of the next entry. */
    next: async (account: string): Promise<number> => countNext(await documents.get(nameHead(account))),
    /** Deletes what is known of an account. */
    forget: (account: string): Promise<void> =>
      locked(account, async () => {
        const head = await documents.get(nameHead(account));
        for (const { id } of await documents.list(`${account} `)) await documents.delete(id);
        await standings.forget(account);
        if (head === undefined || head.kind === 'part') return;
        const ended = { kind: 'ended', cursor: head.cursor, next: countNext(head) } as const;
        await documents.putUnlocked(nameHead(account), ended, clock.now() + KEPT_MS);
      }),
    /** Ends failures of servers that the service no longer lists, if a listed one succeeded since. */
    settleUnlisted: (account: string, project: string, isListed: (name: string) => boolean): Promise<void> =>
      locked(account, () => standings.settleUnlisted(account, project, isListed, clock.now() + KEPT_MS)),
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
  return `${account} ${String(first).padStart(15, '0')}`;
}

async function takePage(
  { documents, standings }: { documents: Documents; standings: Standings },
  account: string,
  { events, unread = 0, days }: Page & { days: number },
  now: number,
): Promise<number> {
  const before = await documents.get(nameHead(account));
  const head = before?.kind === 'head' ? before : createHead(events, now, before);
  const { cursor, fresh, ...page } = advance(head.cursor, events, now, unread);
  const isFull = isTruncated({ events, unread });
  // A day less, because days begin in the account's zone.
  const whole = isFull ? now : now - (days - 1) * DAY_MS;
  // Most pages have nothing new. Then nothing is written.
  const isNews = fresh.length > 0 || cursor.lookedAt !== head.cursor.lookedAt || whole < head.since - DAY_MS;
  if (before?.kind === 'head' && !isNews) return countNext(head);
  const twins = findTwins(events);
  const read = fresh
    .filter((event) => !twins.has(event))
    .map((event) => ({ event, entry: toEntry(event, now) }));
  const outcomes = read.map(({ event, entry: { mark, at } }) => ({ event, mark, at }));
  // Before the head, which says that the events are read. A repeat changes nothing.
  const backs = await standings.add(account, outcomes, now + KEPT_MS);
  const added = read.map(({ entry }) => {
    const back = backs.get(entry.mark);
    return back === undefined ? entry : { ...entry, back };
  });
  const isGap = page.isTruncated && before?.kind === 'head';
  const gap = { ...findGap(head, fresh, now), next: countNext(head) };
  const missed = isGap ? [...head.gaps, gap] : head.gaps;
  const gaps = missed.filter(({ from }) => from < whole).slice(-MAX_GAPS);
  const entries = [...readColumns(head.entries, head.first), ...added];
  const since = isFull ? head.since : Math.min(whole, head.since);
  const { first, remaining } = await sealParts(documents, account, head.first, entries);
  const next = { ...head, cursor, since, gaps, first, entries: toColumns(remaining) };
  await documents.putUnlocked(nameHead(account), next, now + KEPT_MS);
  return countNext(next);
}

function countNext(head: LedgerDocument | undefined): number {
  if (head?.kind === 'ended') return head.next;
  return head === undefined ? 0 : head.first + head.entries.mark.length;
}

/** A project that was tested. `project`: the key that `identifyProject` makes. */
export type TestedProject = Pick<Standing, 'account' | 'project' | 'name' | 'permalink'> & {
  /** The person who is on the failure. */
  owner?: string | undefined;
};

async function takeTest(
  { documents, standings }: { documents: Documents; standings: Standings },
  { owner, ...tested }: TestedProject,
  results: ProjectResults,
  request: string,
  now: number,
): Promise<void> {
  const { account, project, permalink, name } = tested;
  const before = (await standings.get(account, project))?.unreachable ?? [];
  if (before.length === 0 && results.items.every(({ isReachable }) => isReachable)) return;
  const { after, changes } = addResults(before, results);
  const added = changes.map(({ event, item: { key, title, reason, since, tests } }): Entry => {
    const end = event === REACHABLE ? { since, tests, ...(owner === undefined ? {} : { owner }) } : {};
    const test = { key, title, ...(reason === undefined ? {} : { reason }), ...end };
    const mark = `test ${request} ${key}`;
    const of = { project, ...(permalink === undefined ? {} : { permalink }), name: name.slice(0, MAX_NAME) };
    return { mark, at: results.at, readAt: now, event, ...of, test };
  });
  const head = await documents.get(nameHead(account));
  // The entries first: a repeat after a kill finds them by their marks.
  if (head?.kind === 'head') {
    const fresh = added.filter(({ mark }) => !head.entries.mark.includes(mark));
    const entries = [...readColumns(head.entries, head.first), ...fresh];
    const { first, remaining } = await sealParts(documents, account, head.first, entries);
    if (fresh.length > 0)
      await documents.putUnlocked(
        nameHead(account),
        { ...head, first, entries: toColumns(remaining) },
        now + KEPT_MS,
      );
  }
  await standings.putUnreachable(tested, after, now + KEPT_MS);
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
    const part = { kind: 'part', first, entries: toColumns(sealed) } as const;
    await documents.putUnlocked(namePart(account, first), part, expiresAt);
    remaining = remaining.slice(PART_SIZE);
  }
  return { first, remaining };
}

async function readRange(documents: Documents, account: string, filter: EntryFilter): Promise<LedgerRange> {
  const { number, counted } = filter;
  const from = Math.min(filter.from, counted?.from ?? filter.from);
  const counts = { ...NO_OUTCOMES };
  const pages: NumberedEntry[][] = [];
  let head: Head | undefined;
  // A new part moves no page, because pages begin at the names of parts. Most readers need the head alone.
  for (let upTo = nameHead(account), limit = 1; ; limit = PAGE) {
    const rows = await documents.latest(limit, { upTo });
    const own = rows.filter(({ id }) => id.startsWith(`${account} `)).map(({ doc }) => doc);
    head ??= own.find((doc) => doc.kind === 'head');
    for (const doc of own)
      if (doc.kind !== 'ended') pages.push(readColumns(doc.entries, doc.first, filter, counts));
    const oldest = own.at(-1);
    if (oldest === undefined || oldest.kind === 'ended') break;
    const isBefore = readFirst(oldest) < from && oldest.first <= number;
    if (own.length < limit || isBefore) break;
    upTo = namePart(account, oldest.first - 1);
    // Other requests run between two pages.
    await setImmediate();
  }
  const gaps = listGaps(head, from, number);
  const { begin = 0, since } = head ?? {};
  return { entries: pages.toReversed().flat(), begin, next: countNext(head), since, gaps, counts };
}

function listGaps(head: Head | undefined, from: number, number: number): Gap[] {
  return (head?.gaps ?? []).filter(({ to, next = 0 }) => to > from || next >= number);
}

/** When the first entry of a document was read; 0 if it has none. */
function readFirst(document: Head | Part | undefined): number {
  const { at: [at = 0] = [], readAt: [after = 0] = [] } = document?.entries ?? {};
  return at + after;
}

/** After a disconnection, the first page's old events get the numbers that they had, so that no channel hears of them again. */
function createHead(events: readonly ActivityEvent[], now: number, before: LedgerDocument | undefined): Head {
  const { cursor, next }: Partial<z.infer<typeof Ended>> = before?.kind === 'ended' ? before : {};
  const fresh = new Set(cursor === undefined ? events : advance(cursor, events, now).fresh);
  const twins = findTwins(events);
  const old = events.filter((event) => !fresh.has(event) && !twins.has(event)).length;
  return {
    kind: 'head',
    cursor: { recentMarks: [], floor: null, lookedAt: now },
    entries: toColumns([]),
    first: next === undefined ? now : next - old,
    begin: next === undefined ? now : next - old,
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

/** An entry in the form of the service. @param project as `toProject` makes it */
export function toEvent(entry: Entry, project = toProject(entry)): ActivityEvent {
  const { event, ref = null, servers = [], user = null, at, back } = entry;
  return {
    event,
    properties: { end_ref: ref, servers },
    project,
    user,
    created_at: new Date(at).toISOString(),
    ...(back === undefined ? {} : { back }),
  };
}

/** The project of an entry in the form of the service. */
export function toProject(
  { project: key, permalink, name }: Entry,
  present = name ?? key,
): ActivityEvent['project'] {
  if (key === '') return null;
  return permalink === undefined
    ? { identifier: '', permalink: key, name: present }
    : { identifier: key, permalink, name: present };
}

/** An event as it is kept. @param now when it was read, milliseconds since the epoch */
export function toEntry(event: ActivityEvent, now: number): Entry {
  const { end_ref: ref, servers } = event.properties;
  const name = event.project?.name || event.project?.permalink;
  const { identifier, permalink = '' } = event.project ?? {};
  return {
    mark: identifyEvent(event),
    at: Math.min(readEventTime(event), now),
    readAt: now,
    event: event.event.slice(0, MAX_TEXT),
    project: identifyProject(event),
    ...(name ? { name: name.slice(0, MAX_NAME) } : {}),
    ...(identifier ? { permalink: permalink.slice(0, MAX_TEXT) } : {}),
    ...(ref === null ? {} : { ref: ref.slice(0, MAX_TEXT) }),
    ...(servers.length === 0
      ? {}
      : { servers: servers.slice(0, MAX_SERVERS).map((name) => name.slice(0, MAX_TEXT)) }),
    ...(event.user === null ? {} : { user: event.user.slice(0, MAX_TEXT) }),
  };
}
