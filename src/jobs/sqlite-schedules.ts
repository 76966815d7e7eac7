import type { Clock } from '../core/clock.ts';
import { createKeyedLock } from '../core/keyed-lock.ts';
import { type Collection, GLOBAL, type Store } from '../store/store.ts';
import { lastSlot, nextSlot } from './cron-occurrences.ts';
import { CATCH_UP_MS, type JobData, type Schedule } from './jobs.ts';
import type { Surroundings } from './run-job.ts';
import { StoredSchedule } from './sqlite-documents.ts';
import { type Alarm, createAlarm } from './timer.ts';
import { Agenda } from './timer-heap.ts';

export interface SlotJob {
  queue: string;
  data: JobData;
  slotAt: number;
}

export interface SlotJobs {
  /** Stores a slot's job under an id of its own, unless it stands already; it does not run before `release`. */
  hold(id: string, job: SlotJob): Promise<void>;
  release(id: string): void;
}

export interface SchedulesParts {
  store: Store;
  clock: Clock;
  jobs: SlotJobs;
  log: Surroundings['log'];
}

/** How long a slot that could not be stored waits to be tried again. */
const RETRY_MS = 1_000;

/**
 * The schedules of all workspaces. A slot's job is stored first, the slot is marked as done second, and only
 * then the job runs: so a kill in between leaves either the job or the slot still open, never both done.
 */
export class LocalSchedules {
  readonly #documents: Collection<StoredSchedule>;
  readonly #clock: Clock;
  readonly #jobs: SlotJobs;
  readonly #log: Surroundings['log'];
  readonly #known = new Map<string, StoredSchedule>();
  readonly #agenda = new Agenda<{ id: string; at: number }>();
  /** What of each schedule stands in the agenda; an item for another instant there is out of date. */
  readonly #nextAt = new Map<string, number>();
  readonly #alarm: Alarm;
  /** Jobs of each schedule that are stored while their slot is not marked as done: several if that failed. */
  readonly #held = new Map<string, string[]>();
  readonly #fires = new Set<Promise<void>>();
  /** A schedule is changed and fired by one at a time. */
  readonly #alone = createKeyedLock();
  #loading: Promise<void> | undefined;
  #isOpen = false;

  constructor({ store, clock, jobs, log }: SchedulesParts) {
    this.#documents = store.collection('schedules', StoredSchedule);
    this.#clock = clock;
    this.#jobs = jobs;
    this.#log = log;
    this.#alarm = createAlarm(clock, () => this.#wake());
  }

  /** Reads all schedules, once; again if it failed. */
  load(): Promise<void> {
    this.#loading ??= this.#documents.list(GLOBAL).then(
      (stored) => {
        for (const { id, doc } of stored) this.#known.set(id, doc);
      },
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }

  /** Resolves when the slots that were missed have been dealt with. */
  async open(): Promise<void> {
    await this.load();
    for (const id of this.#known.keys()) {
      await this.#alone(id, () => this.#fire(id));
      this.#await(id);
    }
    this.#isOpen = true;
    this.#wake();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#alarm.set(undefined);
    await Promise.allSettled(this.#fires);
  }

  async set<T extends JobData>(workspace: string, key: string, schedule: Schedule<T>): Promise<void> {
    const { cron, zone, queue, data } = schedule;
    const now = this.#clock.now();
    nextSlot(cron, zone, now); // refuses what is wrong before anything is stored
    await this.load();
    const id = idOf(workspace, key);
    await this.#alone(id, async () => {
      const standing = this.#known.get(id);
      const goesOn = standing?.cron === cron && standing.zone === zone;
      const doneUpTo = goesOn ? standing.doneUpTo : now;
      await this.#store(id, { workspace, cron, zone, queue, data, doneUpTo });
    });
    this.#await(id);
  }

  async remove(workspace: string, key: string): Promise<void> {
    await this.#removeId(idOf(workspace, key));
  }

  async erase(workspace: string): Promise<void> {
    await this.load();
    for (const [id, schedule] of this.#known) if (schedule.workspace === workspace) await this.#removeId(id);
  }

  #removeId(id: string): Promise<void> {
    return this.#alone(id, async () => {
      await this.#documents.delete(GLOBAL, id);
      this.#known.delete(id);
    });
  }

  async #store(id: string, schedule: StoredSchedule): Promise<void> {
    await this.#documents.put(GLOBAL, id, schedule);
    this.#known.set(id, schedule);
  }

  #await(id: string): void {
    const schedule = this.#known.get(id);
    if (schedule === undefined) return;
    const at = nextSlot(schedule.cron, schedule.zone, schedule.doneUpTo);
    if (at === this.#nextAt.get(id)) return;
    this.#nextAt.set(id, at);
    this.#agenda.add(at, { id, at });
    if (this.#isOpen) this.#alarm.set(this.#agenda.next);
  }

  #wake(): void {
    if (!this.#isOpen) return;
    const now = this.#clock.now();
    for (let due = this.#agenda.take(now); due !== undefined; due = this.#agenda.take(now)) {
      if (due.at !== this.#nextAt.get(due.id)) continue;
      this.#nextAt.delete(due.id);
      const fire = this.#fireUntilStored(due.id).finally(() => this.#fires.delete(fire));
      this.#fires.add(fire);
    }
    this.#alarm.set(this.#agenda.next);
  }

  async #fireUntilStored(id: string): Promise<void> {
    try {
      await this.#alone(id, () => this.#fire(id));
    } catch (err) {
      this.#log?.error({ event: 'slot_not_stored', schedule: id, err }, 'a slot waits for the store');
      await this.#clock.sleep(RETRY_MS);
    }
    if (!this.#known.has(id)) this.#nextAt.delete(id);
    this.#await(id);
  }

  /** Sends the last slot that is due, if one is; earlier ones that were missed are left out. */
  async #fire(id: string): Promise<void> {
    const schedule = this.#known.get(id);
    if (schedule === undefined) return;
    const now = this.#clock.now();
    const slotAt = lastSlot(schedule.cron, schedule.zone, now);
    if (slotAt <= schedule.doneUpTo) return;
    if (now - slotAt < CATCH_UP_MS) await this.#hold(id, schedule, slotAt);
    await this.#store(id, { ...schedule, doneUpTo: slotAt });
    for (const jobId of this.#held.get(id) ?? []) this.#jobs.release(jobId);
    this.#held.delete(id);
  }

  async #hold(id: string, { queue, data, workspace }: StoredSchedule, slotAt: number): Promise<void> {
    const jobId = `${id}@${slotAt}`;
    await this.#jobs.hold(jobId, { queue, data: { ...data, workspace }, slotAt });
    this.#held.set(id, [...(this.#held.get(id) ?? []), jobId]);
  }
}

function idOf(workspace: string, key: string): string {
  return `${workspace}/${key}`;
}
