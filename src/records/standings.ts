import { z } from 'zod';
import { hashJson } from '../core/json.ts';
import { type ActivityEvent, identifyProject, readEventOutcome } from '../service/activity.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { UnreachableItem } from './reachability.ts';

/** A time in which a revision was live, before another one was. Milliseconds since the epoch. */
export const LiveBefore = z.object({ from: z.number(), to: z.number() });
export interface LiveBefore extends z.infer<typeof LiveBefore> {}

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
  /** Set if its revision is back. */
  back: LiveBefore.optional(),
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
  unreachable: z.array(UnreachableItem).optional(),
  /** Its latest successful deployments, oldest first. `servers`: keys. */
  successes: z.array(z.object({ at: z.number(), ref: z.string(), servers: z.array(z.string()) })).optional(),
});
export interface Standing extends z.infer<typeof Standing> {}

/** Foreign text is cut to these numbers of servers and characters. */
const MAX_SERVERS = 100;
const MAX_TEXT = 200;
/** Maximum number of successful deployments of a project that are compared with a later one, and of their servers. */
const MAX_SUCCESSES = 50;
const MAX_KEYS = 500;

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
    /**
     * Adds outcomes. Safe to repeat. Returns, by mark, when the revisions that are back were live before.
     * @param events oldest first
     */
    async add(
      account: string,
      events: readonly KeptEvent[],
      expiresAt: number,
    ): Promise<Map<string, LiveBefore>> {
      const backs = new Map<string, LiveBefore>();
      const ended = events.filter(({ event }) => isEnd(event) && identifyProject(event) !== '');
      for (const [project, own] of Map.groupBy(ended, ({ event }) => identifyProject(event))) {
        const id = nameStanding(account, project);
        let standing: Standing = (await documents.get(id)) ?? { account, project, name: '', servers: [] };
        for (const one of own) {
          const back = findLiveBefore(standing, one);
          if (back !== undefined) backs.set(one.mark, back);
          standing = addOutcome(standing, one, back);
        }
        await documents.putUnlocked(id, standing, expiresAt);
      }
      return backs;
    },
    /** Stores which parts of a project tests do not reach. */
    async putUnreachable(
      { account, project, name, permalink }: Pick<Standing, 'account' | 'project' | 'name' | 'permalink'>,
      unreachable: UnreachableItem[],
      expiresAt: number,
    ): Promise<void> {
      const id = nameStanding(account, project);
      const before = (await documents.get(id)) ?? { account, project, servers: [] };
      await documents.putUnlocked(id, { ...before, ...nameProject(name, permalink), unreachable }, expiresAt);
    },
    /** Ends failures of servers that exist no more, if the project was deployed elsewhere since. */
    async settleUnlisted(
      account: string,
      project: string,
      isListed: (name: string) => boolean,
      expiresAt: number,
    ): Promise<void> {
      const id = nameStanding(account, project);
      const before = await documents.get(id);
      const after = before && settleUnlisted(before, isListed);
      if (after !== undefined && after !== before) await documents.putUnlocked(id, after, expiresAt);
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

/** Names of an event's servers by key; one empty name if it names none. */
function readServers({ properties: { servers } }: ActivityEvent): Map<string, string> {
  const names = new Map(
    servers.map((name) => [name.toLowerCase().slice(0, MAX_TEXT), name.slice(0, MAX_TEXT)]),
  );
  return names.size === 0 ? new Map([['', '']]) : names;
}

/** The latest time in which the revision of a deployment was live on one of its servers, before another one. */
function findLiveBefore({ successes = [] }: Standing, { event, at }: KeptEvent): LiveBefore | undefined {
  const ref = event.properties.end_ref?.slice(0, MAX_TEXT);
  if (ref === undefined || readEventOutcome(event.event) !== 'succeeded') return undefined;
  const times = [...readServers(event).keys()].flatMap((key): LiveBefore[] => {
    const own = successes.filter((one) => one.at < at && one.servers.includes(key));
    const other = own.findLastIndex((one) => one.ref !== ref);
    const last = own.findLastIndex((one, place) => place < other && one.ref === ref);
    const next = own[last + 1];
    if (last < 0 || next === undefined) return [];
    const first = own.findLastIndex((one, place) => place < last && one.ref !== ref) + 1;
    return [{ from: own[first]?.at ?? at, to: next.at }];
  });
  return times.toSorted((one, other) => one.to - other.to).at(-1);
}

/** Adds a success, unless it is known. */
function addToSuccesses(
  { successes = [] }: Standing,
  { event, at }: KeptEvent,
  servers: string[],
): Standing['successes'] {
  const ref = event.properties.end_ref?.slice(0, MAX_TEXT);
  const isKept = successes.some((one) => one.at === at && one.ref === ref);
  if (ref === undefined || isKept) return successes;
  const all = [...successes, { at, ref, servers }].toSorted((one, other) => one.at - other.at);
  return all.slice(-Math.min(MAX_SUCCESSES, Math.max(2, Math.floor(MAX_KEYS / servers.length))));
}

function addOutcome(standing: Standing, kept: KeptEvent, back: LiveBefore | undefined): Standing {
  const { event, mark, at } = kept;
  const { end_ref: ref } = event.properties;
  const deployment: Deployment = {
    at,
    mark,
    event: event.event.slice(0, MAX_TEXT),
    ...(ref === null ? {} : { ref: ref.slice(0, MAX_TEXT) }),
    ...(event.user === null ? {} : { user: event.user.slice(0, MAX_TEXT) }),
    ...(back === undefined ? {} : { back }),
  };
  const names = readServers(event);
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
    ...(isSuccess ? { successes: addToSuccesses(standing, kept, [...names.keys()]) } : {}),
  };
}

/** The latest successful deployment of the servers that fail. @param names those that count; all if there are none */
export function findLastGood({ servers }: Standing, names: readonly string[]): Deployment | undefined {
  const keys = new Set(['', ...names.map((name) => name.toLowerCase())]);
  const counted = servers.filter(({ key }) => names.length === 0 || keys.has(key));
  const goods = counted.flatMap(({ outcome, good }) => (outcome === 'failed' && good ? [good] : []));
  return goods.toSorted((one, other) => one.at - other.at).at(-1);
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

/** A server that was renamed fails under its old name, and succeeds under the new one. */
function settleUnlisted(standing: Standing, isListed: (name: string) => boolean): Standing {
  const successes = standing.servers.flatMap(({ name, outcome, latest }) =>
    outcome === 'succeeded' && isListed(name) ? [latest] : [],
  );
  const [newest] = successes.toSorted((one, other) => other.at - one.at);
  const isGone = ({ key, name, outcome, latest }: ServerStanding): boolean =>
    key !== '' && outcome === 'failed' && newest !== undefined && newest.at >= latest.at && !isListed(name);
  if (newest === undefined || !standing.servers.some(isGone)) return standing;
  return {
    ...standing,
    servers: standing.servers.map((one) => (isGone(one) ? addSuccess(one, newest) : one)),
  };
}

/** Drops the servers of the oldest deployments above the limit, those that succeeded first. */
function keepNewest(servers: readonly ServerStanding[]): ServerStanding[] {
  if (servers.length <= MAX_SERVERS) return [...servers];
  const rank = ({ outcome }: ServerStanding): number => (outcome === 'failed' ? 1 : 0);
  return servers
    .toSorted((one, other) => rank(other) - rank(one) || other.latest.at - one.latest.at)
    .slice(0, MAX_SERVERS);
}
