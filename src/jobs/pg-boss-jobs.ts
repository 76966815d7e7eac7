import { randomUUID } from 'node:crypto';
import type { Clock as BossClock, JobWithMetadata, PgBoss } from 'pg-boss';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../observability/log.ts';
import { NO_TRACING, type Tracing } from '../observability/tracing.ts';
import { asking } from '../store/store.ts';
import { nextSlot } from './cron-occurrences.ts';
import type {
  Engine,
  EngineStats,
  Handler,
  JobData,
  JobOutcome,
  Schedule,
  SendOptions,
  WorkOptions,
} from './jobs.ts';
import { BEAT_MS, createBoss, LEASE_MS, POLL_MS, QUEUE_OPTIONS } from './pg-boss.ts';
import { countJobs, eraseJobs, indexWorkspaces, KEYED, SLOTS_QUEUE } from './pg-boss-documents.ts';
import { PostgresQueue } from './pg-boss-queue.ts';
import { removeSchedule, sendSlots, setSchedule, type Tick } from './pg-boss-schedules.ts';
import type { Worker } from './run-job.ts';

export interface PostgresEngineOptions {
  url: string;
  clock: Clock;
  /** From 0 to 1, for the jitter of retries. */
  random?: () => number;
  log?: Pick<Logger, 'warn' | 'error'>;
  tracing?: Tracing;
  onJobEnd?: (queue: string, outcome: JobOutcome) => void;
  /** pg-boss's own clock, which a test may move together with the database's. */
  bossClock?: BossClock;
}

export interface PostgresEngine extends Engine {
  /** Ends the connections, after `stop`. */
  close(): Promise<void>;
}

/** Jobs and schedules in Postgres, shared by any number of replicas. */
export function createPostgresEngine(options: PostgresEngineOptions): PostgresEngine {
  return new EngineOnBoss(options);
}

/** How many schedules that are due together are moved on by one transaction. */
const SLOT_BATCH = 200;
const ABORT_MS = 3_000;
const REWRITE_MS = 1_000;

class EngineOnBoss implements PostgresEngine {
  readonly #boss: PgBoss;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #log: PostgresEngineOptions['log'];
  readonly #tracing: Tracing;
  readonly #onJobEnd: PostgresEngineOptions['onJobEnd'];
  readonly #workers = new Map<string, Worker>();
  readonly #queues = new Map<string, PostgresQueue>();
  readonly #created = new Map<string, Promise<void>>();
  readonly #loops = new AbortController();
  /** Slots that are being sent. */
  #sending: Promise<void> | undefined;
  #connecting: Promise<void> | undefined;
  #beatAt = 0;
  #state: 'new' | 'running' | 'stopped' = 'new';

