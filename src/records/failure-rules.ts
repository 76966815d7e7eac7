import { isNamed, isPattern, matchesPattern } from '../core/names.ts';
import { isInScope, splitKey } from '../core/project-ref.ts';
import { type EpisodeRecord, makeProjectRef, QUIET_MS, type Subject } from './episodes.ts';
import type { Guard, Schedule, Watch } from './schedules.ts';
import { type Mentions, makePersonKey } from './service-people.ts';
import { failureKey } from './shared-failures.ts';
import type { ServerStanding, Standing } from './standings.ts';

/** True if a watch follows the server that an event names. Pure. */
export function followsServer({ server }: Pick<Watch, 'server'>, eventName: string): boolean {
  if (server === undefined) return true;
  const { names = [server.name, server.identifier], isExcluded = false } = server;
  const isThere = names.some((name) =>
    isPattern(name) ? matchesPattern(name, { name: eventName }) : isNamed({ name }, eventName),
  );
  return isThere !== isExcluded;
}

/** Something that a channel follows or is bound to; a whole account if it has no project. */
export type Followed = Pick<Watch, 'account' | 'project' | 'pattern' | 'server' | 'person'>;

/** True for a watch or guard that follows a failure in its channel. Pure. */
export function followsFailure(one: Schedule, subject: Subject): one is Guard | Watch {
  return (
    one.kind === (subject.kind === 'deployments' ? 'watch' : 'guard') &&
    one.channel === subject.channel &&
    one.account === subject.account &&
    isInScope(one, makeProjectRef(subject))
  );
}

/** The servers of a project that somebody follows. Pure. */
export function findFollowedServers(
  standing: Standing,
  followed: readonly Followed[],
  mentions: Mentions,
): ServerStanding[] {
  const own = followed.filter(
    ({ account, ...scope }) =>
      account === standing.account && isInScope(scope, { ...splitKey(standing), name: standing.name }),
  );
  return standing.servers.filter((one) =>
    own.some(
      ({ server, person }) =>
        followsServer({ server }, one.name) &&
        (person === undefined || mentions.get(makePersonKey(one.latest.user ?? '')) === person),
    ),
  );
}

/** The failing deployments of a project, for one channel. */
export function makeSubject({ account, project, name, permalink }: Standing, channel: string): Subject {
  return { kind: 'deployments', channel, account, project, name: name || project, permalink };
}

export function isFailed({ outcome }: ServerStanding): boolean {
  return outcome === 'failed';
}

/** Time of the latest of some deployments, milliseconds since the epoch. */
export function readLatest(servers: readonly ServerStanding[]): number {
  return Math.max(0, ...servers.map(({ latest }) => latest.at));
}

/** When failures were closed that nothing has mended since, by `failureKey`. Milliseconds since the epoch. */
export function listClosed(records: readonly EpisodeRecord[]): Map<string, number> {
  const closed = new Map<string, number>();
  for (const { subject, episodes } of records) {
    const { ending } = episodes.at(-1) ?? {};
    const key = failureKey(subject);
    if (ending?.kind === 'closed' && ending.why === undefined)
      closed.set(key, Math.max(ending.at, closed.get(key) ?? 0));
  }
  return closed;
}

/**
 * True for a failure that somebody has closed, or that had no news for seven days. Pure.
 * @param closedAt the latest failure that counted when it was closed
 */
export function isSettled(
  servers: readonly ServerStanding[],
  closedAt: number | undefined,
  now: number,
): boolean {
  const latest = readLatest(servers);
  return latest <= (closedAt ?? 0) || now - latest >= QUIET_MS;
}

/** True if the newest deployments say that an open failure is mended, and its message does not say so yet. */
export function isMended({ episodes, subject }: EpisodeRecord, standing: Standing | undefined): boolean {
  const episode = episodes.at(-1);
  if (subject.kind !== 'deployments' || episode === undefined || standing === undefined) return false;
  return !standing.servers.some(isFailed) && readLatest(standing.servers) >= episode.latestAt;
}
