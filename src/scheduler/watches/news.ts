import { isInScope } from '../../core/project-ref.ts';
import type { Episode } from '../../records/episodes.ts';
import { followsServer, isFailed } from '../../records/failure-rules.ts';
import type { NumberedEntry } from '../../records/ledger-columns.ts';
import type { Watch } from '../../records/schedules.ts';
import { type Mentions, makePersonKey } from '../../records/service-people.ts';
import type { Standing } from '../../records/standings.ts';
import { type ActivityEvent, isFailure, readEventOutcome } from '../../service/activity.ts';

/** An entry of the ledger, also in the form of the service. */
export interface ReadEvent {
  entry: NumberedEntry;
  event: ActivityEvent;
}

export interface FoundOutcome extends ReadEvent {
  kind: 'failure' | 'success';
  for: Watch[];
}

/** A failing server; empty if the event named none. `at`: its latest failure, milliseconds since the epoch. */
export interface FailingServer {
  server: string;
  at: number;
}

/** Failing servers of each project that the channel's watches follow. */
export type Failing = ReadonlyMap<string, readonly FailingServer[]>;

/**
 * The new failures, and the successes that ended one, oldest first. A failure that is read late, after its success, finds that
 * success among the events that are not new. Pure.
 * @param before what failed before the new events
 * @param read the new events, and others that are not
 * @param watchesOf returns the watches that follow a failure, or an event that would end one
 */
export function followOutcomes(
  before: Failing,
  read: readonly ReadEvent[],
  fresh: ReadonlySet<ReadEvent>,
  watchesOf: (event: ActivityEvent, kind: FoundOutcome['kind']) => Watch[],
): FoundOutcome[] {
  const failing = new Map(before);
  /** Projects with a new failure that nothing has ended yet. */
  const begun = new Set<string>();
  const outcomes: FoundOutcome[] = [];
  for (const one of read.toSorted((a, b) => a.entry.at - b.entry.at)) {
    const { project: key } = one.entry;
    const servers = failing.get(key) ?? [];
    const isFresh = fresh.has(one);
    const outcome = (isFresh || begun.has(key)) && findOutcome(one, servers, isFresh, watchesOf);
    if (!outcome) continue;
    failing.set(key, outcome.after);
    // A success on another server, such as staging, is no recovery.
    if (outcome.kind === 'success' && outcome.after.length > 0) continue;
    if (outcome.kind === 'failure') begun.add(key);
    else begun.delete(key);
    outcomes.push({ ...one, kind: outcome.kind, for: outcome.for });
  }
  return outcomes;
}

/** Undefined for an event that neither fails nor ends the failure of a server that a watch follows. */
function findOutcome(
  one: ReadEvent,
  servers: readonly FailingServer[],
  isFresh: boolean,
  watchesOf: (event: ActivityEvent, kind: FoundOutcome['kind']) => Watch[],
): { kind: FoundOutcome['kind']; for: Watch[]; after: readonly FailingServer[] } | undefined {
  const kind = classifyEvent(one, servers, isFresh);
  const watches = kind === undefined ? [] : watchesOf(one.event, kind);
  if (kind === undefined || watches.length === 0) return undefined;
  const after =
    kind === 'failure' ? addFailingServers(servers, one, watches) : dropPassedServers(servers, one);
  return { kind, for: watches, after };
}

/**
 * Finds the servers of a project that fail before some new events, if the channel shows its failure. Pure.
 * @param standing the latest outcomes, after the new events
 */
export function findFailing(
  episode: Episode,
  standing: Standing | undefined,
  fresh: readonly ReadEvent[],
  watches: readonly Watch[],
): FailingServer[] {
  const marks = new Set(fresh.map(({ entry }) => entry.mark));
  const first = Math.min(...fresh.map(({ entry }) => entry.at));
  const servers = standing?.servers ?? [];
  const hasPassed = (name: string): boolean =>
    servers.some(
      ({ key, outcome, latest }) =>
        key === name && outcome === 'succeeded' && latest.at >= episode.latestAt && !marks.has(latest.mark),
    );
  const episodeServers = listServers(episode.servers ?? []).filter((name) => !hasPassed(name));
  const standingFailed = servers.filter((one) => isFailed(one) && (one.since ?? first) < first);
  const names = new Set(
    [...episodeServers, ...standingFailed.map(({ key }) => key)].filter(isWatchedBy(watches)),
  );
  // Any success ends a failure without servers.
  return [...(names.size === 0 ? [''] : names)].map((server) => ({ server, at: episode.latestAt }));
}

function classifyEvent(
  read: ReadEvent,
  servers: readonly FailingServer[],
  isFresh: boolean,
): FoundOutcome['kind'] | undefined {
  if (isFailure(read.event.event)) return isFresh ? 'failure' : undefined;
  const isSuccess = readEventOutcome(read.event.event) === 'succeeded';
  return isSuccess && dropPassedServers(servers, read).length < servers.length ? 'success' : undefined;
}

/** Only the servers that a watch follows, because no watch would see a success of the others. */
function addFailingServers(
  servers: readonly FailingServer[],
  { entry: { at }, event }: ReadEvent,
  watches: readonly Watch[],
): FailingServer[] {
  const names = listServers(event.properties.servers).filter(isWatchedBy(watches));
  const latest = (name: string): number => servers.find(({ server }) => server === name)?.at ?? at;
  const others = servers.filter(({ server }) => !names.includes(server));
  return [...others, ...names.map((server) => ({ server, at: Math.max(at, latest(server)) }))];
}

/** The event without the servers that none of the watches follows. Pure. */
export function withWatchedServers(event: ActivityEvent, watches: readonly Watch[]): ActivityEvent {
  const { properties } = event;
  const servers = properties.servers.filter(isWatchedBy(watches));
  return { ...event, properties: { ...properties, servers } };
}

function isWatchedBy(watches: readonly Watch[]): (name: string) => boolean {
  return (name) => name === '' || watches.some((watch) => followsServer(watch, name));
}

/** Any success ends a failure without servers. A success without servers ends all failures. */
function dropPassedServers(
  servers: readonly FailingServer[],
  { entry, event }: ReadEvent,
): readonly FailingServer[] {
  const passed = ['', ...listServers(event.properties.servers)];
  const isAll = event.properties.servers.length === 0;
  return servers.filter(({ server, at }) => at > entry.at || !(isAll || passed.includes(server)));
}

/** Distinct names in lower case; one empty name if there are none. */
function listServers(servers: readonly string[]): string[] {
  const names = [...new Set(servers.map((name) => name.toLowerCase().slice(0, 200)))].slice(0, 100);
  return names.length === 0 ? [''] : names;
}

/** True for an event of the project, server and person that the watch follows. Pure. */
export function isFollowed(
  { project, pattern, server, person }: Watch,
  event: ActivityEvent,
  mentions: Mentions,
): boolean {
  if (person !== undefined && mentions.get(makePersonKey(event.user ?? '')) !== person) return false;
  return isPlaced({ project, pattern, server }, event);
}

/** Ignores the person, because anybody's success may end a person's own failure. Pure. */
export function isPlaced(
  { project, pattern, server }: Pick<Watch, 'project' | 'pattern' | 'server'>,
  event: ActivityEvent,
): boolean {
  const isEverywhere = project === undefined && pattern === undefined;
  if (!isEverywhere && (event.project === null || !isInScope({ project, pattern }, event.project)))
    return false;
  const { servers } = event.properties;
  // An event without servers may be of any that is not left out.
  if (servers.length === 0) return server === undefined || server.isExcluded === true;
  return servers.some((name) => followsServer({ server }, name));
}
