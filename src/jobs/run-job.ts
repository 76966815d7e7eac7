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

/** What is done with the jobs of a queue. */
export interface WorkedQueue extends QueueSpec {
  schema: z.ZodType;
  worker: Worker<unknown>;
}

export interface RunningJob {
  job: ClaimedJob;
  abort: AbortController;
}

export interface RunContext {
  backend: JobsBackend;
  /** From 0 to 1. */
  random: () => number;
  log: Pick<Logger, 'warn' | 'error'> | undefined;
  tracing: Tracing;
  /** Called with how each attempt ended. */
  onJobEnd: ((queue: string, outcome: JobOutcome) => void) | undefined;
  /** Tries it again while the database fails: were an outcome lost, the job would run once more. */
  write(work: () => Promise<void>): Promise<void>;
}

interface Ending {
  outcome: JobOutcome;
  store(): Promise<void>;
  /** When it is due again, where it failed and is tried again. */
  retryMs?: number;
}

/**
 * Runs a job once and stores what became of it. Rejects only if that could not be stored.
 * @returns in how many milliseconds it is due again, where it failed and is tried again
 */
export function runJob(
  queue: WorkedQueue,
  running: RunningJob,
  context: RunContext,
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
  return context.tracing.run(start, async (span) => {
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

/** Undefined where the job is no longer ours. */
async function runOnce(
  queue: WorkedQueue,
  { job, abort }: RunningJob,
  context: RunContext,
): Promise<Ending | undefined> {
  const { backend, log } = context;
  const { id, workspace, attempt } = job;
  const parsed = queue.schema.safeParse(parseJson(job.data));
  if (!parsed.success) {
    const fields = { event: 'job_unreadable', workspace, kind: queue.name, job: id };
    log?.error(fields, 'a job cannot be read and is left out');
    return { outcome: 'unreadable', store: () => backend.keepUnreadable(job) };
  }
  const { data } = parsed;
  const key = job.key?.slice(keyOf(workspace, '').length);
  try {
    abort.signal.throwIfAborted();
    await queue.worker.run(workspace, { id, key, data, attempt, signal: abort.signal });
    return { outcome: 'done', store: () => backend.finish(job, queue) };
  } catch (error) {
    if (!abort.signal.aborted && error instanceof JobPostponed) {
      const retryMs = error.delayMs;
      return { outcome: 'handed_back', retryMs, store: () => backend.release(job, retryMs) };
    }
    if (!abort.signal.aborted) return afterFailure(queue, job, data, error, context);
    const { reason } = abort.signal;
    if (!(reason instanceof JobAborted && reason.reason === 'draining')) return undefined;
    return { outcome: 'handed_back', store: () => backend.release(job, 0) };
  }
}

/** It is tried again later, unless that was its last attempt. */
async function afterFailure(
  queue: WorkedQueue,
  job: ClaimedJob,
  data: unknown,
  error: unknown,
  { backend, log, random }: RunContext,
): Promise<Ending> {
  const { attempts, backoffMs } = queue.worker.options;
  const names = { queue: queue.name, job: job.id, attempt: job.attempt };
  log?.warn({ event: 'job_failed', ...names, err: error }, 'an attempt of a job failed');
  const failures = job.failures + 1;
  if (failures < attempts) {
    const retryMs = backoff(backoffMs, failures, random());
    return { outcome: 'retried', retryMs, store: () => backend.release({ ...job, failures }, retryMs) };
  }
  try {
    await queue.worker.onDeadLetter?.(job.workspace, data, error);
  } catch (err) {
    log?.error({ event: 'failed_job_not_reported', ...names, err }, 'the failure of a job was not reported');
  }
  return { outcome: 'failed', store: () => backend.finish(job, queue) };
}

/** The key of a job as it is stored: unique in its queue for all workspaces. */
export function keyOf(workspace: string, key: string): string {
  return `${workspace} ${key}`;
}
