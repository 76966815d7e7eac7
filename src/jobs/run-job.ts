import type { z } from 'zod';
import { parseJson } from '../core/json.ts';
import { backoff } from '../core/retry.ts';
import type { Logger } from '../observability/log.ts';
import type { Tracing } from '../observability/tracing.ts';
import { type Job, JobAborted, type JobOutcome, type Worker } from './jobs.ts';
import type { ClaimedJob, JobsBackend, QueueSpec } from './jobs-backend.ts';

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

/** More than any number of restarts while one job runs: such a job ends the process each time. */
const MAX_ATTEMPTS = 1_000;

/**
 * Runs a job once and stores what became of it. Rejects only if that could not be stored.
 * @returns in how many milliseconds it is due again, where it failed and is tried again
 */
export function runJob(
  queue: WorkedQueue,
  running: RunningJob,
  context: RunContext,
): Promise<number | undefined> {
  const { job } = running;
  const { traceparent: parent = null } = job;
  const attributes = () => ({
    'messaging.system': 'deckhand',
    'messaging.operation.type': 'process',
    'messaging.destination.name': queue.name,
    'deckhand.workspace': job.workspace,
    'deckhand.attempt': job.attempt,
  });
  const start = { name: `process ${queue.name}`, kind: 'consumer', attributes, parent } as const;
  return context.tracing.run(start, (span) => {
    function end(outcome: JobOutcome): void {
      span.set({ 'deckhand.outcome': outcome });
      if (outcome !== 'done' && outcome !== 'handed_back') span.fail(outcome);
      context.onJobEnd?.(queue.name, outcome);
    }
    return attempt({ queue, ...running, ...context, end });
  });
}

interface Attempt extends RunningJob, RunContext {
  queue: WorkedQueue;
  end(outcome: JobOutcome): void;
}

async function attempt(one: Attempt): Promise<number | undefined> {
  const { queue, job, abort, backend, write, end } = one;
  const parsed = queue.schema.safeParse(parseJson(job.data));
  if (!parsed.success) return leaveUnreadable(one);
  const { data } = parsed;
  if (job.attempt > MAX_ATTEMPTS) return fail(one, data, new Error('the job was started too often'));
  try {
    abort.signal.throwIfAborted();
    await queue.worker.run(job.workspace, jobOf(one, data));
  } catch (error) {
    return abort.signal.aborted ? handBack(one) : retry(one, data, error);
  }
  end('done');
  await write(() => backend.finish(job, queue));
  return undefined;
}

function jobOf({ job, abort }: Attempt, data: unknown): Job<unknown> {
  const { id, key, workspace, attempt } = job;
  return { id, key: key?.slice(keyOf(workspace, '').length), data, attempt, signal: abort.signal };
}

async function leaveUnreadable({ queue, job, log, end, write, backend }: Attempt): Promise<undefined> {
  const fields = { event: 'job_unreadable', workspace: job.workspace, kind: queue.name, job: job.id };
  log?.error(fields, 'a job cannot be read and is left out');
  end('unreadable');
  await write(() => backend.keepUnreadable(job));
}

/** Only a job that is still ours is handed back. */
async function handBack({ job, abort, end, write, backend }: Attempt): Promise<undefined> {
  const { reason } = abort.signal;
  if (!(reason instanceof JobAborted && reason.reason === 'draining')) return;
  end('handed_back');
  await write(() => backend.release(job, 0));
}

/** Later, unless it was its last attempt. */
async function retry(one: Attempt, data: unknown, error: unknown): Promise<number | undefined> {
  const { queue, job, log, random, end, write, backend } = one;
  const { attempts, backoffMs } = queue.worker.options;
  log?.warn({ event: 'job_failed', ...namesOf(job), err: error }, 'an attempt of a job failed');
  const failures = job.failures + 1;
  if (failures >= attempts) return fail(one, data, error);
  end('retried');
  const delayMs = backoff(backoffMs, failures, random());
  await write(() => backend.release({ ...job, failures }, delayMs));
  return delayMs;
}

async function fail(
  { queue, job, log, end, write, backend }: Attempt,
  data: unknown,
  error: unknown,
): Promise<undefined> {
  end('failed');
  try {
    await queue.worker.onDeadLetter?.(job.workspace, data, error);
  } catch (err) {
    const fields = { event: 'failed_job_not_reported', ...namesOf(job), err };
    log?.error(fields, 'the failure of a job was not reported');
  }
  await write(() => backend.finish(job, queue));
}

function namesOf({ queue, id, attempt }: ClaimedJob): { queue: string; job: string; attempt: number } {
  return { queue, job: id, attempt };
}

/** The key of a job as it is stored: unique in its queue for all workspaces. */
export function keyOf(workspace: string, key: string): string {
  return `${workspace} ${key}`;
}
