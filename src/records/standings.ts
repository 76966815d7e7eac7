import { z } from 'zod';
import { hashJson } from '../core/json.ts';
import { type ActivityEvent, identifyProject, readEventOutcome } from '../service/activity.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';

/** A deployment that ended on a server. Foreign text. */
const Deployment = z.object({
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** The mark of its event, as in the ledger. */
  mark: z.string(),
  /** The service's word for it. */
  event: z.string(),
  ref: z.string().optional(),
  user: z.string().optional(),
});
export interface Deployment extends z.infer<typeof Deployment> {}

/** The latest deployments of one server of a project. */
const ServerStanding = z.object({
  /** Its name in events, in lower case; empty for events that name no server. */
  key: z.string(),
  name: z.string(),
  outcome: z.enum(['succeeded', 'failed']),
  latest: Deployment,
  /** Time of the first failure since the last success, if it fails. */
  since: z.number().optional(),
  /** The latest deployment that succeeded. */
  good: Deployment.optional(),
});
export interface ServerStanding extends z.infer<typeof ServerStanding> {}

/** The latest outcome of each server of a project. */
export const Standing = z.object({
  account: z.string(),
  /** The key that `identifyProject` makes. */
  project: z.string(),
  /** Name of the project in its latest event. */
  name: z.string(),
  permalink: z.string().optional(),
  servers: z.array(ServerStanding),
});
export interface Standing extends z.infer<typeof Standing> {}

/** Foreign text is cut to these numbers of servers and characters. */
const MAX_SERVERS = 100;
const MAX_TEXT = 200;

/** An event, with the mark and the time that the ledger keeps of it. */
export interface KeptEvent {
  event: ActivityEvent;
  mark: string;
  at: number;
}

/** The latest outcomes of the projects of all accounts. Only the ledger writes them, under its lock. */
export function createStandings(store: WorkspaceStore) {
  const documents: Collection<Standing> = store.collection('standings', Standing);
  const list = async (account?: string): Promise<Standing[]> => {
    const rows = await documents.list(account === undefined ? undefined : `${account} `);
    return rows.map(({ doc }) => doc);
  };
  return {
    list,
    get: (account: string, project: string) => documents.get(nameStanding(account, project)),
    /** Adds outcomes. Safe to repeat. @param events oldest first */
    async add(account: string, events: readonly KeptEvent[], expiresAt: number): Promise<void> {
      const ended = events.filter(({ event }) => isEnd(event) && identifyProject(event) !== '');
      for (const [project, own] of Map.groupBy(ended, ({ event }) => identifyProject(event))) {
        const id = nameStanding(account, project);
        const before = (await documents.get(id)) ?? { account, project, name: '', servers: [] };
        await documents.put(id, own.reduce(addOutcome, before), expiresAt);
      }
    },
    async forgetProject(account: string, project: string): Promise<void> {
      await documents.delete(nameStanding(account, project));
    },
    async forget(account: string): Promise<void> {
      for (const { id } of await documents.list(`${account} `)) await documents.delete(id);
    },
  };
}

export type Standings = ReturnType<typeof createStandings>;

/** A hash, because a project's key is foreign text of any length. */
function nameStanding(account: string, project: string): string {
  return `${account} ${hashJson(project).slice(0, 22)}`;
}

/** True for an event that ends a deployment well or badly. A cancelled one changes nothing. */
function isEnd({ event }: ActivityEvent): boolean {
  const outcome = readEventOutcome(event);
  return outcome === 'succeeded' || outcome === 'failed';
}

function addOutcome(standing: Standing, { event, mark, at }: KeptEvent): Standing {
  const { end_ref: ref, servers: named } = event.properties;
  const deployment: Deployment = {
    at,
    mark,
    event: event.event.slice(0, MAX_TEXT),
    ...(ref === null ? {} : { ref: ref.slice(0, MAX_TEXT) }),
    ...(event.user === null ? {} : { user: event.user.slice(0, MAX_TEXT) }),
  };
  const names = new Map(
    named.map((name) => [name.toLowerCase().slice(0, MAX_TEXT), name.slice(0, MAX_TEXT)]),
  );
  if (names.size === 0) names.set('', '');
  const isSuccess = readEventOutcome(event.event) === 'succeeded';
  const after = isSuccess ? addSuccess : addFailure;
  // Any success ends a failure without servers. A success without servers ends all failures.
  const isEnded = (key: string): boolean => isSuccess && (key === '' || names.has(''));
  const others = standing.servers.map((one) =>
    isEnded(one.key) && !names.has(one.key) && one.outcome === 'failed' ? addSuccess(one, deployment) : one,
  );
  const own = [...names].map(([key, name]): ServerStanding => {
    const before = standing.servers.find((one) => one.key === key);
    const first = { key, name, latest: deployment };
    if (before !== undefined) return after(before, deployment);
    return isSuccess
      ? { ...first, outcome: 'succeeded', good: deployment }
      : { ...first, outcome: 'failed', since: at };
  });
  const newest = Math.max(0, ...standing.servers.map(({ latest }) => latest.at));
  const { name, permalink } = event.project ?? {};
  return {
    ...standing,
    ...(at < newest ? {} : nameProject(name || permalink || standing.name, permalink)),
    servers: keepNewest([...others.filter(({ key }) => !names.has(key)), ...own]),
  };
}

function nameProject(name: string, permalink: string | undefined): Pick<Standing, 'name' | 'permalink'> {
  return { name: name.slice(0, MAX_TEXT), ...(permalink ? { permalink: permalink.slice(0, MAX_TEXT) } : {}) };
}

function addSuccess(before: ServerStanding, success: Deployment): ServerStanding {
  const isNewest = before.good === undefined || success.at >= before.good.at;
  const good = isNewest ? success : before.good;
  const { since, ...rest } = before;
  if (success.at >= before.latest.at) return { ...rest, outcome: 'succeeded', latest: success, good };
  // It is known late. What failed before it does not count any more.
  const isLater = since !== undefined && since > success.at;
  return { ...before, good, ...(since === undefined || isLater ? {} : { since: before.latest.at }) };
}

function addFailure(before: ServerStanding, failure: Deployment): ServerStanding {
  const { latest, good, outcome } = before;
  const isNewer = failure.at >= latest.at;
  if (!isNewer && outcome === 'succeeded') return before;
  const isOfThis = good === undefined || failure.at >= good.at;
  const since = isOfThis ? Math.min(before.since ?? failure.at, failure.at) : before.since;
  return { ...before, outcome: 'failed', since, ...(isNewer ? { latest: failure } : {}) };
}

/** Drops the servers of the oldest deployments above the limit, those that succeeded first. */
function keepNewest(servers: readonly ServerStanding[]): ServerStanding[] {
  if (servers.length <= MAX_SERVERS) return [...servers];
  const rank = ({ outcome }: ServerStanding): number => (outcome === 'failed' ? 1 : 0);
  return servers
    .toSorted((one, other) => rank(other) - rank(one) || other.latest.at - one.latest.at)
    .slice(0, MAX_SERVERS);
}