  constructor({ url, clock, random, log, tracing, onJobEnd, bossClock }: PostgresEngineOptions) {
    this.#clock = clock;
    this.#random = random ?? Math.random;
    this.#log = log;
    this.#tracing = tracing ?? NO_TRACING;
    this.#onJobEnd = onJobEnd;
    this.#boss = createBoss(url, bossClock);
    this.#boss.on('error', (err) => this.#report(err));
    this.#boss.on('warning', ({ message }) =>
      this.#log?.warn({ event: 'pg_boss_warning', reason: message }, 'pg-boss warns'),
    );
  }

  work<T extends JobData>(queue: string, handler: Handler<T>, options: WorkOptions<T>): void {
    // A queue's jobs are of one type, which its senders and its worker agree on.
    this.#workers.set(queue, { handler, options } as unknown as Worker);
  }

  async send<T extends JobData>(queue: string, data: T, options: SendOptions = {}): Promise<boolean> {
    const { key, startAfter, newTrace } = options;
    const traceparent = newTrace === true ? undefined : this.#tracing.traceparent;
    await asking(this.#ensureQueue(queue));
    const envelope = {
      payload: JSON.stringify(data),
      failures: 0,
      ...(traceparent === undefined ? {} : { traceparent }),
    };
    const sent = this.#boss.send(queue, envelope, {
      singletonKey: key === undefined ? randomUUID() : `${KEYED}${key}`,
      group: { id: data.workspace },
      // As a wait in seconds: the clock of one replica may be wrong, and all go by the database's.
      ...(startAfter === undefined ? {} : { startAfter: (startAfter - this.#clock.now()) / 1_000 }),
    });
    const id = await asking(sent);
    this.#queues.get(queue)?.pull();
    return id !== null;
  }

  async schedule<T extends JobData>(workspace: string, key: string, schedule: Schedule<T>): Promise<void> {
    const { cron, zone } = schedule;
    nextSlot(cron, zone, this.#clock.now()); // refuses what is wrong before the database is asked
    await asking(this.#ensureQueue(SLOTS_QUEUE));
    await asking(this.#ensureQueue(schedule.queue));
    await asking(setSchedule(this.#boss, workspace, key, schedule));
  }

  async unschedule(workspace: string, key: string): Promise<void> {
    await asking(this.#connect());
    await asking(removeSchedule(this.#boss, workspace, key));
  }

  async erase(workspace: string): Promise<void> {
    await this.#connect();
    await eraseJobs(this.#boss.getDb(), workspace);
    for (const queue of this.#queues.values()) queue.abortWorkspace(workspace);
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error('the engine was started before');
    await this.#ensureQueue(SLOTS_QUEUE);
    for (const name of this.#workers.keys()) await this.#ensureQueue(name);
    this.#state = 'running';
    this.#beatAt = this.#clock.now();
    for (const [name, worker] of this.#workers) this.#queues.set(name, this.#openQueue(name, worker));
    void this.#repeat(POLL_MS, () => this.#poll());
    void this.#repeat(BEAT_MS, () => this.#beat());
    this.#poll();
  }

  async stop(graceMs: number): Promise<void> {
    this.#state = 'stopped';
    for (const [name, queue] of this.#queues) {
      queue.close();
      if (this.#workers.get(name)?.options.resumable === true) queue.abort('draining');
    }
    await this.#ended(graceMs);
    for (const queue of this.#queues.values()) queue.abort('draining');
    await this.#ended(ABORT_MS);
    this.#loops.abort();
  }

  async close(): Promise<void> {
    this.#loops.abort();
    this.#state = 'stopped';
    await this.#connecting?.catch(() => undefined);
    await this.#boss.stop({ graceful: false });
  }

  async ping(): Promise<void> {
    if (this.#state !== 'running') throw new Error('the engine does not run');
    await this.#boss.getDb().executeSql('SELECT 1');
  }

  async stats(): Promise<EngineStats> {
    await this.#connect();
    const queues: EngineStats['queues'] = {};
    for (const name of this.#created.keys()) queues[name] = { waiting: 0, running: 0, oldestDueMs: 0 };
    for (const { queue, waiting, running, oldestDueMs } of await countJobs(this.#boss.getDb()))
      queues[queue] = { waiting, running, oldestDueMs: Math.max(0, oldestDueMs) };
    delete queues[SLOTS_QUEUE];
    return { queues };
  }

  /** Once, by whatever is called first; again if it failed. */
  #connect(): Promise<void> {
    this.#connecting ??= this.#boss
      .start()
      .then(() => indexWorkspaces(this.#boss.getDb()))
      .catch((error: unknown) => {
        this.#connecting = undefined;
        throw error;
      });
    return this.#connecting;
  }

  #ensureQueue(name: string): Promise<void> {
    const created = this.#created.get(name) ?? this.#createQueue(name);
    this.#created.set(name, created);
    created.catch(() => this.#created.delete(name));
    return created;
  }

  async #createQueue(name: string): Promise<void> {
    await this.#connect();
    await this.#boss.createQueue(name, QUEUE_OPTIONS);
  }

  #openQueue(name: string, worker: Worker): PostgresQueue {
    const queue = new PostgresQueue({
      boss: this.#boss,
      name,
      worker,
      surroundings: {
        random: this.#random,
        log: this.#log,
        tracing: this.#tracing,
        onEnd: this.#onJobEnd,
        pause: () => this.#pause(),
      },
      onError: (error) => this.#report(error),
    });
    queue.open();
    return queue;
  }

  #poll(): void {
    this.#stopIfSilenced();
    for (const queue of this.#queues.values()) queue.pull();
    this.#sending ??= this.#sendSlots()
      .catch((error: unknown) => this.#report(error))
      .finally(() => {
        this.#sending = undefined;
      });
  }

  async #sendSlots(): Promise<void> {
    for (;;) {
      if (this.#state !== 'running') return;
      const due: Array<JobWithMetadata<Tick>> = await this.#boss.fetch<Tick>(SLOTS_QUEUE, {
        batchSize: SLOT_BATCH,
        includeMetadata: true,
      });
      if (due.length === 0) return;
      for (const queue of new Set(due.map((tick) => tick.data.queue))) await this.#ensureQueue(queue);
      for (const queue of await sendSlots(this.#boss, due)) this.#queues.get(queue)?.pull();
    }
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

  /** Stops what others may run by now, as far as we can know: no beat got through for as long as they wait. */
  #stopIfSilenced(): void {
    if (this.#clock.now() - this.#beatAt < LEASE_MS) return;
    for (const queue of this.#queues.values()) queue.abort('lease lost');
  }

  /** Until the engine is closed; `act` handles its own failures. */
  async #repeat(ms: number, act: () => void | Promise<void>): Promise<void> {
    const { signal } = this.#loops;
    while (!signal.aborted) {
      // A little apart from the other replicas.
      await this.#clock.sleep(ms * (0.9 + this.#random() * 0.2), signal).catch(() => undefined);
      if (!signal.aborted) await act();
    }
  }

  /** Before a failed write is tried again; the last one before the end is not. */
  async #pause(): Promise<void> {
    if (this.#state === 'stopped') throw new Error('the engine stops');
    await this.#clock.sleep(REWRITE_MS);
  }

  #report(err: unknown): void {
    this.#log?.error({ event: 'engine_error', err }, 'the engine goes on when the database answers');
  }

  /** Waits until nothing runs any more, at most `ms`. */
  async #ended(ms: number): Promise<void> {
    const runs = [...this.#queues.values()].flatMap((queue) => [...queue.runs]);
    if (this.#sending !== undefined) runs.push(this.#sending);
    if (runs.length === 0 || ms <= 0) return;
    const done = new AbortController();
    const all = Promise.allSettled(runs).then(() => done.abort());
    await Promise.race([all, this.#clock.sleep(ms, done.signal).catch(() => undefined)]);
  }
}
