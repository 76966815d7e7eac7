import { isDirect } from '../../core/message.ts';
import { count } from '../../core/mrkdwn.ts';
import { subjectKey } from '../../records/episodes.ts';
import { isPast } from '../../records/feed-cursor.ts';
import {
  type ActivityFeed,
  afterUnread,
  announcedServer,
  type Batch,
  type NewsItem,
  NOTHING_WAITS,
  type Waiting,
} from '../../records/feeds.ts';
import { isWithin, type Watch } from '../../records/schedules.ts';
import { type ActivityEvent, isCalledFailed, isFailure, readEventOutcome } from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import { projectName } from '../../views/activity/activity-message.ts';
import { MAX_SUCCESS_LINES, successLine } from '../../views/watches/success-message.ts';
import { newsCount, newsLine, type WatchedNews, watchMessages } from '../../views/watches/watch-messages.ts';
import { makeOutcomeId } from '../episodes/standing-failure.ts';
import type { PageContext } from '../schedules/polling.ts';
import {
  type Failing,
  type FoundOutcome,
  followOutcomes,
  isFollowed,
  isPlaced,
  type ReadEvent,
  withWatchedServers,
} from './news.ts';

/** The ledger of an account, for one of its channels. */
export interface LedgerNews {
  /** In the order of reading, also events that the channel has heard of. */
  read: readonly ReadEvent[];
  /** Number of the first entry that may be new. */
  from: number;
  /** Number of the next entry. */
  next: number;
  /** Servers that failed before the new events. */
  failing: Failing;
  /** True if events may be missing among the new ones. */
  isTruncated: boolean;
  /** Unreadable rows of the page; undefined if no page was read. */
  skipped?: readonly SkippedRows[] | undefined;
}

type Groups = Record<'open' | 'closed' | 'muted', Watch[]>;
/** An event as text, with its number in the ledger. `success`: the line of a successful deployment, for a message of such. */
type Item = NewsItem & { number: number; success?: string | undefined };

/**
 * The feed after new entries: it moves the position, and puts events of active watches into `pending` or lets them wait. Failures and
 * their ends belong to episodes in every mode. Watches for everything get the rest as news. Pure.
 */
export function afterEntries(
  feed: ActivityFeed,
  watches: readonly Watch[],
  ledger: LedgerNews,
  context: PageContext,
): ActivityFeed {
  const groups = groupWatches(watches, context.now);
  const { open, closed } = groups;
  const fresh = findFresh(feed, ledger);
  const created = fresh.map(({ event }) => createdServer(event));
  const { due, remaining } = takeDue(feed, open);
  const news = findNews(feed, groups, { ledger, fresh, due: due.waiting }, context);
  // The missing events may be among those that the watches follow.
  const isCutForAll = ledger.isTruncated && open.length === 0 && closed.length > 0;
  const { unread, skipped } = findUnread(feed, ledger.skipped, context.isQuiet() ? [] : open, context.now);
  const next: ActivityFeed = {
    ...feed,
    position: Math.max(feed.position, ledger.next),
    begun: remaining.lines.length === 0 ? undefined : { lines: remaining.lines },
    waiting: wait(remaining.waiting, news.waiting, isCutForAll),
    announced: feed.announced.filter((server) => !created.includes(server)),
    unread,
  };
  const isTruncated = ledger.isTruncated && open.length > 0 && !context.isQuiet();
  const isForAll = isTruncated || skipped.length > 0;
  const { successes, others } = splitSuccesses(feed, news.atOnce);
  const ids = isForAll ? open.map(({ id }) => id) : idsIn(others);
  const summary = sumUp({ ...due.waiting, lines: [...due.lines, ...news.due] }, open);
  const earlier = due.lines.filter(({ outcome }) => outcome !== undefined);
  const batches = [
    ...newsBatch(feed, watches, { id: `${context.batch} kept`, news: summary }, context),
    ...episodeBatches(feed, watches, [...earlier, ...news.outcomes], context),
    ...successBatch(successes, context),
    ...newsBatch(
      feed,
      watches,
      { id: context.batch, news: { lines: others, isTruncated, skipped, ids } },
      context,
    ),
  ];
  return batches.length === 0 ? next : { ...next, pending: [...feed.pending, ...batches] };
}

