import { z } from 'zod';
import { hashJson } from '../core/json.ts';
import { ProjectRef, projectId } from '../core/project-ref.ts';
import { DAY_MS, HOUR_MS } from '../core/time/clock.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { FailedItem } from './episodes.ts';
import { ServerRef } from './known-servers.ts';

/**
 * Something that Deckhand follows, the person it does so for, and its message. Times are milliseconds since
 * the epoch.
 */
export const Followed = z.object({
  /**
   * The person who asked, and the person who resumed following. The latter's key is used for calls of the
   * service.
   */
  requestedBy: z.string().optional(),
  resumedBy: z.string().optional(),
  /** Both undefined if no message shows it. */
  channel: z.string().optional(),
  rootTs: z.string().optional(),
  /** Thread that the root message replies in. */
  threadTs: z.string().optional(),
  startedAt: z.number(),
  /** True if several accounts were connected at the start, so that the headline names the account. */
  isAccountShown: z.boolean().optional(),
  /** False if only the root message is edited. */
  threads: z.boolean(),
  /** Time at which Slack showed the end. Nothing is left to do after it. */
  shownAt: z.number().optional(),
});
export interface Followed extends z.infer<typeof Followed> {}

/** A test for a guard's occurrence; times are milliseconds since the epoch. */
export const GuardCheck = z.object({
  id: z.string(),
  scheduledAt: z.number(),
  /** Due time of the first check of an occurrence, or of the repeat for unreachable parts. */
  at: z.number(),
  /** End of the previous check. */
  since: z.number().optional(),
  /** Keys that were unreachable in the previous check. Only parts that are still unreachable begin an episode. */
  unreachable: z.array(z.string()),
  /** Number of checks in a row in which the service did not find the project. */
  notFound: z.number(),
});
export interface GuardCheck extends z.infer<typeof GuardCheck> {}

/** Request id of the run that a guard starts, the same for each attempt. */
export function makeGuardRequestId({ id, at }: Pick<GuardCheck, 'id' | 'at'>): string {
  return `guard ${id} ${at}`;
}

/** Project or server that a run tests. A target has at most one run at a time. */
export const Target = z.object({
  account: z.string(),
  project: ProjectRef,
  server: ServerRef.optional(),
});
export interface Target extends z.infer<typeof Target> {}

/** The latest run of a target that Deckhand started by itself after a failed deployment. */
const Unasked = z.object({
  requestId: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** The subject key of the failure. */
  episode: z.string(),
  /** Connection time of the account's key. It tells whether the key was replaced. */
  keyFrom: z.number(),
  /** True if the service answered 403. */
  isForbidden: z.boolean().optional(),
});
type Unasked = z.infer<typeof Unasked>;

/** A run, with all that Deckhand needs to continue after a kill and to show the end. */
export const Run = Followed.extend({
  /** Sorts by start time. */
  id: z.string(),
  target: Target,
  /** The request that started it. A repeated request finds its own run by it. */
  requestId: z.string(),
  /** The request that resumed following. */
  resumedRequest: z.string().optional(),
  layout: z.enum(['full', 'compact']),
  endedAt: z.number().optional(),
  /** `lost`: no longer followed. */
  status: z.enum(['running', 'completed', 'failed', 'stopped', 'lost']),
  /** The service's identifier, once it has started. */
  run: z.string().optional(),
  /** True if the service did not answer whether it started the run. */
  mayRun: z.boolean().optional(),
  /** The service's times, milliseconds since the epoch, if it gives them. */
  createdAt: z.number().optional(),
  completedAt: z.number().optional(),
  /** The service's status of a running test; any word is possible. */
  serviceStatus: z.string().optional(),
  /** Absent in a run of one server, or without results. */
  repository: z.enum(['ok', 'error']).optional(),
  reachable: z.number().optional(),
  total: z.number().optional(),
  /** Identifiers of the unreachable servers. */
  unreachable: z.array(z.string()).optional(),
  /** Failed parts, with the reasons. The text comes from the service. */
  failing: z.array(FailedItem).optional(),
  /** The servers of the latest results. They remain until another run of the target has results. */
  servers: z.array(ServerRef).optional(),
  /** Number of results that Deckhand could not read. */
  unread: z.number().optional(),
  /** The executions of workflow steps that wait for the end of the run. */
  steps: z.array(z.string()).optional(),
  /** The guards that wait for the end of the run. */
  guards: z.array(GuardCheck).optional(),
  /** Requests made while no message showed the run. Deckhand posts the outcome to each. */
  requests: z
    .array(
      z.object({
        requestId: z.string(),
        requestedBy: z.string().optional(),
        channel: z.string().optional(),
        threadTs: z.string().optional(),
      }),
    )
    .optional(),
  /** Durations of the target's last runs in milliseconds, the newest at the end. */
  tookMs: z.array(z.number()).optional(),
  /** The run that Deckhand started by itself: this one or an earlier one. */
  unasked: Unasked.optional(),
  /** True once the target has a newer run. */
  isReplaced: z.boolean().optional(),
});
export interface Run extends z.infer<typeof Run> {}
export type NewRun = Omit<Run, 'id'>;

