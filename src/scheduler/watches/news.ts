import { hashJson } from '../../core/json.ts';
import { isNamed } from '../../core/names.ts';
import { isSameProject } from '../../core/project-ref.ts';
import { DAY_MS, HOUR_MS } from '../../core/time/clock.ts';
import type { Failing, FeedCursor } from '../../records/feeds.ts';
import type { Watch, WatchedServer } from '../../records/schedules.ts';
import { type Mentions, makePersonKey } from '../../records/service-people.ts';

import {
  type ActivityEvent,
  identifyProject,
  isFailure,
  readEventOutcome,
  readEventTime,
} from '../../service/activity.ts';

/** API 8 (docs/service-api.md): maximum number of events on a page. A full page may hide older events. */
export const PAGE_SIZE = 100;

/** A few pages. Older events are before the floor. */
const MAX_MARKS = 400;

/** Deckhand polls a range of seven days (API 4.9); one day is left for the account's time zone. */
const RANGE_MS = 6 * DAY_MS;

export interface Found {
  cursor: FeedCursor;
  /** Oldest first. */
  fresh: ActivityEvent[];
  /** True if there may have been more events than the page holds. */
  isTruncated: boolean;
}

interface Entry {
  event: ActivityEvent;
  mark: string;
  at: number;
}

/** The cursor after all events of the page. Pure. @param now milliseconds since the epoch */
export function cursorAfter(page: readonly ActivityEvent[], now: number, unread?: number): FeedCursor {
  return advance({ recentMarks: [], floor: null, lookedAt: now }, page, now, unread).cursor;
}

/**
 * Finds the new events in a page of the feed, and moves the cursor past it. An event is new if the page holds
 * more events with its mark than were seen. Neither the order within the page nor Deckhand's clock matters.
 * Pure.
 * @param page most recent first (API 4.9)
 * @param now milliseconds since the epoch
 * @param unread number of unreadable events of the page
 */
export function advance(
  cursor: FeedCursor,
  page: readonly ActivityEvent[],
  now: number,
  unread: number | undefined = 0,
): Found {
  const entries = page.map(readEntry).reverse();
  const marks = countMarks(cursor);
  const fresh = entries.filter((entry) => !takeMark(marks, entry.mark) && isAfter(cursor, entry));
  const isFull = page.length + unread >= PAGE_SIZE && page.length > 0;
  const isOverrun = isFull && fresh.length === entries.length;
  const isLate = now - cursor.lookedAt > RANGE_MS;
  return {
    cursor: moveCursor(cursor, entries, fresh, isFull, now),
    fresh: fresh.toSorted((one, other) => one.at - other.at).map(({ event }) => event),
    isTruncated: fresh.length > 0 && (isOverrun || isLate),
  };
}

/**
 * Events at the floor itself were cut off with an earlier page, or share the time of the last one seen. They
 * may be new only if no younger event was seen.
 */
function isAfter({ recentMarks, floor }: FeedCursor, { at }: Entry): boolean {
  if (floor === null || at > floor) return true;
  return at === floor && recentMarks.every(([, seenAt]) => seenAt <= floor);
}

function moveCursor(
  cursor: FeedCursor,
  entries: readonly Entry[],
  fresh: readonly Entry[],
  isFull: boolean,
  now: number,
): FeedCursor {
  const oldest = isFull ? Math.min(...entries.map(({ at }) => at)) : null;
  const floor = later(cursor.floor, oldest);
  const added = fresh.map(({ mark, at }): [string, number] => [mark, at]);
  const recentMarks = [...cursor.recentMarks, ...added]
    .filter(([, at]) => floor === null || at >= floor)
    .toSorted(([, one], [, other]) => other - one);
  const dropped = recentMarks[MAX_MARKS]?.[1] ?? null;
  // An approximate time, so that most pages change nothing.
  const lookedAt = now - cursor.lookedAt > HOUR_MS ? now : cursor.lookedAt;
  return { recentMarks: recentMarks.slice(0, MAX_MARKS), floor: later(floor, dropped), lookedAt };
}

function later(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function countMarks({ recentMarks }: FeedCursor): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [mark] of recentMarks) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  return counts;
}

/** True if the mark was seen more often than it was taken so far. */
function takeMark(marks: Map<string, number>, mark: string): boolean {
  const remaining = marks.get(mark) ?? 0;
  if (remaining > 0) marks.set(mark, remaining - 1);
  return remaining > 0;
}

/**
 * Mark of an event. It leaves out whatever may change later: names of people and projects, and the zone in
 * which the time is written.
 */
export function identifyEvent(event: ActivityEvent): string {
  const { end_ref, servers } = event.properties;
  const facts = [readEventTime(event), event.event, identifyProject(event), end_ref, servers];
  return hashJson(facts).slice(0, 16);
}

/** Cache, because all channels of an account read the same page. */
const ENTRIES = new WeakMap<ActivityEvent, Entry>();

