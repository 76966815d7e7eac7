import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Alarm, type Clock, createAlarm, withTimeout } from '../core/time/clock.ts';
import { NO_TRACING } from '../observability/tracing.ts';
import { handleJob, type JobContext, makeJobKey, type RunningJob, type WorkedQueue } from './handle-job.ts';
import {
  type ClaimedJob,
  type Engine,
  type EngineStats,
  JobAborted,
  type JobsBackend,
  type JobType,
  type Leases,
  type SendOptions,
  type Worker,
} from './jobs.ts';

/** Maximum number of jobs in one claim. */
const MAX_CLAIMED = 100;
/** Pause after a failure of the database, before the next claim or write. */
const RETRY_MS = 1_000;
/** Time in which an aborted job should end. */
const ABORT_MS = 3_000;

export interface JobsOptions extends Partial<Omit<JobContext, 'backend' | 'write'>> {
  backend: JobsBackend;
  clock: Clock;
  /** Turns database failures into errors that people can read. */
  mapErrors?: <T>(work: Promise<T>) => Promise<T>;
}

interface Running extends RunningJob {
  ended: Promise<void>;
}

/** A queue of this process. All its jobs are of one type. */
interface Queue extends WorkedQueue {
  running: Map<string, Running>;
  /** The current claim; never rejects. */
  claiming: Promise<void> | undefined;
  /** True if there may be due jobs that are not claimed. */
  mayHaveMore: boolean;
  /** True if workspaces with a full share may have due jobs. */
  hasLeftOut: boolean;
  /** Due time of the next job, if known. */
  nextAt: number | undefined;
}

/**
 * Durable jobs on either database. Claims due jobs as long as there is room, runs them, and stores their
 * outcomes.
 */
export function createJobs(options: JobsOptions): Engine {
  return new Runner(options);
}

class Runner implements Engine {
  readonly #backend: JobsBackend;
  readonly #context: JobContext;
  readonly #mapErrors: <T>(work: Promise<T>) => Promise<T>;
  readonly #clock: Clock;
  readonly #queues = new Map<string, Queue>();
  readonly #alarm: Alarm;
  #state: 'new' | 'running' | 'stopped' = 'new';
  readonly #stopping = new AbortController();

  constructor(options: JobsOptions) {
    const { backend, clock, random = Math.random, tracing = NO_TRACING, log, onJobEnd } = options;
    this.#backend = backend;
    this.#clock = clock;
    this.#mapErrors = options.mapErrors ?? ((work) => work);
    const write: JobContext['write'] = (work) => this.#write(work);
    this.#context = { backend, random, tracing, log, onJobEnd, write };
    this.#alarm = createAlarm(clock, () => this.#wake());
  }

  work<Data>({ queue: name, schema }: JobType<Data>, worker: Worker<Data>): void {
    const { keyStaysMs } = worker.options;
    const queue: unknown = { name, schema, worker, keyStaysMs, running: new Map() };
    this.#queues.set(name, queue as Queue);
  }

  async send<Data>(
    workspace: string,
    { queue: name }: JobType<Data>,
    data: Data,
    { key, at }: SendOptions = {},
  ): Promise<boolean> {
    const now = this.#clock.now();
    const delayMs = Math.max(0, (at ?? now) - now);
    const job = {
      workspace,
      key: key === undefined ? undefined : makeJobKey(workspace, key),
      data: JSON.stringify(data),
      delayMs,
      traceparent: delayMs === 0 ? this.#context.tracing.traceparent : undefined,
    };
    const queue = this.#queues.get(name);
    const isStored = await this.#mapErrors(this.#backend.insert(queue ?? { name }, job));
    if (isStored && queue !== undefined) this.#expect(queue, now + delayMs);
    return isStored;
  }

  async cancel(workspace: string): Promise<void> {
    await this.#mapErrors(this.#backend.cancel(workspace));
    this.#abort('cancelled', ({ job }) => job.workspace === workspace);
  }

