import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Store } from '../store/store.ts';
import { Agenda } from './agenda.ts';
import { type Alarm, createAlarm } from './alarm.ts';
import {
  type Engine,
  type EngineStats,
  type Handler,
  JobAborted,
  type JobData,
  type Schedule,
  type SendOptions,
  type WorkOptions,
} from './engine.ts';
import { type JobDocuments, jobDocuments, type StoredJob } from './local-jobs.ts';
import { type Entry, LocalQueue } from './local-queue.ts';
import { LocalSchedules, type StoredSchedule } from './local-schedules.ts';
import { type Outcomes, runJob, type Worker } from './run-job.ts';

export interface LocalEngineOptions {
  /** Opened by this process alone: what the store holds at start is all there is. */
  store: Store;
  clock: Clock;
  /** From 0 to 1, for the jitter of retries. */
  random?: () => number;
  log?: Pick<Logger, 'warn' | 'error'>;
}

/** Jobs and schedules in one process, kept in its store. */
export function createLocalEngine(options: LocalEngineOptions): Engine {
  return new LocalEngine(options);
}

/** More than any number of restarts while one job runs; a job that ends the process each time is dead then. */
const MOST_STARTS = 1_000;
/** How long a failed write of a job's outcome waits to be tried again. */
const REWRITE_MS = 1_000;
/** How long an aborted job may take to notice. */
const ABORT_MS = 3_000;

/** Due for a turn: a job that waited for its time, or a schedule with a slot. */
type Due = { entry: Entry } | { schedule: string; at: number };

class LocalEngine implements Engine {
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #random: () => number;
  readonly #log: LocalEngineOptions['log'];
  readonly #jobs: JobDocuments;
  readonly #schedules: LocalSchedules;
  readonly #agenda = new Agenda<Due>();
  readonly #alarm: Alarm;
  readonly #queues = new Map<string, LocalQueue>();
  /** All jobs by id, and by workspace for `erase`. */
  readonly #entries = new Map<string, Entry>();
  readonly #byWorkspace = new Map<string, Set<Entry>>();
  readonly #runs = new Set<Promise<void>>();
  /** What of each schedule stands in the agenda; an item for another instant there is out of date. */
  readonly #slots = new Map<string, number>();
  #loading: Promise<void> | undefined;
  #state: 'new' | 'running' | 'stopped' = 'new';

