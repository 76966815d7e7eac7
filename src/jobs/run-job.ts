import { z } from 'zod';
import { backoff } from '../core/retry.ts';
import type { Logger } from '../observability/log.ts';
import type { Span, Tracing } from '../observability/tracing.ts';
import {
  type Handler,
  JobAborted,
  type JobData,
  type JobOutcome,
  JobUnreadable,
  parseData,
  type SetAside,
  type WorkOptions,
} from './jobs.ts';
import type { ClaimedJob, JobsBackend } from './jobs-backend.ts';

export interface Worker {
  handler: Handler<JobData>;
  options: WorkOptions<JobData>;
}

export interface RunContext {
  backend: JobsBackend;
  random: () => number;
  log: Pick<Logger, 'warn' | 'error'> | undefined;
  tracing: Tracing;
  /** Called with how each attempt ended. */
  onEnd: ((queue: string, outcome: JobOutcome) => void) | undefined;
  onSetAside?: ((what: SetAside) => void) | undefined;
  /** Waits before a failed write is tried again; rejects when it should be given up. */
  pause(): Promise<void>;
}

/** More than any number of restarts while one job runs; a job that ends the process each time is dead then. */
const MOST_ATTEMPTS = 1_000;

/**
 * Runs a job once and writes down what became of it. Rejects only if that could not be written.
 * @returns in how many milliseconds it is due again, if it failed and is tried again
 */
export function runJob(
  job: ClaimedJob,
  worker: Worker,
  abort: AbortController,
  context: RunContext,
): Promise<number | undefined> {
  const { queue, workspace, traceparent: parent = null } = job;
  const attributes = () => ({
    'messaging.system': 'deckhand',
    'messaging.operation.type': 'process',
    'messaging.destination.name': queue,
    'deckhand.workspace': workspace,
    'deckhand.attempt': attemptOf(job),
  });
  const start = { name: `process ${queue}`, kind: 'consumer', attributes, parent } as const;
  return context.tracing.run(start, (span) => new JobRun(job, worker, abort, context, span).run());
}

class JobRun {
  /** As it is stored. */
  #job: ClaimedJob;
  readonly #worker: Worker;
  readonly #abort: AbortController;
  readonly #context: RunContext;
  readonly #span: Span;
  #past: Past = NO_PAST;

  constructor(job: ClaimedJob, worker: Worker, abort: AbortController, context: RunContext, span: Span) {
    this.#job = job;
    this.#worker = worker;
    this.#abort = abort;
    this.#context = context;
    this.#span = span;
  }

