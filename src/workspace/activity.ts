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
import { identifyEvent } from '../records/feed-cursor.ts';
import {
  type Coverage,
  type Entry,
  type KnownActivity,
  type Ledger,
  type LedgerRange,
  toEntry,
} from '../records/ledger.ts';
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
  page: Pick<Activity, 'events' | 'unread'>,
  range: ActivityRange = 'last_7_days',
): Promise<void> {
  if (purpose === 'shared') await ledger.take(name, page, countDays(range) ?? 1);
}

/** The events of a range, perhaps of one project or one of its servers. */
export interface ActivityQuery {
  range: Range;
  /** IANA zone in which days begin. */
  zone: string;
  project?: ProjectRef | undefined;
  server?: { identifier: string; name: string } | undefined;
  /** Names of a person at the service. */
  people?: readonly string[] | undefined;
  /** True for deployments that ended, without other events. */
  isHistory?: boolean | undefined;
}

/**
 * The known events of a range: those of a page that was just read, and all that Deckhand read before. A person's own key sees
 * earlier events of a project that it lists.
 * @param page of the narrowest range of the service that holds the query's
 */
export async function readKnownActivity(
  { ledger, clock }: { ledger: Ledger; clock: Clock },
  account: Account,
  query: ActivityQuery,
  page: Activity,
): Promise<KnownActivity> {
  const now = clock.now();
  const { from } = computePeriods(query.range, query.zone, now);
  const isShared = account.purpose === 'shared';
  const record =
    isShared || query.project !== undefined
      ? await ledger.read(account.name, from)
      : { entries: [], since: undefined, gaps: [] };
  const marks = new Set(record.entries.map(({ mark }) => mark));
  const others = page.events.filter((event) => {
    // The service's day may begin earlier.
    if (readEventTime(event) < from)
      return query.project === undefined && query.range === toServiceRange(query.range);
    return !isShared && !marks.has(identifyEvent(event));
  });
  const entries = [...record.entries, ...others.toReversed().map((event) => toEntry(event, now))];
  const chosen = entries.filter((entry) => isMatch(entry, query)).toSorted((one, other) => one.at - other.at);
  const { stats, unread } = page;
  return {
    events: toEvents(chosen.toReversed()),
    ...(unread === undefined ? {} : { unread }),
    stats,
    ...findCoverage(record, { page, query, from, now }),
  };
}

function isMatch(entry: Entry, { project, server, people, isHistory = false }: ActivityQuery): boolean {
  const { event, project: key, servers = [], user = '' } = entry;
  if (people !== undefined && !people.includes(user)) return false;
  if (isHistory && readEventOutcome(event) === undefined) return false;
  if (project === undefined) return true;
  if (key !== projectId(project) && key !== project.permalink) return false;
  return server === undefined || servers.some((name) => isNamed(server, name));
}

/** Events in the form of the service, under the latest name of each project. @param entries the latest first */
function toEvents(entries: readonly Entry[]): ActivityEvent[] {
  const names = new Map<string, string>();
  return entries.map(({ event, project: key, name = key, ref = null, servers = [], user = null, at }) => {
    const latest = names.get(key) ?? name;
    names.set(key, latest);
    const project = key === '' ? null : { identifier: key, permalink: '', name: latest };
    const created_at = new Date(at).toISOString();
    return { event, project, properties: { end_ref: ref, servers }, user, created_at };
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
