import { isNamed } from '../core/names.ts';
import { type ProjectRef, projectId } from '../core/project-ref.ts';
import type { Clock } from '../core/time/clock.ts';
import {
  type ActivityRange,
  computePeriods,
  countDays,
  type Range,
  toServiceRange,
} from '../core/time/range.ts';
import type { Account, Accounts } from '../records/accounts.ts';
import type { Mark } from '../records/digest-marks.ts';
import { identifyEvent } from '../records/feed-cursor.ts';
import { compareOutcomes, countOutcomes, NO_OUTCOMES } from '../records/figures.ts';
import {
  type Coverage,
  type KnownActivity,
  type Ledger,
  type LedgerRange,
  MAX_LATE_MS,
  toEntry,
  toEvent,
  toProject,
} from '../records/ledger.ts';
import type { Entry, NumberedEntry } from '../records/ledger-columns.ts';
import { listOutages } from '../records/reachability.ts';
import {
  type Activity,
  type ActivityEvent,
  getActivity,
  isTruncated,
  readEventOutcome,
  readEventTime,
} from '../service/activity.ts';
import type { ListOptions } from '../service/call.ts';

/**
 * Reads the feed of an account, and keeps what is new.
 * @throws AccountFailure
 */
export async function fetchActivity(
  { accounts, ledger }: { accounts: Pick<Accounts, 'use'>; ledger: Ledger },
  account: Account,
  query: { range: ActivityRange; stats: boolean },
  options?: ListOptions,
): Promise<Activity> {
  const activity = await accounts.use(account, (client) => getActivity(client, query, options));
  await keepActivity({ ledger }, account, activity, query.range);
  return activity;
}

/**
 * Keeps what is new of a page that an account's key has read. A person's own key may read what others may not know, so only
 * the shared key counts.
 */
export async function keepActivity(
  { ledger }: { ledger: Ledger },
  { name, purpose }: Account,
  { events, unread = 0, repeated = 0 }: Pick<Activity, 'events' | 'unread' | 'repeated'>,
  range: ActivityRange = 'last_7_days',
): Promise<void> {
  // A page is full whatever its rows are.
  const page = { events, unread: unread + repeated };
  if (purpose === 'shared') await ledger.take(name, page, countDays(range) ?? 1);
}

/** The events of one project, one of its servers, or a person. */
interface Filter {
  project?: ProjectRef | undefined;
  server?: { identifier: string; name: string } | undefined;
  /** Names of a person at the service. */
  people?: readonly string[] | undefined;
  /** True for deployments that ended, without other events. */
  isHistory?: boolean | undefined;
}

export interface ActivityQuery extends Filter {
  range: Range;
  /** IANA zone in which days begin. */
  zone: string;
  /** True for figures against the period before. */
  isCompared?: boolean | undefined;
}

interface Parts {
  ledger: Ledger;
  clock: Clock;
}

/**
 * The known events of a range: those of a page that was just read, and all that Deckhand read before. A person's own key sees
 * earlier events of a project that it lists.
 * @param page of the narrowest range of the service that holds the query's
 */
export async function readKnownActivity(
  { ledger, clock }: Parts,
  account: Account,
  query: ActivityQuery,
  page: Activity,
): Promise<KnownActivity> {
  const now = clock.now();
  const { from, before } = computePeriods(query.range, query.zone, now);
  const isShared = account.purpose === 'shared';
  const projects = listKeys(query.project);
  const { isCompared = false, server, people } = query;
  const isPlain = server === undefined && people === undefined;
  const record =
    isShared || query.project !== undefined
      ? await ledger.read(account.name, isCompared && !isPlain ? before.from : from, {
          projects,
          counted: isCompared && isPlain ? before : undefined,
        })
      : { entries: [], since: undefined, gaps: [], counts: NO_OUTCOMES };
  const marks = new Set(isShared ? [] : record.entries.map(({ mark }) => mark));
  const others = page.events.filter((event) => {
    // The service's day may begin earlier.
    if (readEventTime(event) < from)
      return query.project === undefined && query.range === toServiceRange(query.range);
    return !isShared && !marks.has(identifyEvent(event));
  });
  const matches = record.entries.filter((entry) => isMatch(entry, query, projects));
  const added = others.toReversed().map((event) => toEntry(event, now));
  const chosen = [
    ...matches.filter(({ at }) => at >= from),
    ...added.filter((one) => isMatch(one, query, projects)),
  ];
  const isEarlierKnown = isKnown(record, before);
  const earlier = isPlain
    ? record.counts
    : countOutcomes(matches.filter(({ at }) => at >= before.from && at < before.to));
  const { stats, unread } = page;
  return {
    events: toEvents(sortLatestFirst(chosen)),
    ...(unread === undefined ? {} : { unread }),
    stats,
    ...(isCompared
      ? { figures: compareOutcomes(countOutcomes(chosen), isEarlierKnown ? earlier : undefined) }
      : {}),
    outages: listOutages(record.entries.filter((one) => one.at >= from && isOfProject(one, projects))),
    ...findCoverage(record, { page, query, from, now }),
  };
}

