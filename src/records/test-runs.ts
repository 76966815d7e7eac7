import { hash } from 'node:crypto';
import { z } from 'zod';
import { ProjectRef, projectId } from '../core/project-ref.ts';
import { DAY_MS, HOUR_MS } from '../core/time/clock.ts';
import type { JobType } from '../jobs/jobs.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { FailedItem } from './episodes.ts';
import { ServerRef } from './servers.ts';

/** Something that is followed: for whom, and where it is shown. Times are milliseconds since the epoch. */
export const Followed = z.object({
  /** The person who asked, and the one who had it followed again, with whose key the service is asked. */
  requestedBy: z.string().optional(),
  resumedBy: z.string().optional(),
  /** Both undefined if it is shown nowhere. */
  channel: z.string().optional(),
  rootTs: z.string().optional(),
  /** The thread that the root message is a reply in. */
  threadTs: z.string().optional(),
  startedAt: z.number(),
  /** False if only the root message is edited. */
  threads: z.boolean(),
  /** When following ended and Slack had its end; from then on nothing is left to do. */
  shownAt: z.number().optional(),
});
export type Followed = z.infer<typeof Followed>;

/** A test for a guard's occurrence; times are milliseconds since the epoch. */
export const GuardCheck = z.object({
  id: z.string(),
  scheduledAt: z.number(),
  /** When it is due: it is the first of the occurrence, or tests again what was unreachable. */
  at: z.number(),
  /** When the check before ended. */
  since: z.number().optional(),
  /** Keys that were unreachable in the check before. Only parts that are still unreachable begin an episode. */
  unreachable: z.array(z.string()),
  /** Checks in a row for which the service had no such project. */
  notFound: z.number(),
});
export type GuardCheck = z.infer<typeof GuardCheck>;

/** The request of the run that a guard begins for a check, the same for each attempt. */
export function makeGuardRequestId({ id, at }: Pick<GuardCheck, 'id' | 'at'>): string {
  return `guard ${id} ${at}`;
}

/** How the run ended that a guard waited for, its own or one that went on already. */
export const GuardResult = z.object({
  check: GuardCheck,
  /** The request that began the run. */
  requestId: z.string(),
  /** When it ended, milliseconds since the epoch. */
  at: z.number(),
  /** Unreachable parts; undefined if the outcome is not known. Foreign text. */
  unreachable: z.array(FailedItem).optional(),
  /** The outcome, or why it is not known; mrkdwn, half a sentence. */
  words: z.string(),
  /** Kind of the service's failure, if that ended the run. */
  failure: z.string().optional(),
});
export type GuardResult = z.infer<typeof GuardResult>;

/** Sent at the end of a run to each guard that waits for it. */
export const GUARD_RESULTS: JobType<GuardResult> = { queue: 'guard-results', schema: GuardResult };

/** Project or server that a run tests. A target has at most one run at a time. */
export const Target = z.object({
  account: z.string(),
  project: ProjectRef,
  server: ServerRef.optional(),
});
export type Target = z.infer<typeof Target>;

/** The latest run of a target that Deckhand began by itself for a failed deployment. */
const Unasked = z.object({
  requestId: z.string(),
  /** When it began, milliseconds since the epoch. */
  at: z.number(),
  /** The key of the subject whose failure it is for. */
  episode: z.string(),
  /** When the account's key was connected, which names the key. */
  keyFrom: z.number(),
  /** True if the service answered 403. */
  isForbidden: z.boolean().optional(),
});
type Unasked = z.infer<typeof Unasked>;

