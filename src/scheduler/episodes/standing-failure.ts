import { hash } from 'node:crypto';
import type { Outcome } from '../../records/episodes.ts';
import { readLatest } from '../../records/failing.ts';
import { type Mentions, makePersonKey } from '../../records/service-people.ts';
import type { ServerStanding, Standing } from '../../records/standings.ts';
import type { ActivityEvent } from '../../service/activity.ts';
import { newsLine } from '../../views/watches/watch.ts';

/** Maximum number of failed deployments in a message about several. */
const MAX_LINES = 5;

/** The failure of a project's servers, as its message shows it. @param servers those that fail */
export function makeFailure(
  standing: Standing,
  servers: readonly ServerStanding[],
  mentions: Mentions,
): Outcome {
  const latestFirst = groupByDeployment(servers);
  const lines = latestFirst
    .slice(0, MAX_LINES)
    .map((own) => newsLine(toEvent(standing, own), mentionedIn(mentions), []).line);
  const since = Math.min(...servers.map((one) => one.since ?? one.latest.at));
  const names = servers.map(({ name }) => name).filter(Boolean);
  const [newest] = latestFirst[0] ?? [];
  const id = newest === undefined ? '' : makeOutcomeId(newest.latest.mark, newest.latest.user);
  return { kind: 'failure', id, at: readLatest(servers), since, lines, servers: names };
}

/** The latest success of a project's servers. */
export function makeSuccess(
  standing: Standing,
  servers: readonly ServerStanding[],
  mentions: Mentions,
): Outcome {
  const [newest = []] = groupByDeployment(servers);
  const { line, words } = newsLine(toEvent(standing, newest), mentionedIn(mentions), []);
  const { mark = '', user } = newest[0]?.latest ?? {};
  const id = makeOutcomeId(mark, user);
  return { kind: 'success', id, at: readLatest(servers), lines: [line], words };
}

/** The same for a deployment that is read from the feed, so that it counts once. */
export function makeOutcomeId(mark: string, user: string | null | undefined): string {
  return `${mark} ${hash('sha256', user ?? '', 'base64url').slice(0, 8)}`;
}

/** The latest first. */
function groupByDeployment(servers: readonly ServerStanding[]): ServerStanding[][] {
  const groups = [...Map.groupBy(servers, ({ latest }) => latest.mark).values()];
  return groups.toSorted((one, other) => readLatest(other) - readLatest(one));
}

function mentionedIn(mentions: Mentions): (name: string) => string | undefined {
  return (name) => mentions.get(makePersonKey(name));
}

function toEvent({ name, permalink, project }: Standing, servers: readonly ServerStanding[]): ActivityEvent {
  const { event = '', ref = null, user = null, at = 0 } = servers[0]?.latest ?? {};
  return {
    event,
    properties: { end_ref: ref, servers: servers.map((one) => one.name).filter(Boolean) },
    project: { name, permalink: permalink ?? '', identifier: project },
    user,
    created_at: new Date(at).toISOString(),
  };
}
