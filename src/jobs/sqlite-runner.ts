import { randomUUID } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import type { Tracing } from '../observability/tracing.ts';
import { type Collection, GLOBAL, type Store } from '../store/store.ts';
import { type EngineStats, JobAborted, type JobData, type SendOptions, type Slot } from './jobs.ts';
import { type Outcomes, runJob, type Surroundings, type Worker } from './run-job.ts';
import { dueBy, StoredJob } from './sqlite-documents.ts';
import { type Entry, LocalQueue } from './sqlite-queue.ts';
import type { SlotJob, SlotJobs } from './sqlite-schedules.ts';
import { type Alarm, createAlarm } from './timer.ts';
import { Agenda } from './timer-heap.ts';

/** More than any number of restarts while one job runs; a job that ends the process each time is dead then. */
const MOST_STARTS = 1_000;
/** How long a failed write of a job's outcome waits to be tried again. */
const REWRITE_MS = 1_000;
/** How long an aborted job may take to notice. */
const ABORT_MS = 3_000;

export interface RunnerParts {
  store: Store;
  clock: Clock;
  random: () => number;
  log: Surroundings['log'];
  tracing: Tracing;
  onEnd: Surroundings['onEnd'];
}

/**
 * The jobs of all workspaces: which wait, which run. They stand in one collection of the store, because all of
 * them are needed at start; from then on only their data is read there.
 */
export class LocalRunner implements SlotJobs {
  readonly #documents: Collection<StoredJob>;
  readonly #clock: Clock;
  readonly #surroundings: Surroundings;
  readonly #queues = new Map<string, LocalQueue>();
  /** All jobs by id, and by workspace for `erase`. */
  readonly #entries = new Map<string, Entry>();
  readonly #byWorkspace = new Map<string, Set<Entry>>();
  /** Jobs that wait for their time. */
  readonly #agenda = new Agenda<Entry>();
  readonly #alarm: Alarm;
  readonly #runs = new Set<Promise<void>>();
  #loading: Promise<void> | undefined;
  #isOpen = false;
  #wokeAt = 0;

  constructor({ store, clock, random, log, tracing, onEnd }: RunnerParts) {
    this.#documents = store.collection('jobs', StoredJob);
    this.#clock = clock;
    this.#surroundings = { random, log, tracing, onEnd, pause: () => this.#pause() };
    this.#alarm = createAlarm(clock, () => this.#wake());
  }

  /** Reads all jobs, once, by whatever is called first; again if it failed. */
  load(): Promise<void> {
    this.#loading ??= this.#documents.list(GLOBAL).then(
      (stored) => {
        for (const { id, doc } of stored) {
          this.#queue(doc.queue).reserve(doc.key);
          this.#await(this.#remember(id, doc));
        }
      },
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }

  setWorker(queue: string, worker: Worker): void {
    this.#queue(queue).worker = worker;
  }