/** A run: enough to go on with it from anywhere after a kill, and to show how it ended. */
export const Run = Followed.extend({
  /** Sorts by the time of its start. */
  id: z.string(),
  target: Target,
  /** The request that started it, so that a request that is carried out again finds its own run. */
  requestId: z.string(),
  /** The request that had it followed again. */
  resumedRequest: z.string().optional(),
  layout: z.enum(['full', 'compact']),
  endedAt: z.number().optional(),
  /** `lost`: no longer followed. */
  status: z.enum(['running', 'completed', 'failed', 'stopped', 'lost']),
  /** The service's identifier, once it has started. */
  run: z.string().optional(),
  /** True if the service was asked to start it and did not say whether it did. */
  mayRun: z.boolean().optional(),
  /** The service's own times, milliseconds since the epoch, if it gives them. */
  createdAt: z.number().optional(),
  completedAt: z.number().optional(),
  /** The service's word for its status while it goes on, which may be any. */
  serviceStatus: z.string().optional(),
  /** Absent in a run of one server, or without results. */
  repository: z.enum(['ok', 'error']).optional(),
  /** Number of servers. */
  reachable: z.number().optional(),
  total: z.number().optional(),
  /** The servers among them that are not, by identifier. */
  unreachable: z.array(z.string()).optional(),
  /** Failed parts, with the reasons. Foreign text. */
  failing: z.array(FailedItem).optional(),
  /** The servers of the latest results; kept until another run of the target has results. */
  servers: z.array(ServerRef).optional(),
  /** Results that could not be read. */
  unread: z.number().optional(),
  /** The executions of workflow steps that wait for its end. */
  steps: z.array(z.string()).optional(),
  /** The guards that wait for its end. */
  guards: z.array(GuardCheck).optional(),
  /** Requests for the run while no message showed it: its outcome is posted to each. */
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
  /** How long the last runs of the target took, in milliseconds, the newest at the end. */
  tookMs: z.array(z.number()).optional(),
  /** This run or one before it. */
  unasked: Unasked.optional(),
  /** True once the target has a newer run. */
  isReplaced: z.boolean().optional(),
});
export type Run = z.infer<typeof Run>;
export type NewRun = Omit<Run, 'id'>;

export function openRuns(store: WorkspaceStore): Collection<Run> {
  return store.collection('runs', Run);
}

function makeRunId({ startedAt, target }: Pick<Run, 'startedAt' | 'target'>): string {
  return `${String(startedAt).padStart(15, '0')} ${makeTargetKey(target)}`;
}

/** Points to the latest run of a target. */
const LatestRun = z.object({ run: z.string() });

export const KEPT_MS = 30 * DAY_MS;
/** Time for the thread of a replaced run to be completed. */
const REPLACED_KEPT_MS = DAY_MS;

export interface Claim {
  /** False if another run goes on, or an unasked run has to wait: `run` is then the latest one. */
  mine: boolean;
  /** The same request claimed it before, and was cut off. */
  isResumed: boolean;
  run: Run;
}

/** A short name of the target, the same for the same account, project and server. */
export function makeTargetKey(target: Target): string {
  const parts = [target.account, projectId(target.project), target.server?.identifier ?? ''];
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 24);
}

/** All that wait for the end of one of the two: steps, guards, and people whom nothing shows how the run goes. */
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

/** One unasked run an hour, and after a 403 one a day until the key changes. */
function isTooSoon({ unasked: before }: Run, { at, keyFrom }: Unasked): boolean {
  if (before === undefined) return false;
  return at - before.at < (before.isForbidden && before.keyFrom === keyFrom ? DAY_MS : HOUR_MS);
}

/** True if Deckhand began the run by itself for a failed deployment. */
export function isUnasked({ requestId, unasked }: Run): boolean {
  return unasked?.requestId === requestId;
}

const MAX_REMEMBERED = 5;
/** One or two runs do not say what is usual. */
const MIN_REMEMBERED = 3;

/** Adds the duration of a run, by the service's times or else ours; once, even if it ends again after a kill. */
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

/** The middle one of the last durations; undefined before there are any. */
export function usualDuration({ tookMs = [] }: Pick<Run, 'tookMs'>): number | undefined {
  if (tookMs.length < MIN_REMEMBERED) return undefined;
  return [...tookMs].sort((a, b) => a - b)[Math.floor(tookMs.length / 2)];
}

/** @param onChange called whenever a run starts, is shown or ends */
export function createTestRuns(store: WorkspaceStore, onChange: () => Promise<void>) {
  const runs = openRuns(store);
  const targets = store.collection('targets', LatestRun);

  async function latestByKey(key: string): Promise<Run | undefined> {
    const target = await targets.get(key);
    return target && runs.get(target.run);
  }

  /** Stores a run in place of the target's latest one, unless that is running and not stale. */
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
    // First, so that a run is never without its target after a kill.
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
     * Claims the target for a new run, or returns the one that is running already; the steps of the new one then wait
     * for that.
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
    /** The latest run of a target. */
    latest: (target: Target) => latestByKey(makeTargetKey(target)),
    /** The runs that began last, at most `limit` and one a target; the newest first. */
    async newest(limit: number): Promise<Run[]> {
      const newest = await runs.latest(limit);
      return newest.map(({ doc }) => doc).filter(({ isReplaced }) => isReplaced !== true);
    },
  };
}

/** Changes to the run of a project after a newer test of one of its servers: the latest result wins. Pure. */
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

/** Without the ended runs of a server that a newer run of its whole project has tested too: its result is the latest. */
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
