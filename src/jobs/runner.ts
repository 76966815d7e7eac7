import { type Alarm, type Clock, createAlarm, withTimeout } from '../core/clock.ts';
import { RecentMap } from '../core/ttl-cache.ts';
import { NO_TRACING, type Tracing } from '../observability/tracing.ts';
import type {
  AskStanding,
  Engine,
  EngineStats,
  Handler,
  JobAborted,
  JobData,
  JobOutcome,
  Schedule,
  SendOptions,
  SetAside,
  WorkOptions,
} from './jobs.ts';
import type { JobsBackend, Leases } from './jobs-backend.ts';
import { type Asking, Occurrences } from './occurrences.ts';
import { QueueRunner } from './queue-runner.ts';
import type { RunContext, Worker } from './run-job.ts';

/** How long a failed write of a job's outcome waits to be tried again. */
const REWRITE_MS = 1_000;
/** How long an aborted job may take to notice. */
const ABORT_MS = 3_000;

export interface JobsOptions {
  backend: JobsBackend;
  clock: Clock;
  /** From 0 to 1, for the jitter of retries. */
  random?: () => number;
  log?: RunContext['log'];
  tracing?: Tracing;
  onJobEnd?: ((queue: string, outcome: JobOutcome) => void) | undefined;
  /** Called with each job and schedule that cannot be read. */
  onSetAside?: ((what: SetAside) => void) | undefined;
  /** What is asked of the database for those who send, schedule and erase: its failures are made theirs. */
  asking?: Asking;
}

/** Durable jobs and schedules on either database. */
export function createJobs(options: JobsOptions): Engine {
  return new Runner(options);
}

class Runner implements Engine {
  readonly #backend: JobsBackend;
  readonly #clock: Clock;
  readonly #context: RunContext;
  readonly #asking: Asking;
  readonly #workers = new Map<string, Worker>();
  readonly #queues = new Map<string, QueueRunner>();
  /** Queues that this process sends to or works on. */
  readonly #known = new Set<string>();
  readonly #occurrences: Occurrences;
  readonly #alarm: Alarm;
  readonly #loops = new AbortController();
  #state: 'new' | 'running' | 'stopped' = 'new';
  /** To notice a clock that is set back. */
  #wokeAt = 0;
  #beatAt = 0;
  readonly #reportedAt = new RecentMap<string, number>(50);