  async send(queue: string, data: JobData, { key, startAfter, newTrace }: SendOptions): Promise<boolean> {
    const setAt = this.#clock.now();
    const traceparent = newTrace === true ? undefined : this.#surroundings.tracing.traceparent;
    const job: StoredJob = {
      queue,
      data,
      dueAt: startAfter ?? setAt,
      setAt,
      starts: 0,
      failures: 0,
      ...(key === undefined ? {} : { key }),
      ...(traceparent === undefined ? {} : { traceparent }),
    };
    if (!this.#queue(queue).reserve(key)) return false;
    const id = randomUUID();
    try {
      await this.#documents.put(GLOBAL, id, job);
    } catch (error) {
      this.#queue(queue).release(key);
      throw error;
    }
    this.#await(this.#remember(id, job));
    return true;
  }

  async hold(id: string, { queue, data, slotAt }: SlotJob): Promise<void> {
    const withSlot = { ...data, slotAt } satisfies Slot & JobData;
    const setAt = this.#clock.now();
    const job: StoredJob = { queue, data: withSlot, dueAt: slotAt, setAt, starts: 0, failures: 0 };
    if (await this.#documents.create(GLOBAL, id, job)) this.#remember(id, job);
  }

  release(id: string): void {
    const entry = this.#entries.get(id);
    if (entry?.state === 'waiting') this.#await(entry);
  }

  async erase(workspace: string): Promise<void> {
    for (const entry of [...(this.#byWorkspace.get(workspace) ?? [])]) {
      const { abort } = entry;
      this.#retire(entry);
      abort?.abort(new JobAborted('erased'));
      await this.#documents.delete(GLOBAL, entry.id);
      this.#forget(entry); // last, so that an erase that failed here can be repeated
    }
  }

  open(): void {
    this.#isOpen = true;
    this.#wake();
  }

  async close(graceMs: number): Promise<void> {
    this.#isOpen = false;
    this.#alarm.set(undefined);
    this.#abortRunning(({ worker }) => worker?.options.resumable === true);
    await this.#ended(graceMs);
    this.#abortRunning(() => true);
    await this.#ended(ABORT_MS);
  }

  #abortRunning(isMeant: (queue: LocalQueue) => boolean): void {
    for (const { abort, queue } of this.#entries.values())
      if (abort !== undefined && isMeant(this.#queue(queue))) abort.abort(new JobAborted('draining'));
  }

  stats(): EngineStats {
    const now = this.#clock.now();
    const queues: EngineStats['queues'] = {};
    for (const [name, { waiting, running, oldestDueAt }] of this.#queues)
      queues[name] = { waiting, running, oldestDueMs: Math.max(0, now - (oldestDueAt ?? now)) };
    return { queues };
  }

  #queue(name: string): LocalQueue {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const made = new LocalQueue();
    this.#queues.set(name, made);
    return made;
  }

  #remember(id: string, job: StoredJob): Entry {
    const { queue, key, setAt } = job;
    const now = this.#clock.now();
    const due = { dueAt: dueBy(job, now), setAt: Math.min(setAt, now) };
    const entry: Entry = { id, queue, key, workspace: job.data.workspace, ...due, state: 'waiting' };
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
      return;
    }
    this.#agenda.add(entry.dueAt, entry);
    if (this.#isOpen) this.#alarm.set(this.#agenda.next);
  }

  #wake(): void {
    if (!this.#isOpen) return;
    const now = this.#clock.now();
    if (now < this.#wokeAt) this.#planAnew(now);
    this.#wokeAt = now;
    for (let entry = this.#agenda.take(now); entry !== undefined; entry = this.#agenda.take(now))
      if (entry.state === 'waiting' && entry.dueAt <= now) this.#queue(entry.queue).makeReady(entry);
    for (const queue of this.#queues.values()) this.#dispatch(queue);
    this.#alarm.set(this.#agenda.next);
  }

  /** The clock was set back: what waits must not wait for as much longer. */
  #planAnew(now: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.state !== 'waiting' || entry.setAt <= now) continue;
      this.#wait(entry, dueBy(entry, now));
      this.#agenda.add(entry.dueAt, entry);
    }
  }

  #wait(entry: Entry, dueAt: number): void {
    entry.dueAt = dueAt;
    entry.setAt = this.#clock.now();
  }

  #dispatch(queue: LocalQueue): void {
    if (!this.#isOpen) return;
    for (let entry = queue.take(); entry !== undefined; entry = queue.take()) {
      entry.state = 'running';
      entry.abort = new AbortController();
      queue.running += 1;
      queue.waiting -= 1;
      const run = this.#run(entry, queue).finally(() => this.#runs.delete(run));
      this.#runs.add(run);
    }
  }

  async #run(entry: Entry, queue: LocalQueue): Promise<void> {
    try {
      await this.#runOnce(entry, queue);
    } catch (err) {
      // Only reading or writing the job fails here; it stands in the store as it was.
      const fields = { event: 'job_not_stored', queue: entry.queue, job: entry.id, err };
      this.#surroundings.log?.error(fields, 'a job waits for the store');
      this.#wait(entry, this.#clock.now() + REWRITE_MS);
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
    const stored = await this.#documents.get(GLOBAL, entry.id);
    if (stored === undefined || worker === undefined) return this.#forget(entry);
    const job: StoredJob = { ...stored, starts: stored.starts + 1 };
    const dead = stored.starts >= MOST_STARTS ? 'started too often' : stored.dead;
    if (dead === undefined) await this.#put(entry, job);
    const { id, queue, key } = entry;
    const { data, starts: attempt, failures, traceparent } = job;
    const signal = entry.abort?.signal ?? AbortSignal.abort();
    const taken = { id, queue, key, data, attempt, failures, dead, traceparent, signal };
    await runJob(taken, worker, this.#outcomes(entry, job), this.#surroundings);
  }

  #outcomes(entry: Entry, job: StoredJob): Outcomes {
    const startsBefore = job.starts - 1;
    const store = (change: Partial<StoredJob>): Promise<void> => this.#put(entry, Object.assign(job, change));
    return {
      save: (data) => store({ data }),
      handBack: () => store({ starts: startsBefore }),
      retry: async (failures, delayMs) => {
        this.#wait(entry, this.#clock.now() + delayMs);
        const { dueAt, setAt } = entry;
        await store({ failures, dueAt, setAt });
      },
      markDead: (failures, dead) => store({ failures, dead }),
      finish: async () => {
        await this.#documents.delete(GLOBAL, entry.id);
        this.#forget(entry);
      },
    };
  }

  async #put(entry: Entry, job: StoredJob): Promise<void> {
    if (entry.state === 'gone') throw new JobAborted('erased');
    await this.#documents.put(GLOBAL, entry.id, job);
  }

  /** Before a failed write is tried again; the last one before the end is not. */
  async #pause(): Promise<void> {
    if (!this.#isOpen) throw new Error('the engine stops');
    await this.#clock.sleep(REWRITE_MS);
  }

  /** Waits until nothing runs any more, at most `ms`. */
  async #ended(ms: number): Promise<void> {
    if (this.#runs.size === 0 || ms <= 0) return;
    const done = new AbortController();
    const all = Promise.allSettled(this.#runs).then(() => done.abort());
    await Promise.race([all, this.#clock.sleep(ms, done.signal).catch(() => undefined)]);
  }
}
