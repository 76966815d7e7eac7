import { isNamed } from '../../core/names.ts';
import { isSameProject } from '../../core/project-ref.ts';
import { HOUR_MS } from '../../core/time/clock.ts';
import type { Failing } from '../../records/feeds.ts';
import type { Watch, WatchedServer } from '../../records/schedules.ts';
import { type Mentions, makePersonKey } from '../../records/service-people.ts';

import {
  type ActivityEvent,
  identifyProject,
  isFailure,
  readEventOutcome,
  readEventTime,
} from '../../service/activity.ts';

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
 * @param now milliseconds since the epoch
 */
export function followOutcomes(
  before: Failing,
  page: readonly ActivityEvent[],
  fresh: ReadonlySet<ActivityEvent>,
  watchesOf: (event: ActivityEvent, kind: FoundOutcome['kind']) => Watch[],
  now = Number.POSITIVE_INFINITY,
): { failing: Failing; outcomes: FoundOutcome[] } {
  if (fresh.size === 0) return { failing: before, outcomes: [] };
  const failing = new Map(Object.entries(before));
  const outcomes: FoundOutcome[] = [];
  const readTime = (event: ActivityEvent): number => readOutcomeTime(event, now);
  // One that is dated ahead and was read before has had its effect.
  const past = page.filter((event) => readTime(event) === readEventTime(event) || fresh.has(event));
  const ordered = past.toReversed().toSorted((one, other) => readTime(one) - readTime(other));
  for (const event of ordered) {
    const key = identifyProject(event);
    const servers = failing.get(key) ?? [];
    const at = readTime(event);
    const kind = classifyEvent(event, servers, fresh, at);
    const watches = kind === undefined ? [] : watchesOf(event, kind);
    if (kind === undefined || watches.length === 0) continue;
    const after =
      kind === 'failure'
        ? addFailingServers(servers, event, watches, at)
        : dropPassedServers(servers, event, at);
    failing.set(key, after);
    // A success on another server, such as staging, is no recovery.
    if (kind === 'failure' || after.length === 0) outcomes.push({ event, kind, for: watches });
  }
  return { failing: Object.fromEntries([...failing].filter(([, servers]) => servers.length > 0)), outcomes };
}

/**
 * Time of an event, milliseconds since the epoch. One that is dated far ahead counts as of when it was read. The service's
 * clock may be somewhat ahead.
 */
export function readOutcomeTime(event: ActivityEvent, now: number): number {
  const at = readEventTime(event);
  return at > now + HOUR_MS ? now : at;
}

type FailingServer = NonNullable<Failing[string]>[number];

/** Returns undefined for an event that neither fails nor ends the failure of a server. */
function classifyEvent(
  event: ActivityEvent,
  servers: readonly FailingServer[],
  fresh: ReadonlySet<ActivityEvent>,
  at: number,
): FoundOutcome['kind'] | undefined {
  if (isFailure(event.event)) return fresh.has(event) ? 'failure' : undefined;
  const isSuccess = readEventOutcome(event.event) === 'succeeded';
  return isSuccess && dropPassedServers(servers, event, at).length < servers.length ? 'success' : undefined;
}

/** Only the servers that a watch follows, because no watch would see a success of the others. */
function addFailingServers(
  servers: readonly FailingServer[],
  event: ActivityEvent,
  watches: readonly Watch[],
  at: number,
): FailingServer[] {
  const isWatched = (name: string): boolean =>
    watches.some(({ server }) => server === undefined || isNamed(server, name));
  const names = listServers(event).filter((name) => name === '' || isWatched(name));
  const latest = (name: string): number => servers.find(({ server }) => server === name)?.at ?? at;
  const others = servers.filter(({ server }) => !names.includes(server));
  return [...others, ...names.map((server) => ({ server, at: Math.max(at, latest(server)) }))];
}

/** Any success ends a failure without servers. A success without servers ends all failures. */
function dropPassedServers(
  servers: readonly FailingServer[],
  event: ActivityEvent,
  passedAt: number,
): FailingServer[] {
  const passed = ['', ...listServers(event)];
  const isAll = event.properties.servers.length === 0;
  return servers.filter(({ server, at }) => at > passedAt || !(isAll || passed.includes(server)));
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