  constructor({ store, clock, random, log }: LocalEngineOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random ?? Math.random;
    this.#log = log;
    this.#jobs = jobDocuments(store);
    this.#schedules = new LocalSchedules(store, clock, {
      hold: (id, schedule, slotAt) => this.#hold(id, schedule, slotAt),
      release: (id) => this.#release(id),
      withdraw: (id) => this.#withdraw(id),
    });
    this.#alarm = createAlarm(clock, () => this.#wake());
  }

  work<T extends JobData>(queue: string, handler: Handler<T>, options: WorkOptions<T>): void {
    // A queue's jobs are of one type, which its senders and its worker agree on.
    this.#queue(queue).worker = { handler, options } as unknown as Worker;
  }

  async send<T extends JobData>(queue: string, data: T, options: SendOptions = {}): Promise<boolean> {
    await this.#load();
    const dueAt = options.startAfter ?? this.#clock.now();
    const job: StoredJob = { queue, data, dueAt, starts: 0, failures: 0 };
    if (options.key !== undefined) job.key = options.key;
    if (!this.#queue(queue).reserve(options.key)) return false;
    const id = randomUUID();
    try {
      await this.#jobs.create(id, job);
    } catch (error) {
      this.#queue(queue).release(options.key);
      throw error;
    }
    this.#await(this.#remember(id, job));
    return true;
  }

  async schedule<T extends JobData>(workspace: string, key: string, schedule: Schedule<T>): Promise<void> {
    await this.#load();
    this.#awaitSlot(await this.#schedules.set(workspace, key, schedule));
  }

  async unschedule(workspace: string, key: string): Promise<void> {
    await this.#load();
    await this.#schedules.remove(workspace, key);
  }

  async erase(workspace: string): Promise<void> {
    await this.#load();
    await this.#schedules.erase(workspace);
    for (const entry of [...(this.#byWorkspace.get(workspace) ?? [])]) {
      const { abort } = entry;
      this.#retire(entry);
      abort?.abort(new JobAborted('erased'));
      await this.#jobs.delete(entry.id);
      this.#forget(entry); // last, so that an erase that failed here can be repeated
    }
  }

  async start(): Promise<void> {
    await this.#load();
    if (this.#state !== 'new') throw new Error('the engine was started before');
    // Missed slots first: were their jobs of an earlier life to end before, they would be sent once more.
    for (const id of await this.#schedules.load()) {
      await this.#schedules.fire(id);
      this.#awaitSlot(id);
    }
    this.#state = 'running';
    this.#wake();
  }

  async stop(graceMs: number): Promise<void> {
    this.#state = 'stopped';
    this.#alarm.set(undefined);
    await this.#ended(graceMs);
    for (const { abort } of this.#entries.values()) abort?.abort(new JobAborted('draining'));
    await this.#ended(ABORT_MS);
  }

  async ping(): Promise<void> {
    if (this.#state !== 'running') throw new Error('the engine does not run');
    await this.#store.ping();
  }

  async stats(): Promise<EngineStats> {
    await this.#load();
    const now = this.#clock.now();
    const queues: EngineStats['queues'] = {};
    for (const [name, { waiting, running, oldestDueAt }] of this.#queues)
      queues[name] = { waiting, running, oldestDueMs: Math.max(0, now - (oldestDueAt ?? now)) };
    return { queues };
  }

  /** Once, by whatever is called first. */
  #load(): Promise<void> {
    this.#loading ??= this.#jobs.list().then((stored) => {
      for (const { id, doc } of stored) {
        this.#queue(doc.queue).reserve(doc.key);
        this.#await(this.#remember(id, doc));
      }
    });
    return this.#loading;
  }

  #queue(name: string): LocalQueue {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const made = new LocalQueue();
    this.#queues.set(name, made);
    return made;
  }

  #remember(id: string, job: StoredJob): Entry {
    const { queue, key, dueAt } = job;
    const entry: Entry = { id, queue, key, workspace: job.data.workspace, dueAt, state: 'waiting' };
    this.#entries.set(id, entry);
    const siblings = this.#byWorkspace.get(entry.workspace) ?? new Set();
    this.#byWorkspace.set(entry.workspace, siblings.add(entry));
    this.#queue(queue).waiting += 1;
    return entry;
  }

  /** Takes a job out of its queue for good; whatever it still does is not stored. */
  #retire(entry: Entry): void {
    if (entry.state === 'gone') return;
    const queue = this.#queue(entry.queue);
    if (entry.state === 'waiting') queue.waiting -= 1;
    entry.state = 'gone';
    queue.drop(entry);
    queue.release(entry.key);
  }

  #forget(entry: Entry): void {
    this.#retire(entry);
    this.#entries.delete(entry.id);
    const siblings = this.#byWorkspace.get(entry.workspace);
    siblings?.delete(entry);
    if (siblings?.size === 0) this.#byWorkspace.delete(entry.workspace);
  }

  /** Gives a waiting job its turn when it is due. */
  #await(entry: Entry): void {
    if (entry.dueAt <= this.#clock.now()) {
      this.#queue(entry.queue).makeReady(entry);
      this.#dispatch(this.#queue(entry.queue));
    } else {
      this.#agenda.add(entry.dueAt, { entry });
      this.#setAlarm();
    }
  }

  #awaitSlot(schedule: string): void {
    const at = this.#schedules.nextAt(schedule);
    if (at === undefined || at === this.#slots.get(schedule)) return;
    this.#slots.set(schedule, at);
    this.#agenda.add(at, { schedule, at });
    this.#setAlarm();
  }

  #setAlarm(): void {
    if (this.#state === 'running') this.#alarm.set(this.#agenda.next);
  }

  #wake(): void {
    if (this.#state !== 'running') return;
    const now = this.#clock.now();
    for (let due = this.#agenda.take(now); due !== undefined; due = this.#agenda.take(now)) {
      if ('entry' in due) {
        if (due.entry.state === 'waiting') this.#queue(due.entry.queue).makeReady(due.entry);
      } else if (due.at === this.#slots.get(due.schedule)) this.#track(this.#fire(due.schedule));
    }
    for (const queue of this.#queues.values()) this.#dispatch(queue);
    this.#setAlarm();
  }

  async #fire(schedule: string): Promise<void> {
    this.#slots.delete(schedule);
    try {
      await this.#schedules.fire(schedule);
    } catch (err) {
      this.#log?.error(
        { event: 'slot_not_sent', schedule, err },
        'a slot could not be stored; it is tried again',
      );
      await this.#pause();
    }
    this.#awaitSlot(schedule);
  }

  #dispatch(queue: LocalQueue): void {
    if (this.#state !== 'running') return;
    for (let entry = queue.take(); entry !== undefined; entry = queue.take()) {
      entry.state = 'running';
      entry.abort = new AbortController();
      queue.running += 1;
      queue.waiting -= 1;
      this.#track(this.#run(entry, queue));
    }
  }

  #track(run: Promise<void>): void {
    const tracked = run.finally(() => this.#runs.delete(tracked));
    this.#runs.add(tracked);
  }

  async #run(entry: Entry, queue: LocalQueue): Promise<void> {
    try {
      await this.#runOnce(entry, queue);
    } catch (err) {
      // Only reading or writing the job fails here; it stands in the store as it was.
      this.#log?.error(
        { event: 'job_not_stored', queue: entry.queue, job: entry.id, err },
        'a job waits for the store',
      );
      entry.dueAt = this.#clock.now() + REWRITE_MS;
    } finally {
      queue.running -= 1;
      delete entry.abort;
      if (entry.state === 'running') {
        entry.state = 'waiting';
        queue.waiting += 1;
        this.#await(entry);
      }
      this.#dispatch(queue);
    }
  }

  /** Leaves the entry running if it is to run again. */
  async #runOnce(entry: Entry, { worker }: LocalQueue): Promise<void> {
    const stored = await this.#jobs.get(entry.id);
    if (stored === undefined || worker === undefined) return this.#forget(entry);
    const job: StoredJob = { ...stored, starts: stored.starts + 1 };
    const { queue, key, id } = entry;
    const outcomes = this.#outcomes(entry, job);
    const dead = stored.starts >= MOST_STARTS ? 'started too often' : stored.dead;
    if (dead === undefined) await this.#put(entry, job);
    const signal = entry.abort?.signal ?? AbortSignal.abort();
    const { data, starts: attempt, failures } = job;
    await runJob({ id, queue, key, data, attempt, failures, dead, signal }, worker, outcomes, {
      random: this.#random,
      log: this.#log,
      pause: () => this.#pause(),
    });
  }

  #outcomes(entry: Entry, job: StoredJob): Outcomes {
    const startsBefore = job.starts - 1;
    const store = (change: Partial<StoredJob>): Promise<void> => this.#put(entry, Object.assign(job, change));
    return {
      save: (data) => store({ data }),
      handBack: () => store({ starts: startsBefore }),
      retry: async (failures, delayMs) => {
        entry.dueAt = this.#clock.now() + delayMs;
        await store({ failures, dueAt: entry.dueAt });
      },
      markDead: (failures, dead) => store({ failures, dead }),
      finish: async () => {
        await this.#jobs.delete(entry.id);
        this.#forget(entry);
      },
    };
  }

  async #put(entry: Entry, job: StoredJob): Promise<void> {
    if (entry.state === 'gone') throw new JobAborted('erased');
    await this.#jobs.put(entry.id, job);
  }

  /** Before a failed write is tried again; the last one before the end is not. */
  async #pause(): Promise<void> {
    if (this.#state === 'stopped') throw new Error('the engine stops');
    await this.#clock.sleep(REWRITE_MS);
  }

  async #hold(id: string, schedule: StoredSchedule, slotAt: number): Promise<boolean> {
    const data = { ...schedule.data, workspace: schedule.workspace, slotAt };
    const job: StoredJob = { queue: schedule.queue, data, dueAt: slotAt, starts: 0, failures: 0 };
    if (!(await this.#jobs.create(id, job))) return false;
    this.#remember(id, job);
    return true;
  }

  #release(id: string): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) this.#await(entry);
  }

  async #withdraw(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry !== undefined) this.#forget(entry);
    await this.#jobs.delete(id);
  }

  /** Waits until nothing runs any more, at most `ms`. */
  async #ended(ms: number): Promise<void> {
    if (this.#runs.size === 0 || ms <= 0) return;
    const done = new AbortController();
    const all = Promise.allSettled(this.#runs).then(() => done.abort());
    await Promise.race([all, this.#clock.sleep(ms, done.signal).catch(() => undefined)]);
  }
}
