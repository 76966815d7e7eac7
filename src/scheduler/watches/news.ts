import { isNamed } from '../../core/names.ts';
import { isSameProject } from '../../core/project-ref.ts';
import type { Failing } from '../../records/feeds.ts';
import type { Watch, WatchedServer } from '../../records/schedules.ts';
import { type Mentions, personKey } from '../../records/service-people.ts';
import { type ActivityEvent, isFailure, outcomeOf } from '../../service/activity.ts';

import { projectKey } from './feed-cursor.ts';

/** An event that belongs to an episode, and the watches that follow it. */
export interface FoundOutcome {
  event: ActivityEvent;
  kind: 'failure' | 'success';
  for: Watch[];
}

/**
 * The new failures of a page, and the successes that ended one, oldest first, with what fails after them. A failure that
 * comes late, after a success that was seen already, finds that success in the page. Pure.
 * @param page as the service lists it, the latest first
 * @param fresh the new events, without twins
 * @param watchesOf those that follow what failed, or what would end a failure
 */
export function followOutcomes(
  before: Failing,
  page: readonly ActivityEvent[],
  fresh: ReadonlySet<ActivityEvent>,
  watchesOf: (event: ActivityEvent, kind: FoundOutcome['kind']) => Watch[],
): { failing: Failing; found: FoundOutcome[] } {
  if (fresh.size === 0) return { failing: before, found: [] };
  const failing = new Map(Object.entries(before));
  const found: FoundOutcome[] = [];
  const ordered = page.toReversed().toSorted((one, other) => timeOf(one) - timeOf(other));
  for (const event of ordered) {
    const key = projectKey(event);
    const servers = failing.get(key) ?? [];
    const kind = kindOf(event, servers, fresh);
    const watches = kind === undefined ? [] : watchesOf(event, kind);
    if (kind === undefined || watches.length === 0) continue;
    const left = kind === 'failure' ? afterFailure(servers, event, watches) : afterSuccess(servers, event);
    failing.set(key, left);
    // A success elsewhere, as on staging, is no recovery.
    if (kind === 'failure' || left.length === 0) found.push({ event, kind, for: watches });
  }
  return { failing: Object.fromEntries([...failing].filter(([, servers]) => servers.length > 0)), found };
}

type FailingServer = NonNullable<Failing[string]>[number];

/** Undefined for an event that neither fails nor ends the failure of a server. */
function kindOf(
  event: ActivityEvent,
  servers: readonly FailingServer[],
  fresh: ReadonlySet<ActivityEvent>,
): FoundOutcome['kind'] | undefined {
  if (isFailure(event.event)) return fresh.has(event) ? 'failure' : undefined;
  const isSuccess = outcomeOf(event.event) === 'succeeded';
  return isSuccess && afterSuccess(servers, event).length < servers.length ? 'success' : undefined;
}

/** Only the servers that a watch follows: no other success would be seen. */
function afterFailure(
  servers: readonly FailingServer[],
  event: ActivityEvent,
  watches: readonly Watch[],
): FailingServer[] {
  const isWatched = (name: string): boolean =>
    watches.some(({ server }) => server === undefined || isNamed(server, name));
  const names = serversOf(event).filter((name) => name === '' || isWatched(name));
  const at = timeOf(event);
  const latest = (name: string): number => servers.find(({ server }) => server === name)?.at ?? at;
  const others = servers.filter(({ server }) => !names.includes(server));
  return [...others, ...names.map((server) => ({ server, at: Math.max(at, latest(server)) }))];
}

/** Any success ends a failure that names no server, and one that names none ends all. */
function afterSuccess(servers: readonly FailingServer[], event: ActivityEvent): FailingServer[] {
  const passed = ['', ...serversOf(event)];
  const isAll = event.properties.servers.length === 0;
  return servers.filter(({ server, at }) => at > timeOf(event) || !(isAll || passed.includes(server)));
}

/** As a set, in lower case; one empty name if the event names none. */
function serversOf({ properties: { servers } }: ActivityEvent): string[] {
  const names = [...new Set(servers.map((name) => name.toLowerCase().slice(0, 200)))].slice(0, 100);
  return names.length === 0 ? [''] : names;
}

function timeOf({ created_at }: ActivityEvent): number {
  return Date.parse(created_at);
}

/** True for an event of the project, server and person that the watch follows. Pure. */
export function isFollowed(
  { project, server, person }: Watch,
  event: ActivityEvent,
  mentions: Mentions,
): boolean {
  if (person !== undefined && mentions.get(personKey(event.user ?? '')) !== person) return false;
  return isPlaced({ project, server }, event);
}

/** The same, whoever did it: a failure of one's own may be ended by another person. Pure. */
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
