import { isDeepStrictEqual } from 'node:util';
import { isDirect } from '../../core/message.ts';
import { count } from '../../core/mrkdwn.ts';
import { isSameOrNone, isSameProject, toProjectRef } from '../../core/project-ref.ts';
import { type Account, SCHEDULES } from '../../records/accounts.ts';
import { subjectKey } from '../../records/episodes.ts';
import { advance, cursorAfter, identifyEvent } from '../../records/feed-cursor.ts';
import {
  type ActivityFeed,
  afterUnread,
  announcedServer,
  type Backlog,
  type BacklogLine,
  type Batch,
  EMPTY_BACKLOG,
} from '../../records/feeds.ts';
import { type FeedPlace, isWithin, type Watch } from '../../records/schedules.ts';
import { makePersonKey } from '../../records/service-people.ts';
import {
  type Activity,
  type ActivityEvent,
  findTwins,
  getActivity,
  identifyProject,
  isCalledFailed,
  isFailure,
} from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';

import { newsCount, newsLine, type WatchedNews, watchMessages } from '../../views/watches/watch.ts';
import { keepActivity } from '../../workspace/activity.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { makeOutcomeId } from '../episodes/standing-failure.ts';
import type { PageContext, Source } from '../schedules/polling.ts';
import { notePushes } from './arrivals.ts';
import { type FoundOutcome, followOutcomes, isFollowed, isPlaced, readOutcomeTime } from './news.ts';
import { followRenamed } from './renames.ts';

const INTERVAL_MS = 60_000;
/** API 4.9 (docs/service-api.md). Seven days, so that neither time zones nor a pause of Deckhand hide an event. */
const RANGE = 'last_7_days';

export const ACTIVITY: Source<'watch', FeedPage> = {
  kind: 'watch',
  keyUse: SCHEDULES,
  queue: 'watch-activity',
  postQueue: 'post-watch-news',
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
  keep: ({ ledger }, account, page) => ledger.take(account, page),
  after: afterPage,
  onNews: storeNames,
  onRead: (workspace, { account, active: watches, page, pushed }) =>
    notePushes(workspace, { account, watches, events: page?.events, pushed }, ACTIVITY.intervalMs(workspace)),
};

/** Reads the feed for a person who waits. @throws AccountFailure if the service does not show the feed */
export async function readFeed({ accounts, ledger }: Workspace, account: Account): Promise<FeedPage> {
  const page = await accounts.use(account, (client) => ACTIVITY.fetch(client));
  await keepActivity({ ledger }, account, page);
  return page;
}

export type FeedPage = Pick<Activity, 'events' | 'unread'> & { skipped?: readonly SkippedRows[] };

/**
 * The feed after a page: it moves the cursor, and puts events of active watches into `pending` or the
 * backlog. Failures and their ends belong to episodes in every mode. Watches for everything get the rest as
 * news. Pure.
 */
export function afterPage(
  feed: ActivityFeed,
  watches: readonly Watch[],
  page: FeedPage,
  context: PageContext,
): ActivityFeed {
  const { now, mentions } = context;
  const { cursor, fresh, isTruncated } = advance(feed.cursor, page.events, now, page.unread);
  const { open, closed, muted } = groupWatches(watches, now);
  const twins = findTwins(page.events);
  const first = fresh.filter((event) => !twins.has(event));
  const { failing, outcomes } = followOutcomes(
    feed.failing,
    page.events,
    new Set(first),
    (event, kind) =>
      kind === 'failure'
        ? [...open, ...closed].filter((watch) => isFollowed(watch, event, mentions))
        : [...open, ...closed, ...muted].filter((watch) => isPlaced(watch, event)),
    now,
  );
  const lines = outcomes.map((one) => outcomeLine(one, muted, context));
  const closedIds = new Set(closed.map(({ id }) => id));
  const [atOnce = [], atOpening = []] = [false, true].map((isKept) =>
    lines.filter((line) => line.for.every((id) => closedIds.has(id)) === isKept),
  );
  const ended = new Set(outcomes.map(({ event }) => event));
  const created = fresh.map(createdServer);
  const others = first.filter(
    (event) => !isFailure(event.event) && !ended.has(event) && !feed.announced.includes(createdServer(event)),
  );
  const news = newsFor(open, others, context);
  const later = newsFor(
    closed,
    others.filter((event) => !news.events.has(event)),
    context,
  );
  // The missing events may be among those that the watches follow.
  const isTruncatedForAll = isTruncated && open.length === 0 && closed.length > 0;
  const backlog = keep(feed.backlog, [...later.lines, ...atOpening], isTruncatedForAll);
  const { due, remaining } = takeDue(backlog, open);
  const { unread, isNews } = afterUnread(feed.unread, page.skipped ?? [], now);
  const isReported = isNews && open.length > 0;
  const next = {
    ...feed,
    cursor,
    failing,
    backlog: remaining,
    announced: feed.announced.filter((server) => !created.includes(server)),
    unread: isNews && !isReported ? feed.unread : unread,
  };
  const update = {
    lines: news.lines,
    isTruncated: isTruncated && open.length > 0,
    skipped: isReported ? (page.skipped ?? []) : [],
    ids: isTruncated || isReported ? open.map(({ id }) => id) : idsIn(news.lines),
  };
  const batches = [
    ...newsBatch(feed, watches, { id: `${context.batch} kept`, news: keptNews(due, open) }, context),
    ...episodeBatches(feed, watches, [...due.lines, ...atOnce], context),
    ...newsBatch(feed, watches, { id: context.batch, news: update }, context),
  ];
  return batches.length === 0 ? next : { ...next, pending: [...feed.pending, ...batches] };
}

