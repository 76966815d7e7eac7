import type { z } from 'zod';
import { parseJson } from '../core/json.ts';
import { backoff } from '../core/retry.ts';
import type { Logger } from '../observability/log.ts';
import type { Tracing } from '../observability/tracing.ts';
import {
  type ClaimedJob,
  JobAborted,
  type JobOutcome,
  JobPostponed,
  type JobsBackend,
  type QueueSpec,
  type Worker,
} from './jobs.ts';

/** A queue that this process works on. */
export interface WorkedQueue extends QueueSpec {
  schema: z.ZodType;
  worker: Worker<unknown>;
}

export interface RunningJob {
  job: ClaimedJob;
  abort: AbortController;
}

export interface JobContext {
  backend: JobsBackend;
  /** From 0 to 1, for the jitter of retries. */
  random: () => number;
  log: Pick<Logger, 'warn' | 'error'> | undefined;
  tracing: Tracing;
  onJobEnd: ((queue: string, outcome: JobOutcome) => void) | undefined;
  /** Retries while the database fails, because a job whose outcome is lost would run again. */
  write(work: () => Promise<void>): Promise<void>;
}

interface Ending {
  outcome: JobOutcome;
  store(): Promise<void>;
  /** Delay of the next attempt, if there is one. */
  retryMs?: number;
}

/**
 * Runs a job once and stores the outcome. Rejects only if it could not store the outcome.
 * @returns the delay of the next attempt in milliseconds, if there is one
 */
export function handleJob(
  queue: WorkedQueue,
  running: RunningJob,
  context: JobContext,
): Promise<number | undefined> {
  const { workspace, attempt, traceparent: parent = null } = running.job;
  const attributes = () => ({
    'messaging.system': 'deckhand',
    'messaging.operation.type': 'process',
    'messaging.destination.name': queue.name,
    'deckhand.workspace': workspace,
    'deckhand.attempt': attempt,
  });
  const start = { name: `process ${queue.name}`, kind: 'consumer', attributes, parent } as const;
  return context.tracing.trace(start, async (span) => {
    const ending = await runOnce(queue, running, context);
    if (ending === undefined) return undefined;
    const { outcome, store, retryMs } = ending;
    span.set({ 'deckhand.outcome': outcome });
    if (outcome !== 'done' && outcome !== 'handed_back') span.fail(outcome);
    context.onJobEnd?.(queue.name, outcome);
    await context.write(store);
    return retryMs;
  });
}

/** Returns undefined if the job was cancelled. */
async function runOnce(
  queue: WorkedQueue,
  { job, abort }: RunningJob,
  context: JobContext,
): Promise<Ending | undefined> {
  const { backend, log } = context;
  const { id, workspace, attempt } = job;
  const parsed = queue.schema.safeParse(parseJson(job.data));
  if (!parsed.success) {
    const fields = { event: 'job_unreadable', workspace, kind: queue.name, job: id };
    log?.error(fields, 'Unreadable job skipped');
    return { outcome: 'unreadable', store: () => backend.keepUnreadable(job) };
  }
  const { data } = parsed;
  const key = job.key?.slice(makeJobKey(workspace, '').length);
  try {
    abort.signal.throwIfAborted();
    await queue.worker.handle(workspace, { id, key, data, attempt, signal: abort.signal });
    return { outcome: 'done', store: () => backend.finish(job, queue) };
  } catch (error) {
    if (!abort.signal.aborted && error instanceof JobPostponed) {
      const retryMs = error.delayMs;
      return { outcome: 'handed_back', retryMs, store: () => backend.release(job, retryMs) };
    }
    if (!abort.signal.aborted) return releaseForRetry(queue, job, data, error, context);
    const { reason } = abort.signal;
    if (!(reason instanceof JobAborted) || reason.reason === 'cancelled') return undefined;
    if (reason.reason === 'draining') return { outcome: 'handed_back', store: () => backend.release(job, 0) };
    // If another replica has the job by now, this changes nothing. If the database is away, the job waits for the end of its lease.
    const store = () => backend.release(job, 0).catch(() => undefined);
    return { outcome: 'handed_back', retryMs: 0, store };
  }
}

/** Releases the job for another attempt, unless this was the last one. */
async function releaseForRetry(
  queue: WorkedQueue,
  job: ClaimedJob,
  data: unknown,
  error: unknown,
  { backend, log, random }: JobContext,
): Promise<Ending> {
  const { attempts, backoffMs } = queue.worker.options;
  const names = { queue: queue.name, job: job.id, attempt: job.attempt };
  log?.warn({ event: 'job_failed', ...names, err: error }, 'Job attempt failed');
  const failures = job.failures + 1;
  if (failures < attempts) {
    const retryMs = backoff(backoffMs, failures, random());
    return { outcome: 'retried', retryMs, store: () => backend.release({ ...job, failures }, retryMs) };
  }
  try {
    await queue.worker.onDeadLetter?.(job.workspace, data, error);
  } catch (err) {
    log?.error({ event: 'failed_job_not_reported', ...names, err }, 'Job failure not reported');
  }
  return { outcome: 'failed', store: () => backend.finish(job, queue) };
}

/** Stored key of a job, unique in its queue across workspaces. */
export function makeJobKey(workspace: string, key: string): string {
  return `${workspace} ${key}`;
}