/** True if only the position has moved. The account's `HeardFeed` says so too. */
export function isQuiet(before: ActivityFeed, after: ActivityFeed): boolean {
  const [one, other] = [before, after].map((feed) => JSON.stringify({ ...feed, position: 0 }));
  return one === other;
}

/** The events that are new for the channel. */
function findFresh({ begun }: ActivityFeed, { read, from }: LedgerNews): ReadEvent[] {
  const fresh = read.filter(({ entry }) => entry.number >= from);
  const cursor = begun?.cursor;
  return cursor === undefined ? fresh : fresh.filter(({ entry }) => !isPast(cursor, entry));
}

interface Found {
  /** Failures and the successes that ended them. */
  outcomes: Item[];
  /** Other news. */
  atOnce: Item[];
  /** Other news that waited until now. */
  due: Item[];
  /** News for working hours to come. */
  waiting: Item[];
}

function findNews(
  { announced }: ActivityFeed,
  { open, closed, muted }: Groups,
  { ledger, fresh, due }: { ledger: LedgerNews; fresh: readonly ReadEvent[]; due: Waiting },
  context: PageContext,
): Found {
  const followers = new Map(due.entries.map((one) => [one.number, one.for]));
  const dueEvents = ledger.read.filter(({ entry }) => followers.has(entry.number));
  const outcomes = followOutcomes(
    ledger.failing,
    ledger.read,
    new Set([...dueEvents, ...fresh]),
    (event, kind) =>
      kind === 'failure'
        ? [...open, ...closed].filter((watch) => isFollowed(watch, event, context.mentions))
        : [...open, ...closed, ...muted].filter((watch) => isPlaced(watch, event)),
  );
  const closedIds = new Set(closed.map(({ id }) => id));
  const { atOnce: outcomesAtOnce = [], waiting: outcomesWaiting = [] } = Object.groupBy(
    outcomes.map((one) => outcomeItem(one, muted, context)),
    (item) => (item.for.every((id) => closedIds.has(id)) ? 'waiting' : 'atOnce'),
  );
  const ended = new Set(outcomes.map(({ entry }) => entry));
  const isOther = ({ event, entry }: ReadEvent): boolean =>
    !isFailure(event.event) && !ended.has(entry) && !announced.includes(createdServer(event));
  const others = fresh.filter(isOther);
  const isAwake = ({ event }: ReadEvent): boolean => !context.isQuiet(event);
  const atOnce = newsFor(open, others.filter(isAwake), context);
  const numbers = new Set(atOnce.map(({ number }) => number));
  const later = others.filter(({ entry }) => !numbers.has(entry.number));
  const dueNews = newsFor(open, dueEvents.filter(isOther).filter(isAwake), context).filter((item) =>
    item.for.some((id) => followers.get(item.number)?.includes(id)),
  );
  return {
    outcomes: outcomesAtOnce,
    atOnce,
    due: dueNews,
    waiting: [...newsFor(closed, later, context), ...outcomesWaiting],
  };
}

/** The rows that a page could not read, if the channel is told about them now. */
function findUnread(
  feed: ActivityFeed,
  skipped: readonly SkippedRows[] | undefined,
  open: readonly Watch[],
  now: number,
): Pick<ActivityFeed, 'unread'> & { skipped: readonly SkippedRows[] } {
  if (skipped === undefined) return { unread: feed.unread, skipped: [] };
  const { unread, isNews } = afterUnread(feed.unread, skipped, now);
  if (!isNews) return { unread, skipped: [] };
  return open.length > 0 ? { unread, skipped } : { unread: feed.unread, skipped: [] };
}

function groupWatches(watches: readonly Watch[], now: number): Groups {
  const {
    open = [],
    closed = [],
    muted = [],
  } = Object.groupBy(watches, (watch) => {
    if (now < (watch.mutedUntil ?? 0)) return 'muted';
    return watch.hours === undefined || isWithin(watch.hours, now) ? 'open' : 'closed';
  });
  return { open, closed, muted };
}