  /** Not asynchronous, or what it reads would be kept as long as the job runs. */
  run(): Promise<number | undefined> {
    const stored = parseData(this.#job.data);
    if (stored === undefined) return this.#setAside();
    const { data, past } = takePast(stored);
    this.#past = past;
    if (data[ENDED] === true) return this.#forget();
    const attempt = this.#attempt;
    const dead = attempt > MOST_ATTEMPTS ? 'started too often' : (this.#job.dead ?? past.dead);
    if (dead !== undefined) return this.#endDead(new Error(dead));
    const { signal } = this.#abort;
    const save = (saved: JobData): Promise<void> => this.#save(saved);
    const job = { id: past.id ?? this.#job.id, key: this.#job.key, data, attempt, signal, save };
    return this.#untilEnded(this.#worker.handler(job));
  }

  async #untilEnded(handling: Promise<void>): Promise<number | undefined> {
    try {
      await handling;
    } catch (error) {
      if (error instanceof JobUnreadable) return this.#setAside();
      return this.#abort.signal.aborted ? this.#stopped() : this.#failed(error);
    }
    this.#end('done');
    return this.#finish();
  }

  async #save(data: JobData): Promise<void> {
    const text = JSON.stringify(withPast(data, this.#past));
    try {
      await this.#context.backend.save({ ...this.#job, data: text });
    } catch (error) {
      if (error instanceof JobAborted) this.#abort.abort(error);
      throw error;
    }
    // In place: the queue holds the job too, and would keep the old text.
    this.#job.data = text;
  }

  /** Only a job that is still ours is handed back. */
  async #stopped(): Promise<undefined> {
    const { reason } = this.#abort.signal;
    if (!(reason instanceof JobAborted && reason.reason === 'draining')) return;
    this.#end('handed_back');
    const job = { ...this.#job, handedBack: this.#job.handedBack + 1 };
    await this.#write(() => this.#context.backend.release(job, 0));
  }

  async #failed(error: unknown): Promise<number | undefined> {
    const { log, random, backend } = this.#context;
    log?.warn({ event: 'job_failed', ...this.#names, err: error }, 'an attempt of a job failed');
    this.#job = { ...this.#job, failures: this.#job.failures + 1 };
    const failures = this.#past.failures + this.#job.failures;
    const { attempts, backoffMs } = this.#worker.options;
    if (failures >= attempts) return this.#endDead(error);
    this.#end('failed');
    const delayMs = backoff(backoffMs, failures, random());
    await this.#write(() => backend.release(this.#job, delayMs));
    return delayMs;
  }

  /** It failed for good. That is stored first, so that a kill does not lose the report. */
  async #endDead(error: unknown): Promise<undefined> {
    const { backend, log } = this.#context;
    this.#job = { ...this.#job, dead: error instanceof Error ? error.message : String(error) };
    this.#end('dead');
    await this.#write(() => backend.save(this.#job));
    try {
      const data = parseData(this.#job.data);
      if (data !== undefined) await this.#worker.options.onDeadLetter?.(takePast(data).data, error);
    } catch (err) {
      log?.error({ event: 'dead_job_not_reported', ...this.#names, err }, 'a dead job was not reported');
    }
    await this.#finish();
  }

  /** Where its key stays taken, nothing else of it does: it waits until the key may be free. */
  #finish(): Promise<undefined> {
    const { backend } = this.#context;
    const { keyStaysMs } = this.#worker.options;
    const { key, workspace } = this.#job;
    if (key === undefined || keyStaysMs === undefined) return this.#forget();
    const ended = { ...this.#job, data: JSON.stringify({ workspace, [ENDED]: true }), dead: undefined };
    return this.#write(() => backend.release(ended, keyStaysMs));
  }

  #forget(): Promise<undefined> {
    return this.#write(() => this.#context.backend.finish(this.#job));
  }

  async #setAside(): Promise<undefined> {
    const { log, backend, onSetAside } = this.#context;
    const { workspace, queue, id, data } = this.#job;
    log?.error(
      { event: 'job_set_aside', workspace, ...this.#names },
      'a job that cannot be read was set aside',
    );
    this.#end('set_aside');
    await this.#write(() => backend.setAside(this.#job));
    onSetAside?.({ kind: 'job', workspace, queue, id, data });
  }

  #end(outcome: JobOutcome): void {
    this.#span.set({ 'deckhand.outcome': outcome });
    if (outcome !== 'done' && outcome !== 'handed_back') this.#span.fail(outcome);
    this.#context.onEnd?.(this.#job.queue, outcome);
  }

  /** Until it is written: were it lost, the job would run once more. */
  async #write(write: () => Promise<void>): Promise<undefined> {
    for (;;) {
      try {
        await write();
        return;
      } catch (err) {
        if (err instanceof JobAborted) return;
        const fields = { event: 'job_not_stored', ...this.#names, err };
        this.#context.log?.error(fields, 'the outcome of a job is written later');
        await this.#context.pause();
      }
    }
  }

  get #names(): { queue: string; job: string; attempt: number } {
    const { queue, id } = this.#job;
    return { queue, job: id, attempt: this.#attempt };
  }

  get #attempt(): number {
    return this.#past.attempts + attemptOf(this.#job);
  }
}

function attemptOf({ claims, handedBack }: ClaimedJob): number {
  return claims - handedBack;
}

/** What a job was in the store that it came from. It is kept with its data, so that it goes on as the same job. */
const Past = z.object({
  /** What it is known by: claims of forms and requests name it. */
  id: z.string().optional(),
  attempts: z.number(),
  failures: z.number(),
  dead: z.string().optional(),
});

export type Past = z.infer<typeof Past>;

const NO_PAST: Past = { attempts: 0, failures: 0 };

const FIELD = 'came-with';
/** Set in the data of a job that has ended, and is there for its key alone. */
const ENDED = 'has-ended';

/** The data as it was sent. */
export function takePast(stored: JobData): { data: JobData; past: Past } {
  const past = Past.safeParse(stored[FIELD]).data;
  if (past === undefined) return { data: stored, past: NO_PAST };
  const { [FIELD]: _, ...data } = stored;
  return { data, past };
}

export function withPast(data: JobData, past: Past): JobData {
  return past === NO_PAST ? data : { ...data, [FIELD]: past };
}
