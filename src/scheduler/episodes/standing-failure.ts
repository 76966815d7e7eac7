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
  const byDeployment = [...Map.groupBy(servers, ({ latest }) => latest.mark).values()];
  const latestFirst = byDeployment.toSorted((one, other) => readLatest(other) - readLatest(one));
  const lines = latestFirst.slice(0, MAX_LINES).map((own) => {
    const event = toEvent(standing, own);
    return newsLine(event, (name) => mentions.get(makePersonKey(name)), []).line;
  });
  const since = Math.min(...servers.map((one) => one.since ?? one.latest.at));
  const names = servers.map(({ name }) => name).filter(Boolean);
  const id = latestFirst[0]?.[0]?.latest.mark ?? '';
  return { kind: 'failure', id, at: readLatest(servers), since, lines, servers: names };
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