/** The server whose creation an event reports, in the form of `announcedServer`; empty for other events. */
function createdServer({ event, project, properties }: ActivityEvent): string {
  return event === 'server_created'
    ? announcedServer(project?.permalink ?? '', properties.servers.join())
    : '';
}

function mentionedIn(
  { findMentioned }: PageContext,
  event: ActivityEvent,
): (name: string) => string | undefined {
  return (name) => findMentioned(name, isCalledFailed(event.event));
}

/** The events for watches of everything, as text. */
function newsFor(watches: readonly Watch[], read: readonly ReadEvent[], context: PageContext): Item[] {
  return read.flatMap(({ entry: { number }, event }): Item[] => {
    // Failures of other things than a deployment open no failure, but who follows failures hears of them.
    const following = watches.filter(
      ({ mode }) => mode === 'all' || (mode === 'failures' && isCalledFailed(event.event)),
    );
    const followers = following.filter((watch) => isFollowed(watch, event, context.mentions));
    if (followers.length === 0) return [];
    const findMentioned = mentionedIn(context, event);
    const name = projectName(event, followers[0]?.account, context.pages);
    const { kind, line } = newsLine(event, findMentioned, [name]);
    const isSuccess = readEventOutcome(event.event) === 'succeeded';
    const success = isSuccess
      ? successLine(withWatchedServers(event, followers), findMentioned, { name, now: context.now })
      : undefined;
    return [{ number, kind, line, success, for: followers.map(({ id }) => id) }];
  });
}

const MAX_REF = 100;

function outcomeItem(
  { entry, event: whole, kind, for: watches }: FoundOutcome,
  muted: readonly Watch[],
  context: PageContext,
): Item {
  const event = withWatchedServers(whole, watches);
  const ids = watches.map(({ id }) => id);
  const { words, rewind, ...line } = newsLine(event, mentionedIn(context, event), []);
  const outcome = {
    kind,
    id: makeOutcomeId(entry.mark, entry.user),
    at: entry.at,
    servers: event.properties.servers,
    ref: event.properties.end_ref?.slice(0, MAX_REF),
    escalates: ids,
    isQuiet: watches.every((watch) => muted.includes(watch)),
    project: entry.project,
    name: event.project?.name || event.project?.permalink || '',
    permalink: event.project?.permalink || undefined,
    words,
    rewind,
  };
  return { ...line, number: entry.number, for: ids, outcome };
}

function idsIn(lines: ReadonlyArray<Pick<NewsItem, 'for'>>): string[] {
  return [...new Set(lines.flatMap((line) => line.for))];
}

/** Makes a batch for each episode. */
function episodeBatches(
  { channel, account }: ActivityFeed,
  watches: readonly Watch[],
  lines: readonly NewsItem[],
  { now: at, batch }: PageContext,
): Batch[] {
  const ofEpisodes = lines.flatMap(({ line, outcome, for: ids }) =>
    outcome === undefined ? [] : [{ ...outcome, lines: [line], for: ids }],
  );
  // All watches in a direct message belong to its person.
  const person = isDirect(channel) ? watches[0]?.createdBy : undefined;
  return [...Map.groupBy(ofEpisodes, ({ project }) => project)].map(([project, some]) => {
    const { name, permalink } = some.at(-1) ?? {};
    const about = { channel, account, project, name: name || account, permalink, person };
    const subject = { kind: 'deployments', ...about } as const;
    const outcomes = some.map(({ project: _, name: __, permalink: ___, for: ____, ...outcome }) => outcome);
    return {
      id: `${batch} ${subjectKey(subject)}`,
      at,
      replies: [],
      episode: { subject, outcomes },
      what: count(some.length, 'event'),
      for: idsIn(some),
    };
  });
}

/** More successful deployments at once become a summary with a list. */
const MAX_SUCCESSES = 2 * MAX_SUCCESS_LINES;