/** Stores the present names of people and projects. */
async function storeNames(
  workspace: Workspace,
  feed: ActivityFeed,
  watches: readonly Watch[],
  page: FeedPage,
): Promise<void> {
  const { fresh } = advance(feed.cursor, page.events, workspace.clock.now(), page.unread);
  await storePresentNames(workspace, watches, fresh);
  await followRenamed(workspace, feed, watches, fresh);
}

/** Stores the present names of the projects of watches, taken from the newest events. */
async function storePresentNames(
  { schedules }: Workspace,
  watches: readonly Watch[],
  fresh: readonly ActivityEvent[],
): Promise<void> {
  for (const watch of watches) {
    const { project } = watch;
    const newest = fresh.findLast(
      (event) => project !== undefined && event.project?.name && isSameProject(event.project, project),
    )?.project;
    if (project === undefined || !newest) continue;
    const { identifier = newest.identifier } = project;
    const permalink = newest.permalink || project.permalink;
    const present = toProjectRef({ identifier, permalink, name: newest.name });
    if (!isDeepStrictEqual(present, project))
      await schedules.change(watch, (current) =>
        isSameOrNone(current.project, project) ? { ...current, project: present } : current,
      );
  }
}

function groupWatches(watches: readonly Watch[], now: number): Record<'open' | 'closed' | 'muted', Watch[]> {
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

function mentionedIn({ mentions }: PageContext): (name: string) => string | undefined {
  return (name) => mentions.get(makePersonKey(name));
}

/** The events for watches of everything, as text. */
function newsFor(
  watches: readonly Watch[],
  events: readonly ActivityEvent[],
  context: PageContext,
): { lines: BacklogLine[]; events: Set<ActivityEvent> } {
  const toShow = new Set<ActivityEvent>();
  const lines = events.flatMap((event): BacklogLine[] => {
    // Failures of other things than a deployment open no failure, but who follows failures hears of them.
    const following = watches.filter(
      ({ mode }) => mode === 'all' || (mode === 'failures' && isCalledFailed(event.event)),
    );
    const ids = following.filter((watch) => isFollowed(watch, event, context.mentions)).map(({ id }) => id);
    if (ids.length === 0) return [];
    toShow.add(event);
    const { kind, line } = newsLine(event, mentionedIn(context));
    return [{ kind, line, for: ids }];
  });
  return { lines, events: toShow };
}

/** Maximum number of an event's servers for a diagnosis. */
const MAX_SERVERS = 100;

function outcomeLine(
  { event, kind, for: watches }: FoundOutcome,
  muted: readonly Watch[],
  context: PageContext,
): BacklogLine {
  const outcome = {
    kind,
    id: makeOutcomeId(identifyEvent(event), event.user),
    at: readOutcomeTime(event, context.now),
    servers: event.properties.servers.slice(0, MAX_SERVERS).map((name) => name.slice(0, 200)),
    escalates: watches.map(({ id }) => id),
    isQuiet: watches.every((watch) => muted.includes(watch)),
    project: identifyProject(event),
    name: event.project?.name || event.project?.permalink || '',
    permalink: event.project?.permalink || undefined,
  };
  const { words, ...line } = newsLine(event, mentionedIn(context), []);
  return { ...line, for: watches.map(({ id }) => id), outcome: { ...outcome, words } };
}

function idsIn(lines: readonly BacklogLine[]): string[] {
  return [...new Set(lines.flatMap((line) => line.for))];
}

/** Makes a batch for each episode. */
function episodeBatches(
  { channel, account }: ActivityFeed,
  watches: readonly Watch[],
  lines: readonly BacklogLine[],
  { now: at, batch }: PageContext,
): Batch[] {
  const ofEpisodes = lines.flatMap((line) =>
    line.outcome === undefined ? [] : [{ ...line, ...line.outcome }],
  );
  // All watches in a direct message belong to its person.
  const person = isDirect(channel) ? watches[0]?.createdBy : undefined;
  return [...Map.groupBy(ofEpisodes, ({ project }) => project)].map(([project, some]) => {
    const name = some.at(-1)?.name || account;
    const permalink = some.at(-1)?.permalink;
    const subject = { kind: 'deployments', channel, account, project, name, permalink, person } as const;
    const outcomes = some.map(({ kind, id, at: time, isQuiet, servers, escalates, words, line }) => ({
      kind,
      id,
      at: time,
      isQuiet,
      servers,
      escalates,
      words,
      lines: [line],
    }));
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

/** Sums up stored lines that belong to no episode, for the watches that follow them. */
function keptNews({ lines: all, dropped, isTruncated }: Backlog, open: readonly Watch[]): FoundNews {
  const lines = all.filter(({ outcome }) => outcome === undefined);
  const owed = open.filter(({ id }) => isTruncated || lines.some((line) => line.for.includes(id)));
  return { lines, isTruncated, ids: owed.map(({ id }) => id), backlog: { dropped } };
}

/** Restarts the feed at a page, all of which counts as read. Pure. */
export function fromPage(feed: ActivityFeed, { events, unread }: FeedPage, now: number): ActivityFeed {
  return { ...feed, cursor: cursorAfter(events, now, unread), backlog: EMPTY_BACKLOG };
}

/** A feed that starts now. @param now milliseconds since the epoch */
export function newFeed({ channel, account }: FeedPlace, now: number): ActivityFeed {
  const cursor = { recentMarks: [], floor: now, lookedAt: now };
  const nothing = { failing: {}, backlog: EMPTY_BACKLOG, announced: [], pending: [] };
  return { kind: 'watch', channel, account, cursor, ...nothing };
}

/** Enough for a night or a weekend, and small enough for a document and a thread. */
const MAX_KEPT = 200;

/** Adds lines at the end, and drops the oldest above `MAX_KEPT`. Pure. */
function keep(backlog: Backlog, lines: readonly BacklogLine[], isTruncated: boolean): Backlog {
  const all = [...backlog.lines, ...lines];
  const dropped = Math.max(0, all.length - MAX_KEPT);
  return {
    lines: all.slice(dropped),
    dropped: backlog.dropped + dropped,
    isTruncated: backlog.isTruncated || isTruncated,
  };
}

/** Splits the stored lines into those for watches that are open now and the rest. Pure. */
function takeDue(backlog: Backlog, open: readonly Watch[]): { due: Backlog; remaining: Backlog } {
  if (open.length === 0) return { due: EMPTY_BACKLOG, remaining: backlog };
  const ids = new Set(open.map(({ id }) => id));
  const isDue = (line: BacklogLine): boolean => line.for.some((id) => ids.has(id));
  return {
    due: { ...backlog, lines: backlog.lines.filter(isDue) },
    remaining: { ...EMPTY_BACKLOG, lines: backlog.lines.filter((line) => !isDue(line)) },
  };
}

/** Removes the lines that only this watch waits for. Pure. */
export function without(backlog: Backlog, id: string): Backlog {
  const lines = backlog.lines
    .map((line) => ({ ...line, for: line.for.filter((one) => one !== id) }))
    .filter((line) => line.for.length > 0);
  return { ...backlog, lines };
}