export function openRuns(store: WorkspaceStore): Collection<Run> {
  return store.collection('runs', Run);
}

function makeRunId({ startedAt, target }: Pick<Run, 'startedAt' | 'target'>): string {
  return `${String(startedAt).padStart(15, '0')} ${makeTargetKey(target)}`;
}

export const LatestRun = z.object({ run: z.string() });

export const KEPT_MS = 30 * DAY_MS;
/** How long a replaced run remains, so that its thread can be completed. */
const REPLACED_KEPT_MS = DAY_MS;

export interface Claim {
  /** False if another run goes on, or an unasked run has to wait. `run` is then the latest one. */
  mine: boolean;
  /** True if the same request claimed it before and was cut off. */
  isResumed: boolean;
  run: Run;
}

/** Short key of a target, derived from account, project and server. */
export function makeTargetKey(target: Target): string {
  const parts = [target.account, projectId(target.project), target.server?.identifier ?? ''];
  return hashJson(parts).slice(0, 24);
}

/** Steps, guards and people who wait for the end of either run. */
function waitingFor(running: Run | undefined, requested: NewRun): Pick<Run, 'steps' | 'guards' | 'requests'> {
  const { requestId, requestedBy, channel, threadTs } = requested;
  const isUnseen = running !== undefined && running.channel === undefined && channel !== undefined;
  const requests = isUnseen ? [{ requestId, requestedBy, channel, threadTs }] : undefined;
  return {
    steps: united(running?.steps, requested.steps, (step) => step),
    guards: united(running?.guards, requested.guards, makeGuardRequestId),
    requests: united(running?.requests, requests, (request) => request.requestId),
  };
}

function united<T>(
  some: readonly T[] = [],
  more: readonly T[] = [],
  idOf: (one: T) => string,
): T[] | undefined {
  const all = new Map([...some, ...more].map((one) => [idOf(one), one]));
  return all.size === 0 ? undefined : [...all.values()];
}

/** Allows one unasked run an hour. After a 403, allows one a day until the key changes. */
function isTooSoon({ unasked: before }: Run, { at, keyFrom }: Unasked): boolean {
  if (before === undefined) return false;
  return at - before.at < (before.isForbidden && before.keyFrom === keyFrom ? DAY_MS : HOUR_MS);
}

/** True if Deckhand started the run by itself after a failed deployment. */
export function isUnasked({ requestId, unasked }: Run): boolean {
  return unasked?.requestId === requestId;
}

const MAX_REMEMBERED = 5;
/** Fewer runs do not show what is usual. */
const MIN_REMEMBERED = 3;

/**
 * Adds the duration of a run, by the service's times or else Deckhand's. Adds it once, even if the run ends
 * twice after a kill.
 */
export function withDuration(
  { status, startedAt, tookMs = [] }: Run,
  { createdAt, completedAt }: Pick<Run, 'createdAt' | 'completedAt'>,
  endedAt: number,
): Pick<Run, 'tookMs'> {
  if (status !== 'running') return { tookMs };
  const ms =
    createdAt === undefined || completedAt === undefined ? endedAt - startedAt : completedAt - createdAt;
  return { tookMs: [...tookMs, Math.max(0, ms)].slice(-MAX_REMEMBERED) };
}

/** Median of the last durations; undefined if there are too few. */
export function usualDuration({ tookMs = [] }: Pick<Run, 'tookMs'>): number | undefined {
  if (tookMs.length < MIN_REMEMBERED) return undefined;
  return [...tookMs].sort((a, b) => a - b)[Math.floor(tookMs.length / 2)];
}