/** Direct messages notify their person of each deployment, and an edit would not. */
function splitSuccesses(
  { channel }: ActivityFeed,
  items: readonly Item[],
): Record<'successes' | 'others', Item[]> {
  const { successes = [], others = [] } = Object.groupBy(items, ({ success }) =>
    success === undefined ? 'others' : 'successes',
  );
  if (isDirect(channel) || successes.length > MAX_SUCCESSES) return { successes: [], others: [...items] };
  return { successes, others };
}

function successBatch(items: readonly Item[], { now: at, batch }: PageContext): Batch[] {
  if (items.length === 0) return [];
  const successes = items.flatMap(({ success }) => success ?? []);
  const what = count(items.length, 'event');
  return [{ id: `${batch} successes`, at, replies: [], successes, what, for: idsIn(items) }];
}

type FoundNews = Omit<WatchedNews, 'account' | 'word' | 'isOwn'> & { ids: readonly string[] };

function newsBatch(
  { account }: ActivityFeed,
  watches: readonly Watch[],
  { id, news }: { id: string; news: FoundNews },
  { now: at, word }: PageContext,
): Batch[] {
  const { lines, isTruncated, skipped = [], ids } = news;
  if (lines.length === 0 && !isTruncated && skipped.length === 0) return [];
  const isOwn = watches.some(({ person }) => person !== undefined);
  const messages = watchMessages({ ...news, account, word, isOwn });
  return [{ id, at, ...messages, what: newsCount(news), for: [...ids] }];
}

/** Sums up news that waited, for the watches that follow them. */
function sumUp(
  { lines: all, dropped, isTruncated }: Pick<Waiting, 'dropped' | 'isTruncated'> & { lines: NewsItem[] },
  open: readonly Watch[],
): FoundNews {
  const lines = all.filter(({ outcome }) => outcome === undefined);
  const owed = open.filter(({ id }) => isTruncated || lines.some((line) => line.for.includes(id)));
  return { lines, isTruncated, ids: owed.map(({ id }) => id), backlog: { dropped } };
}

/** Enough for a night or a weekend, and small enough for a document and a thread. */
const MAX_WAITING = 200;

/** Adds events at the end, and drops the oldest above `MAX_WAITING`. Pure. */
function wait(waiting: Waiting, items: readonly Item[], isTruncated: boolean): Waiting {
  const added = items.map((item) => ({ number: item.number, for: item.for }));
  const all = [...waiting.entries, ...added].toSorted((one, other) => one.number - other.number);
  const dropped = Math.max(0, all.length - MAX_WAITING);
  return {
    entries: all.slice(dropped),
    dropped: waiting.dropped + dropped,
    isTruncated: waiting.isTruncated || isTruncated,
  };
}

interface Kept {
  waiting: Waiting;
  lines: NewsItem[];
}

/** Splits what waits into that for watches that are open now and the rest. Pure. */
function takeDue({ waiting, begun }: ActivityFeed, open: readonly Watch[]): { due: Kept; remaining: Kept } {
  const lines = begun?.lines ?? [];
  if (open.length === 0) return { due: { waiting: NOTHING_WAITS, lines: [] }, remaining: { waiting, lines } };
  const isDue = (one: { for: string[] }): boolean => open.some(({ id }) => one.for.includes(id));
  return {
    due: {
      waiting: { ...waiting, entries: waiting.entries.filter(isDue) },
      lines: lines.filter(isDue),
    },
    remaining: {
      waiting: { ...NOTHING_WAITS, entries: waiting.entries.filter((one) => !isDue(one)) },
      lines: lines.filter((one) => !isDue(one)),
    },
  };
}

/** Removes what only this watch waits for. Pure. */
export function withoutWaiting({ begun, ...feed }: ActivityFeed, id: string): ActivityFeed {
  const drop = <T extends { for: string[] }>(all: readonly T[]): T[] =>
    all
      .map((one) => ({ ...one, for: one.for.filter((other) => other !== id) }))
      .filter((one) => one.for.length > 0);
  const waiting = { ...feed.waiting, entries: drop(feed.waiting.entries) };
  return {
    ...feed,
    waiting,
    ...(begun === undefined ? {} : { begun: { ...begun, lines: drop(begun.lines) } }),
  };
}
