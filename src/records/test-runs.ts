import { hash } from 'node:crypto';
import { z } from 'zod';
import { DAY_MS } from '../core/clock.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { GuardCheck, requestOf } from './guards.ts';

/** What a test run is of. Two runs of the same target never go on at once. */
export const Target = z.object({
  account: z.string(),
  project: z.object({ permalink: z.string(), name: z.string() }),
  server: z.object({ identifier: z.string(), name: z.string() }).optional(),
});
export type Target = z.infer<typeof Target>;

/** The latest run of a target: where it is shown, and how it stands. */
export const Run = z.object({
  target: Target,
  /** The request that started it, so that a resumed request finds its own run. */
  requestId: z.string(),
  /** Where it is shown; a workflow may want its outcome alone. */
  channel: z.string().optional(),
  rootTs: z.string().optional(),
  /** The thread that its root message is a reply in, where a mention asked for it. */
  threadTs: z.string().optional(),
  /** The reply that showed its progress, kept at its end, so that it shows it again where it is followed again. */
  progressTs: z.string().optional(),
  /** Undefined for a workflow. */
  askedBy: z.string().optional(),
  /** When Deckhand began and ended to follow it. */
  startedAt: z.number(),
  endedAt: z.number().optional(),
  /** The service's own times, milliseconds since the epoch, where it gives them. */
  createdAt: z.number().optional(),
  completedAt: z.number().optional(),
  /** `lost`: no longer followed. */
  status: z.enum(['running', 'completed', 'failed', 'stopped', 'lost']),
  /** The service's word for how it stands, which may be any. */
  serviceStatus: z.string().optional(),
  /** Absent in a run of one server, or without results. */
  repository: z.enum(['ok', 'error']).optional(),
  /** Of the servers. */
  reachable: z.number().optional(),
  total: z.number().optional(),
  /** Results that could not be read. */
  unread: z.number().optional(),
  /** The executions of workflow steps that wait for its end. */
  steps: z.array(z.string()).optional(),
  /** The guards that wait for its end. */
  guards: z.array(GuardCheck).optional(),
  /** Those who asked for it while it was shown nowhere, and where its outcome is posted. */
  requests: z
    .array(
      z.object({
        requestId: z.string(),
        askedBy: z.string().optional(),
        channel: z.string().optional(),
        threadTs: z.string().optional(),
      }),
    )
    .optional(),
  /** How long the last runs of the target took, in milliseconds, the newest at the end. */
  tookMs: z.array(z.number()).optional(),
});
export type Run = z.infer<typeof Run>;

const KEPT_MS = 30 * DAY_MS;

const Start = z.object({ key: z.string() });

function startId({ startedAt, target }: Pick<Run, 'startedAt' | 'target'>): string {
  return `${String(startedAt).padStart(15, '0')} ${targetKey(target)}`;
}

export interface Claim {
  mine: boolean;
  /** The same request claimed it before, and was cut off. */
  isResumed: boolean;
  run: Run;
}

/** A short name of the target, the same for the same account, project and server. */
export function targetKey(target: Target): string {
  const parts = [target.account, target.project.permalink, target.server?.identifier ?? ''];
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 24);
}

/** What the target's record becomes when `run` wants it: a run that is in progress, and not stale, keeps it. */
function claimed(current: Run | undefined, run: Run, staleBefore: number): Run {
  if (current?.requestId === run.requestId) return current;
  const running = current?.status === 'running' ? current : undefined;
  const existing = running !== undefined && running.startedAt > staleBefore ? running : run;
  return { ...existing, ...waitingFor(running, run), tookMs: current?.tookMs };
}

/** All that wait for the end of one of the two: steps, guards, and people whom nothing shows how the run goes. */
function waitingFor(running: Run | undefined, wanted: Run): Pick<Run, 'steps' | 'guards' | 'requests'> {
  const { requestId, askedBy, channel, threadTs } = wanted;
  const isUnseen = running !== undefined && running.channel === undefined && channel !== undefined;
  const asked = isUnseen ? [{ requestId, askedBy, channel, threadTs }] : undefined;
  return {
    steps: united(running?.steps, wanted.steps, (step) => step),
    guards: united(running?.guards, wanted.guards, requestOf),
    requests: united(running?.requests, asked, (request) => request.requestId),
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

const MAX_REMEMBERED = 5;

/** Remembers how long a run took, by the service's times or else by ours; once, also where it ends again after a kill. */
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
  return [...tookMs].sort((a, b) => a - b)[Math.floor(tookMs.length / 2)];
}

/** @param onChange called whenever a run starts, is shown or ends */
export function createTestRuns(store: WorkspaceStore, onChange: () => Promise<void>) {
  const stored: Collection<Run> = store.collection('runs', Run);
  /** The target of each run, under an id that sorts by time. */
  const starts: Collection<z.infer<typeof Start>> = store.collection('run-starts', Start);

  return {
    /**
     * Claims the target for a new run, or returns the one that is running already; the steps of the new one then wait
     * for that.
     */
    async claim(run: Run, staleBefore: number): Promise<Claim> {
      const key = targetKey(run.target);
      let isResumed = false;
      let before: Run | undefined;
      const claimNow = (current: Run | undefined): Run => {
        isResumed = current?.requestId === run.requestId;
        before = current;
        return claimed(current, run, staleBefore);
      };
      const kept = await stored.update(key, claimNow, run.startedAt + KEPT_MS);
      const existing = kept ?? run;
      if (existing.requestId === run.requestId) {
        await starts.put(startId(existing), { key }, run.startedAt + KEPT_MS);
        if (before !== undefined && !isResumed) await starts.delete(startId(before));
      }
      await onChange();
      return { mine: existing.requestId === run.requestId, isResumed, run: existing };
    },
    /** Changes the target's run; undefined where another run has replaced it since. */
    async change(
      { target, requestId }: Pick<Run, 'target' | 'requestId'>,
      change: Partial<Run> | ((current: Run) => Partial<Run>),
    ): Promise<Run | undefined> {
      const changed = await stored.update(targetKey(target), (current) =>
        current?.requestId === requestId
          ? { ...current, ...(typeof change === 'function' ? change(current) : change) }
          : current,
      );
      await onChange();
      return changed?.requestId === requestId ? changed : undefined;
    },
    /** By `targetKey`. */
    get: (key: string) => stored.get(key),
    /** The latest run of a target. */
    latest: (target: Target) => stored.get(targetKey(target)),
    /** The runs that began last, at most `limit`; the newest first. */
    async newest(limit: number): Promise<Run[]> {
      const keys = new Set((await starts.latest(limit)).map(({ doc }) => doc.key));
      const runs = await Promise.all([...keys].map((key) => stored.get(key)));
      return runs.filter((run) => run !== undefined);
    },
  };
}