function readEntry(event: ActivityEvent): Entry {
  const cached = ENTRIES.get(event);
  if (cached !== undefined) return cached;
  const entry = { event, at: readEventTime(event), mark: identifyEvent(event) };
  ENTRIES.set(event, entry);
  return entry;
}

export interface FoundOutcome {
  event: ActivityEvent;
  kind: 'failure' | 'success';
  for: Watch[];
}

/**
 * The new failures of a page, and the successes that ended one, oldest first, with what fails after each. A
 * failure that comes late, after its success was seen, finds that success in the page. Pure.
 * @param page in the service's order, the latest first
 * @param fresh the new events, without twins
 * @param watchesOf returns the watches that follow a failure, or an event that would end one
 */
export function followOutcomes(
  before: Failing,
  page: readonly ActivityEvent[],
  fresh: ReadonlySet<ActivityEvent>,
  watchesOf: (event: ActivityEvent, kind: FoundOutcome['kind']) => Watch[],
): { failing: Failing; outcomes: FoundOutcome[] } {
  if (fresh.size === 0) return { failing: before, outcomes: [] };
  const failing = new Map(Object.entries(before));
  const outcomes: FoundOutcome[] = [];
  const ordered = page.toReversed().toSorted((one, other) => readEventTime(one) - readEventTime(other));
  for (const event of ordered) {
    const key = identifyProject(event);
    const servers = failing.get(key) ?? [];
    const kind = classifyEvent(event, servers, fresh);
    const watches = kind === undefined ? [] : watchesOf(event, kind);
    if (kind === undefined || watches.length === 0) continue;
    const after =
      kind === 'failure' ? addFailingServers(servers, event, watches) : dropPassedServers(servers, event);
    failing.set(key, after);
    // A success on another server, such as staging, is no recovery.
    if (kind === 'failure' || after.length === 0) outcomes.push({ event, kind, for: watches });
  }
  return { failing: Object.fromEntries([...failing].filter(([, servers]) => servers.length > 0)), outcomes };
}

type FailingServer = NonNullable<Failing[string]>[number];

/** Returns undefined for an event that neither fails nor ends the failure of a server. */
function classifyEvent(
  event: ActivityEvent,
  servers: readonly FailingServer[],
  fresh: ReadonlySet<ActivityEvent>,
): FoundOutcome['kind'] | undefined {
  if (isFailure(event.event)) return fresh.has(event) ? 'failure' : undefined;
  const isSuccess = readEventOutcome(event.event) === 'succeeded';
  return isSuccess && dropPassedServers(servers, event).length < servers.length ? 'success' : undefined;
}

/** Only the servers that a watch follows, because no watch would see a success of the others. */
function addFailingServers(
  servers: readonly FailingServer[],
  event: ActivityEvent,
  watches: readonly Watch[],
): FailingServer[] {
  const isWatched = (name: string): boolean =>
    watches.some(({ server }) => server === undefined || isNamed(server, name));
  const names = listServers(event).filter((name) => name === '' || isWatched(name));
  const at = readEventTime(event);
  const latest = (name: string): number => servers.find(({ server }) => server === name)?.at ?? at;
  const others = servers.filter(({ server }) => !names.includes(server));
  return [...others, ...names.map((server) => ({ server, at: Math.max(at, latest(server)) }))];
}

/** Any success ends a failure without servers. A success without servers ends all failures. */
function dropPassedServers(servers: readonly FailingServer[], event: ActivityEvent): FailingServer[] {
  const passed = ['', ...listServers(event)];
  const isAll = event.properties.servers.length === 0;
  return servers.filter(({ server, at }) => at > readEventTime(event) || !(isAll || passed.includes(server)));
}

/** Distinct names in lower case; one empty name if the event names no server. */
function listServers({ properties: { servers } }: ActivityEvent): string[] {
  const names = [...new Set(servers.map((name) => name.toLowerCase().slice(0, 200)))].slice(0, 100);
  return names.length === 0 ? [''] : names;
}

/** True for an event of the project, server and person that the watch follows. Pure. */
export function isFollowed(
  { project, server, person }: Watch,
  event: ActivityEvent,
  mentions: Mentions,
): boolean {
  if (person !== undefined && mentions.get(makePersonKey(event.user ?? '')) !== person) return false;
  return isPlaced({ project, server }, event);
}

/** Ignores the person, because anybody's success may end a person's own failure. Pure. */
export function isPlaced(
  { project, server }: Pick<Watch, 'project' | 'server'>,
  event: ActivityEvent,
): boolean {
  if (project !== undefined && (event.project === null || !isSameProject(project, event.project)))
    return false;
  return server === undefined || isOn(server, event);
}

function isOn(server: WatchedServer, { properties }: ActivityEvent): boolean {
  return properties.servers.some((name) => isNamed(server, name));
}