/** @param onChange called after a run starts, is shown or ends */
export function createTestRuns(store: WorkspaceStore, onChange: () => Promise<void>) {
  const runs = openRuns(store);
  const targets = store.collection('targets', LatestRun);

  async function latestByKey(key: string): Promise<Run | undefined> {
    const target = await targets.get(key);
    return target && runs.get(target.run);
  }

  /** Stores a run in place of the target's latest one, unless that one still runs and is recent. */
  async function storeRun(run: NewRun, staleBefore: number): Promise<Claim> {
    const key = makeTargetKey(run.target);
    const current = await latestByKey(key);
    if (current?.requestId === run.requestId) return { mine: true, isResumed: true, run: current };
    const running = current?.status === 'running' ? current : undefined;
    if (running !== undefined && running.startedAt > staleBefore) {
      const joined = await runs.update(running.id, (one) => one && { ...one, ...waitingFor(one, run) });
      return { mine: false, isResumed: false, run: joined ?? running };
    }
    if (run.unasked !== undefined && current !== undefined && isTooSoon(current, run.unasked))
      return { mine: false, isResumed: false, run: current };
    const expiresAt = run.startedAt + KEPT_MS;
    const nextRun = {
      ...run,
      id: makeRunId(run),
      ...waitingFor(running, run),
      tookMs: current?.tookMs,
      servers: current?.servers,
      unasked: run.unasked ?? current?.unasked,
    };
    // Stored first, so that after a kill a run always has its target.
    await targets.put(key, { run: nextRun.id }, expiresAt);
    await runs.put(nextRun.id, nextRun, expiresAt);
    if (current !== undefined)
      await runs.update(
        current.id,
        (one) => (one?.shownAt === undefined ? one && { ...one, isReplaced: true } : undefined),
        run.startedAt + REPLACED_KEPT_MS,
      );
    return { mine: true, isResumed: false, run: nextRun };
  }

  return {
    /**
     * Claims the target for a new run, or returns the one that runs already. The new run's steps then wait
     * for that one.
     */
    async claim(run: NewRun, staleBefore: number): Promise<Claim> {
      const claim = await store.exclusive(`target ${makeTargetKey(run.target)}`, () =>
        storeRun(run, staleBefore),
      );
      await onChange();
      return claim;
    },
    /** Returns undefined if the run has expired. */
    async change(
      { id }: Pick<Run, 'id'>,
      change: Partial<Run> | ((current: Run) => Partial<Run>),
    ): Promise<Run | undefined> {
      const changed = await runs.update(
        id,
        (current) => current && { ...current, ...(typeof change === 'function' ? change(current) : change) },
      );
      await onChange();
      return changed;
    },
    latestByKey,
    latest: (target: Target) => latestByKey(makeTargetKey(target)),
    /** The runs that started last, at most `limit` and one for each target; the newest first. */
    async newest(limit: number): Promise<Run[]> {
      const newest = await runs.latest(limit);
      return newest.map(({ doc }) => doc).filter(({ isReplaced }) => isReplaced !== true);
    },
  };
}

/** Changes to a project's run after a newer test of one of its servers, because the latest result counts. Pure. */
export function withServerResult(
  { total = 0, servers = [], unreachable = [], failing = [] }: Run,
  { identifier }: ServerRef,
  isReachable: boolean,
  failed: readonly FailedItem[] = [],
): Pick<Run, 'reachable' | 'unreachable' | 'failing'> {
  const others = unreachable.filter((one) => one !== identifier);
  const isKnown = servers.some((server) => server.identifier === identifier);
  const all = isReachable || !isKnown ? others : [...others, identifier];
  const items = failing.filter(({ key }) => key !== `server:${identifier}`);
  return { unreachable: all, reachable: total - all.length, failing: [...items, ...(isKnown ? failed : [])] };
}

/** Removes ended runs of a server that a newer run of its whole project has tested too. */
export function withoutSuperseded(runs: readonly Run[]): Run[] {
  const isNewer = (one: Run, other: Run): boolean => (one.endedAt ?? 0) > (other.endedAt ?? 0);
  const wholes = runs.filter(({ target, status }) => target.server === undefined && status === 'completed');
  return runs.filter(
    (run) =>
      run.target.server === undefined ||
      run.status === 'running' ||
      !wholes.some((whole) => isWholeProject(whole.target, run.target) && isNewer(whole, run)),
  );
}

function isWholeProject(whole: Target, part: Target): boolean {
  return makeTargetKey(whole) === makeTargetKey({ ...part, server: undefined });
}
