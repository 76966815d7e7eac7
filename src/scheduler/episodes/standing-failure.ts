import { hash } from 'node:crypto';
import { isDirect } from '../../core/message.ts';
import type { Outcome } from '../../records/episodes.ts';
import { readLatest } from '../../records/failure-rules.ts';
import type { Watch } from '../../records/schedules.ts';
import { createFindMentioned, type FindMentioned, makePersonKey } from '../../records/service-people.ts';
import type { ServerStanding, Standing } from '../../records/standings.ts';
import type { ActivityEvent } from '../../service/activity.ts';
import { newsLine } from '../../views/watches/watch-messages.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** Maximum number of failed deployments in a message about several. */
const MAX_LINES = 5;

/** The failure of a project's servers, as its message shows it. @param servers those that fail */
export function makeFailure(
  standing: Standing,
  servers: readonly ServerStanding[],
  findMentioned: FindMentioned,
): Outcome {
  const latestFirst = groupByDeployment(servers);
  const news = latestFirst
    .slice(0, MAX_LINES)
    .map((own) => newsLine(toEvent(standing, own), (name) => findMentioned(name, true), []));
  const lines = news.map(({ line }) => line);
  const since = Math.min(...servers.map((one) => one.since ?? one.latest.at));
  const names = servers.map(({ name }) => name).filter(Boolean);
  const [newest] = latestFirst[0] ?? [];
  const id = newest === undefined ? '' : makeOutcomeId(newest.latest.mark, newest.latest.user);
  return {
    kind: 'failure',
    id,
    at: readLatest(servers),
    since,
    lines,
    words: news[0]?.words,
    servers: names,
    ref: newest?.latest.ref ?? undefined,
  };
}

/** The latest success of a project's servers. */
export function makeSuccess(
  standing: Standing,
  servers: readonly ServerStanding[],
  findMentioned: FindMentioned,
): Outcome {
  const [newest = []] = groupByDeployment(servers);
  const { line, words, rewind } = newsLine(
    toEvent(standing, newest),
    (name) => findMentioned(name, false),
    [],
  );
  const { mark = '', user } = newest[0]?.latest ?? {};
  const id = makeOutcomeId(mark, user);
  return { kind: 'success', id, at: readLatest(servers), lines: [line], words, rewind };
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

function toEvent({ name, permalink, project }: Standing, servers: readonly ServerStanding[]): ActivityEvent {
  const { event = '', ref = null, user = null, at = 0, back } = servers[0]?.latest ?? {};
  return {
    event,
    properties: { end_ref: ref, servers: servers.map((one) => one.name).filter(Boolean) },
    project: { name, permalink: permalink ?? '', identifier: project },
    user,
    created_at: new Date(at).toISOString(),
    ...(back === undefined ? {} : { back }),
  };
}

type MentionSource = Pick<Workspace, 'names' | 'schedules'>;

/**
 * Reads whom the messages of an account mention.
 * @param watches all watches of the account; read if left out
 * @returns the same for a channel
 */
export async function readFindMentioned(
  { names, schedules }: MentionSource,
  account: string,
  watches?: readonly Watch[],
): Promise<(channel: string) => FindMentioned> {
  const all = watches ?? (await schedules.list('watch'));
  const direct = all.flatMap(({ account: of, person, state }) =>
    of === account && person !== undefined && state.kind === 'active' ? [person] : [],
  );
  const mentions = await names.mentions(account);
  const inChannels = createFindMentioned(await names.list(account), new Set(direct));
  const inDirect: FindMentioned = (name) => mentions.get(makePersonKey(name));
  return (channel) => (isDirect(channel) ? inDirect : inChannels);
}