  constructor(options: JobsOptions) {
    const { backend, clock, random = Math.random, log, tracing = NO_TRACING, onJobEnd, onSetAside } = options;
    this.#backend = backend;
    this.#clock = clock;
    this.#asking = options.asking ?? ((work) => work);
    const pause = (): Promise<void> => this.#pause();
    this.#context = { backend, random, log, tracing, onEnd: onJobEnd, onSetAside, pause };
    this.#alarm = createAlarm(clock, () => this.#wake());
    const onSent = (queue: string): void => this.#queues.get(queue)?.pull();
    this.#occurrences = new Occurrences({
      backend,
      clock,
      log,
      asking: this.#asking,
      onSent,
      onSetAside: (what) => {
        onJobEnd?.(what.queue, 'set_aside');
        onSetAside?.(what);
      },
    });
  }

  async send(queue: string, data: JobData, options: SendOptions = {}): Promise<boolean> {
    const { startAfter, newTrace, lane } = options;
    const { workspace } = data;
    const during = await options.during?.();
    const key = options.key && `${workspace} ${options.key}`;
    const traceparent = newTrace === true ? undefined : this.#context.tracing.traceparent;
    const now = this.#clock.now();
    const delayMs = Math.max(0, (startAfter ?? now) - now);
    const text = JSON.stringify({ ...data, lane, tenancy: during?.text });
    const job = { workspace, key, data: text, delayMs, traceparent, during };
    this.#known.add(queue);
    const [isStored = false] = await this.#asking(this.#backend.insert(queue, [job]));
    if (isStored) this.#queues.get(queue)?.expect(now + delayMs);
    return isStored;
  }

  work<T extends JobData>(queue: string, handler: Handler<T>, options: WorkOptions<T>): void {
    // A queue's jobs are of one type, which its senders and its worker agree on.
    const worker: unknown = { handler, options };
    this.#workers.set(queue, worker as Worker);
    this.#known.add(queue);
  }

  async schedule(workspace: string, key: string, schedule: Schedule, during?: AskStanding): Promise<void> {
    return this.#occurrences.set(workspace, key, schedule, await during?.());
  }

  unschedule(workspace: string, key: string): Promise<void> {
    return this.#asking(this.#backend.schedules.remove(workspace, key));
  }

  async erase(workspace: string): Promise<void> {
    await this.#asking(this.#backend.erase(workspace));
    for (const queue of this.#queues.values()) queue.abort('erased', workspace);
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error('the engine was started before');
    await this.#backend.start([...this.#workers.keys()]);
    this.#state = 'running';
    this.#wokeAt = this.#clock.now();
    for (const [name, worker] of this.#workers) this.#queues.set(name, this.#createQueue(name, worker));
    await this.#occurrences.open();
    for (const queue of this.#queues.values()) queue.open();
    if (this.#backend.leases !== undefined) this.#keepLeases(this.#backend.leases);
  }

  async stop(graceMs: number): Promise<void> {
    this.#state = 'stopped';
    this.#alarm.set(undefined);
    for (const queue of this.#queues.values()) queue.close();
    await this.#occurrences.close();
    for (const queue of this.#queues.values())
      if (queue.worker.options.resumable === true) queue.abort('draining');
    await this.#ended(graceMs);
    this.#abortAll('draining');
    await this.#ended(ABORT_MS);
    this.#loops.abort();
  }

  async ping(): Promise<void> {
    if (this.#state !== 'running') throw new Error('the engine does not run');
    await this.#backend.ping();
  }

  async stats(): Promise<EngineStats> {
    const queues: EngineStats['queues'] = {};
    for (const name of this.#known) queues[name] = { waiting: 0, running: 0, oldestDueMs: 0 };
    return { queues: { ...queues, ...(await this.#backend.count()) } };
  }

  #createQueue(name: string, worker: Worker): QueueRunner {
    return new QueueRunner({
      name,
      worker,
      context: this.#context,
      now: this.#clock.now,
      onNext: () => this.#setAlarm(),
      onError: (error) => this.#report(error),
    });
  }

  #wake(): void {
    const now = this.#clock.now();
    const isSetBack = now < this.#wokeAt;
    this.#wokeAt = now;
    if (isSetBack && this.#backend.clockSetBack !== undefined) {
      const pulled = this.#backend.clockSetBack().then(() => this.#pullAll());
      pulled.catch((error: unknown) => this.#report(error));
      return;
    }
    for (const queue of this.#queues.values())
      if (queue.nextAt !== undefined && queue.nextAt <= now) queue.pull();
    this.#setAlarm();
  }

  #setAlarm(): void {
    if (this.#state !== 'running') return;
    let next: number | undefined;
    for (const { nextAt } of this.#queues.values())
      if (nextAt !== undefined && (next === undefined || nextAt < next)) next = nextAt;
    this.#alarm.set(next);
  }

  #pullAll(): void {
    for (const queue of this.#queues.values()) queue.pull();
  }

  #abortAll(reason: JobAborted['reason']): void {
    for (const queue of this.#queues.values()) queue.abort(reason);
  }

  #keepLeases({ pollMs, beatMs, leaseMs }: Leases): void {
    this.#beatAt = this.#clock.now();
    void this.#repeat(pollMs, () => {
      // By now others may run what runs here, as far as can be known: no beat got through.
      if (this.#clock.now() - this.#beatAt >= leaseMs) this.#abortAll('lease lost');
      this.#pullAll();
      void this.#occurrences.check();
    });
    void this.#repeat(beatMs, () => this.#beat());
  }

  async #beat(): Promise<void> {
    const at = this.#clock.now();
    try {
      await Promise.all([...this.#queues.values()].map((queue) => queue.beat()));
      this.#beatAt = at;
    } catch (error) {
      this.#report(error);
    }
  }

  /** Until the end of `stop`; `act` handles its own failures. */
  async #repeat(ms: number, act: () => void | Promise<void>): Promise<void> {
    const { signal } = this.#loops;
    while (!signal.aborted) {
      // A little apart from the other replicas.
      await this.#clock.sleep(ms * (0.9 + this.#context.random() * 0.2), signal).catch(() => undefined);
      if (!signal.aborted) await act();
    }
  }

  /** Before a failed write is tried again; the last one before the end is not. */
  async #pause(): Promise<void> {
    if (this.#state === 'stopped') throw new Error('the engine stops');
    await this.#clock.sleep(REWRITE_MS);
  }

  /** Once a second each failure that many queues meet together, as where the database is away. */
  #report(err: unknown): void {
    const now = this.#clock.now();
    const said = String(err);
    if (Math.abs(now - (this.#reportedAt.get(said) ?? -Infinity)) < REWRITE_MS) return;
    this.#reportedAt.set(said, now);
    this.#context.log?.error({ event: 'engine_error', err }, 'the jobs go on when the database answers');
  }

  /** Waits until nothing runs any more, at most `ms`. */
  async #ended(ms: number): Promise<void> {
    const runs = [...this.#queues.values()].flatMap((queue) => [...queue.runs]);
    if (runs.length > 0 && ms > 0) await withTimeout(this.#clock, ms, Promise.allSettled(runs));
  }
}