/** The part of an account that an occurrence of a digest reports. Times are milliseconds since the epoch. */
export interface UnreportedQuery extends Filter {
  /** How far the digest has reported the account. */
  mark: Mark | undefined;
  /** Beginning without a mark. */
  from: number;
  /** Number of the first entry that came too late for it; undefined if all count. */
  until: number | undefined;
  /** When it was read. */
  at: number;
}

/**
 * The events that a digest has not reported. Figures compare with as much time before.
 * @param page that was just read
 */
export async function readUnreported(
  { ledger }: Pick<Parts, 'ledger'>,
  account: Account,
  query: UnreportedQuery,
  page: Activity,
): Promise<KnownActivity & { from: number; next: number }> {
  const { mark, at, until = Number.POSITIVE_INFINITY } = query;
  const from = mark?.at ?? query.from;
  const before = { from: from - (at - from), to: from };
  const projects = listKeys(query.project);
  const record = await ledger.read(account.name, before.from, { number: mark?.next ?? Infinity, projects });
  // The account was disconnected since, and read anew.
  const isByNumber = mark !== undefined && mark.next >= record.begin;
  const isNew = (entry: NumberedEntry): boolean => {
    if (isByNumber) return entry.number >= mark.next && entry.at > mark.at - MAX_LATE_MS;
    return mark === undefined ? entry.at >= from : entry.at > from;
  };
  const inTime = record.entries.filter((entry) => entry.number < until && isOfProject(entry, projects));
  const read = inTime.filter((entry) => isMatch(entry, query, projects));
  const chosen = read.filter(isNew);
  const earlier = read.filter((entry) => !isNew(entry) && entry.at >= before.from);
  const { since = at, gaps } = record;
  return {
    from,
    next: Math.min(until, record.next),
    outages: listOutages(inTime.filter(isNew)),
    events: toEvents(sortLatestFirst(chosen)),
    ...(page.unread === undefined ? {} : { unread: page.unread }),
    stats: undefined,
    figures: {
      ...compareOutcomes(countOutcomes(chosen), isKnown(record, before) ? countOutcomes(earlier) : undefined),
      active_servers: page.stats?.active_servers,
      avg_duration: page.stats?.avg_duration,
    },
    since: since > from ? since : undefined,
    gaps: gaps.filter((gap) => gap.to > from),
  };
}

/** True if all events of a period are known. */
function isKnown(
  { since, gaps }: Pick<LedgerRange, 'since' | 'gaps'>,
  { from, to }: { from: number; to: number },
): boolean {
  return since !== undefined && since <= from && !gaps.some((gap) => gap.from < to && gap.to > from);
}

function sortLatestFirst(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((one, other) => one.at - other.at).reverse();
}

/** Keys of a project in the ledger. Events may lack its identifier. */
function listKeys(project: ProjectRef | undefined): string[] | undefined {
  return project && [projectId(project), project.permalink];
}

function isOfProject({ project }: Entry, keys: readonly string[] | undefined): boolean {
  return keys?.includes(project) ?? true;
}

function isMatch(
  entry: Entry,
  { server, people, isHistory = false }: Omit<Filter, 'project'>,
  projects: readonly string[] | undefined,
): boolean {
  const { event, servers = [], user = '', test } = entry;
  if (test !== undefined) return false;
  if (people !== undefined && !people.includes(user)) return false;
  if (isHistory && readEventOutcome(event) === undefined) return false;
  if (!isOfProject(entry, projects)) return false;
  return server === undefined || servers.some((name) => isNamed(server, name));
}

/** Events in the form of the service, under the latest name of each project. @param entries the latest first */
function toEvents(entries: readonly Entry[]): ActivityEvent[] {
  const projects = new Map<string, Map<string | undefined, ActivityEvent['project']>>();
  const names = new Map<string, string>();
  return entries.map((entry) => {
    const { project: key, permalink, name = key, at } = entry;
    const latest = names.get(key) ?? name;
    names.set(key, latest);
    const byPermalink = projects.get(key) ?? new Map<string | undefined, ActivityEvent['project']>();
    projects.set(key, byPermalink);
    const project = byPermalink.get(permalink) ?? toProject(entry, latest);
    byPermalink.set(permalink, project);
    const event = toEvent(entry, project);
    event.at = at;
    return event;
  });
}

/** Events that were read before add to what a page holds. */
function findCoverage(
  record: Pick<LedgerRange, 'since' | 'gaps'>,
  { page, query, from, now }: { page: Activity; query: ActivityQuery; from: number; now: number },
): Coverage {
  const range = toServiceRange(query.range);
  const begin = Math.max(from, computePeriods(range, query.zone, now).from);
  const held = isTruncated(page) ? Math.min(now, ...page.events.map(readEventTime)) : begin;
  const since = Math.min(record.since ?? now, held);
  const gaps = record.gaps.filter((gap) => gap.from < held && gap.to > Math.max(from, since));
  return { since: since > from ? since : undefined, gaps };
}
