import type { Logger } from '../observability/log.ts';
import type { Tracing } from '../observability/tracing.ts';
import { backoff } from './backoff.ts';
import { type Handler, JobAborted, type JobData, type JobOutcome, type WorkOptions } from './jobs.ts';

export interface Worker {
  handler: Handler<JobData>;
  options: WorkOptions<JobData>;
}

/** A job that was taken to be run. */
export interface Taken {
  id: string;
  queue: string;
  key: string | undefined;
  data: JobData;
  attempt: number;
  failures: number;
  /** Why its last attempt failed, if that is still to be reported. */
  dead: string | undefined;
  /** The span that it was sent in. */
  traceparent: string | undefined;
  signal: AbortSignal;
}

/**
 * What can become of it. Each rejects with `JobAborted` once the job is not ours any more; other rejections
 * mean that the database could not be written.
 */
export interface Outcomes {
  save(data: JobData): Promise<void>;
  handBack(): Promise<void>;
  retry(failures: number, delayMs: number): Promise<void>;
  /** Keeps the reason until `finish`. */
  markDead(failures: number, reason: string): Promise<void>;
  finish(): Promise<void>;
}

export interface Surroundings {
  random: () => number;
  log: Pick<Logger, 'warn' | 'error'> | undefined;
  tracing: Tracing;
  /** Told how each attempt ended. */
  onEnd: ((queue: string, outcome: JobOutcome) => void) | undefined;
  /** Waits before a failed write is tried again; rejects when it should be given up. */
  pause(): Promise<void>;
}

/** Runs a job once and writes down what became of it. Rejects only if that could not be written. */
export function runJob(job: Taken, worker: Worker, outcomes: Outcomes, around: Surroundings): Promise<void> {
  const { queue, attempt, traceparent: parent = null } = job;
  const attributes = () => ({
    'messaging.system': 'deckhand',
    'messaging.operation.type': 'process',
    'messaging.destination.name': queue,
    'deckhand.workspace': job.data.workspace,
    'deckhand.attempt': attempt,
  });
  return around.tracing.run({ name: `process ${queue}`, kind: 'consumer', attributes, parent }, (span) => {
    const onEnd: Surroundings['onEnd'] = (name, outcome) => {
      span.set({ 'deckhand.outcome': outcome });
      if (outcome === 'failed' || outcome === 'dead') span.fail(outcome);
      around.onEnd?.(name, outcome);
    };
    return runTraced(job, worker, outcomes, { ...around, onEnd });
  });
}

async function runTraced(
  job: Taken,
  worker: Worker,
  outcomes: Outcomes,
  around: Surroundings,
): Promise<void> {
  const insist = (write: () => Promise<void>): Promise<void> => writeUntilDone(write, job, around);
  if (job.dead !== undefined) return bury(job, new Error(job.dead), worker, outcomes, around);
  const current = { ...job };
  try {
    await worker.handler({
      id: job.id,
      key: job.key,
      data: job.data,
      attempt: job.attempt,
      signal: job.signal,
      save: async (data) => {
        await outcomes.save(data);
        current.data = data;
      },
    });
  } catch (error) {
    if (job.signal.aborted) {
      if (!isDraining(job.signal)) return;
      around.onEnd?.(job.queue, 'handed_back');
      return insist(outcomes.handBack);
    }
    around.log?.warn({ event: 'job_failed', ...names(job), err: error }, 'an attempt of a job failed');
    current.failures += 1;
    const { attempts, backoffMs } = worker.options;
    if (current.failures >= attempts) return bury(current, error, worker, outcomes, around);
    around.onEnd?.(job.queue, 'failed');
    return insist(() =>
      outcomes.retry(current.failures, backoff(backoffMs, current.failures, around.random())),
    );
  }
  around.onEnd?.(job.queue, 'done');
  await insist(outcomes.finish);
}

/** Ends a job that failed for good. It is marked first, so that a kill does not lose the report. */
async function bury(
  job: Taken,
  error: unknown,
  { options }: Worker,
  outcomes: Outcomes,
  around: Surroundings,
): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error);
  around.onEnd?.(job.queue, 'dead');
  await writeUntilDone(() => outcomes.markDead(job.failures, reason), job, around);
  try {
    await options.onDeadLetter?.(job.data, error);
  } catch (err) {
    around.log?.error({ event: 'dead_job_not_reported', ...names(job), err }, 'a dead job was not reported');
  }
  await writeUntilDone(outcomes.finish, job, around);
}

/** Writes an outcome until it is written: were it lost, the job would run once more. */
async function writeUntilDone(write: () => Promise<void>, job: Taken, around: Surroundings): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (err) {
      if (err instanceof JobAborted) return;
      around.log?.error(
        { event: 'job_not_stored', ...names(job), err },
        'the outcome of a job is written later',
      );
      await around.pause();
    }
  }
}

function isDraining(signal: AbortSignal): boolean {
  return signal.reason instanceof JobAborted && signal.reason.reason === 'draining';
}

function names({ queue, id, attempt }: Taken): { queue: string; job: string; attempt: number } {
  return { queue, job: id, attempt };
}