  unreadable(workspace: string): ReturnType<Engine['unreadable']> {
    return this.#mapErrors(this.#backend.unreadable(workspace));
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error('the engine was started before');
    const firstDue = await this.#backend.start([...this.#queues.values()]);
    this.#state = 'running';
    for (const queue of this.#queues.values()) {
      const at = firstDue?.get(queue.name);
      if (firstDue === undefined || queue.mayHaveMore) this.#pull(queue);
      else if (at !== undefined) this.#expect(queue, at);
    }
    // For jobs that were sent during the start.
    this.#setAlarm();
    if (this.#backend.leases !== undefined) this.#keepLeases(this.#backend.leases);
  }

  async stop(graceMs: number): Promise<void> {
    this.#state = 'stopped';
    this.#alarm.set(undefined);
    this.#abort('draining', (_, { worker }) => worker.options.isSleeper === true);
    await this.#ended(graceMs);
    this.#abort('draining');
    await this.#ended(ABORT_MS);
    this.#stopping.abort();
  }

  async ping(): Promise<void> {
    if (this.#state !== 'running') throw new Error('the engine does not run');
    await this.#backend.ping();
  }

  async stats(): Promise<EngineStats> {
    const none = { waiting: 0, later: 0, running: 0, oldestDueMs: 0 };
    const empty = Object.fromEntries([...this.#queues.keys()].map((name) => [name, none]));
    return { ...empty, ...(await this.#backend.count()) };
  }

  /** Notes the due time of a job in the queue. */
  #expect(queue: Queue, at: number): void {
    if (at <= this.#clock.now()) {
      this.#pull(queue);
      return;
    }
    queue.nextAt = Math.min(at, queue.nextAt ?? at);
    this.#setAlarm();
  }

  #setAlarm(): void {
    if (this.#state !== 'running') return;
    const times = [...this.#queues.values()].flatMap(({ nextAt }) => nextAt ?? []);
    this.#alarm.set(times.length === 0 ? undefined : Math.min(...times));
  }

  /** Safe to call too early. */
  #wake(): void {
    const now = this.#clock.now();
    for (const queue of this.#queues.values())
      if (queue.nextAt !== undefined && queue.nextAt <= now) this.#pull(queue);
    this.#setAlarm();
  }

  /** Claims due jobs, as long as there is room. */
  #pull(queue: Queue): void {
    queue.mayHaveMore = true;
    if (queue.claiming !== undefined || this.#state !== 'running') return;
    queue.claiming = this.#claim(queue);
  }

  async #claim(queue: Queue): Promise<void> {
    try {
      // One claim for all jobs that are sent or end in this turn of the event loop.
      await nextTurn();
      const { concurrency } = queue.worker.options;
      while (this.#state === 'running' && queue.mayHaveMore && queue.running.size < concurrency)
        await this.#claimOnce(queue);
    } catch (error) {
      this.#report(error);
      queue.mayHaveMore = false;
      queue.nextAt = this.#clock.now() + RETRY_MS;
    } finally {
      // In the same turn. Otherwise a job that is sent in between would wait for the next claim.
      queue.claiming = undefined;
    }
    this.#setAlarm();
  }

  async #claimOnce(queue: Queue): Promise<void> {
    const { concurrency, isSleeper } = queue.worker.options;
    const share = isSleeper === true ? concurrency : computeShare(concurrency);
    const limit = Math.min(concurrency - queue.running.size, share, MAX_CLAIMED);
    const full = workspacesWith(share, queue.running.values());
    queue.mayHaveMore = false;
    queue.hasLeftOut = full.length > 0;
    queue.nextAt = undefined;
    const { jobs, nextAt } = await this.#backend.claim(queue.name, limit, full);
    for (const job of jobs) this.#begin(queue, job);
    if (jobs.length === limit) queue.mayHaveMore = true;
    if (nextAt !== undefined) this.#expect(queue, nextAt);
  }

  #begin(queue: Queue, job: ClaimedJob): void {
    const abort = new AbortController();
    const running: Running = { job, abort, ended: Promise.resolve() };
    queue.running.set(job.id, running);
    // The process began to stop during the claim.
    if (this.#state === 'stopped') abort.abort(new JobAborted('draining'));
    running.ended = this.#handle(queue, running).finally(() => {
      if (queue.running.get(job.id) === running) queue.running.delete(job.id);
      if (queue.mayHaveMore || queue.hasLeftOut) this.#pull(queue);
    });
  }

  /** Never rejects. */
  async #handle(queue: Queue, running: Running): Promise<void> {
    try {
      const delayMs = await handleJob(queue, running, this.#context);
      if (delayMs !== undefined) this.#expect(queue, this.#clock.now() + delayMs);
    } catch (error) {
      // The database could not be written. Replicas claim the job again after its lease.
      this.#report(error);
    }
  }

  /** Retries until the write succeeds, because a job whose outcome is lost would run again. */
  async #write(write: () => Promise<void>): Promise<void> {
    for (;;) {
      // After `stop` the connections are closed, and the job runs again elsewhere.
      if (this.#stopping.signal.aborted) return;
      try {
        return await write();
      } catch (error) {
        if (this.#state === 'stopped') throw error;
        this.#report(error);
        await this.#clock.sleep(RETRY_MS);
      }
    }
  }

  #abort(reason: JobAborted['reason'], isMeant: (one: Running, queue: Queue) => boolean = () => true): void {
    for (const queue of this.#queues.values())
      for (const one of queue.running.values())
        if (isMeant(one, queue)) one.abort.abort(new JobAborted(reason));
  }

  /** Waits until no job runs, at most `ms`. */
  async #ended(ms: number): Promise<void> {
    if (ms > 0) await withTimeout(this.#clock, ms, this.#idle());
  }

  async #idle(): Promise<void> {
    const busy = (): Array<Promise<void>> =>
      [...this.#queues.values()].flatMap(({ claiming, running }) => [
        ...(claiming === undefined ? [] : [claiming]),
        ...[...running.values()].map(({ ended }) => ended),
      ]);
    for (let remaining = busy(); remaining.length > 0; remaining = busy()) await Promise.all(remaining);
  }

  /** Claims jobs that other replicas sent, and touches the running ones. */
  #keepLeases({ pollMs, touchMs, leaseMs, touch, findDue }: Leases): void {
    let touchedAt = this.#clock.now();
    /** If the process slept or the database was away, other replicas may run these jobs now. */
    const endOverdue = (now: number): void => {
      if (now - touchedAt < leaseMs) return;
      this.#abort('claim over');
      touchedAt = now;
    };
    void this.#repeat(pollMs, async () => {
      endOverdue(this.#clock.now());
      // One queue at a time, because requests keep connections while the database is slow.
      for (const name of await findDue([...this.#queues.keys()])) {
        const queue = this.#queues.get(name);
        if (queue === undefined) continue;
        this.#pull(queue);
        await queue.claiming;
      }
    });
    void this.#repeat(touchMs, async () => {
      const at = this.#clock.now();
      endOverdue(at);
      await Promise.all([...this.#queues.values()].map((queue) => touchRunning(queue, touch)));
      touchedAt = at;
    });
  }

  /** Repeats an action until `stop` ends. */
  async #repeat(ms: number, act: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      // Random, so that replicas do not act at the same time.
      const pause = ms * (0.9 + this.#context.random() * 0.2);
      await this.#clock.sleep(pause, signal).catch(() => undefined);
      if (!signal.aborted) await act().catch((error: unknown) => this.#report(error));
    }
  }

  #report(err: unknown): void {
    this.#context.log?.error({ event: 'engine_error', err }, 'Job engine error');
  }
}

/** Maximum number of jobs of one workspace at once, so that its slow jobs leave room for others. */
function computeShare(concurrency: number): number {
  return Math.ceil(concurrency / 4);
}

function workspacesWith(share: number, running: Iterable<Running>): string[] {
  const groups = Map.groupBy(running, ({ job }) => job.workspace);
  return [...groups].flatMap(([workspace, jobs]) => (jobs.length >= share ? workspace : []));
}

async function touchRunning({ name, running }: Queue, touch: Leases['touch']): Promise<void> {
  const jobs = [...running.values()].flatMap(({ job, abort }) => (abort.signal.aborted ? [] : job));
  if (jobs.length > 0) await touch(name, jobs);
}
