import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { type Collection, EVERYWHERE, type Store } from '../store/store.ts';
import { CATCH_UP_MS, type JobData, type Schedule } from './engine.ts';
import { lastSlot, nextSlot } from './slots.ts';

const StoredSchedule = z.object({
  workspace: z.string(),
  cron: z.string(),
  zone: z.string(),
  queue: z.string(),
  data: z.looseObject({ workspace: z.string() }),
  /** Slots up to this instant have been dealt with. */
  doneUpTo: z.number(),
});
export type StoredSchedule = z.infer<typeof StoredSchedule>;

/** Stores a slot's job under an id of its own, not to be run before `release`; false if it stands already. */
export interface SlotJobs {
  hold(id: string, schedule: StoredSchedule, slotAt: number): Promise<boolean>;
  release(id: string): void;
  withdraw(id: string): Promise<void>;
}

/**
 * The schedules of all workspaces. A slot's job is stored first and marked as done second, and it runs only
 * after that: so a kill in between finds either the job or the slot still open, never both gone or both done.
 */
export class LocalSchedules {
  readonly #documents: Collection<StoredSchedule>;
  readonly #clock: Clock;
  readonly #jobs: SlotJobs;
  readonly #known = new Map<string, StoredSchedule>();

  constructor(store: Store, clock: Clock, jobs: SlotJobs) {
    this.#documents = store.collection('schedules', StoredSchedule);
    this.#clock = clock;
    this.#jobs = jobs;
  }

  /** Reads all schedules; afterwards `nextAt` answers for each. */
  async load(): Promise<string[]> {
    for (const { id, doc } of await this.#documents.list(EVERYWHERE)) this.#known.set(id, doc);
    return [...this.#known.keys()];
  }

  /** When the schedule's next slot is to be dealt with, which is past if one was missed. */
  nextAt(id: string): number | undefined {
    const schedule = this.#known.get(id);
    return schedule && nextSlot(schedule.cron, schedule.zone, schedule.doneUpTo);
  }

  /** @returns the schedule's id */
  async set<T extends JobData>(workspace: string, key: string, schedule: Schedule<T>): Promise<string> {
    const { cron, zone, queue, data } = schedule;
    const now = this.#clock.now();
    nextSlot(cron, zone, now); // refuses what is wrong before anything is stored
    const id = idOf(workspace, key);
    const stored = await this.#documents.update(EVERYWHERE, id, (standing) => {
      const goesOn = standing?.cron === cron && standing.zone === zone;
      return { workspace, cron, zone, queue, data, doneUpTo: goesOn ? standing.doneUpTo : now };
    });
    if (stored !== undefined) this.#known.set(id, stored);
    return id;
  }

  async remove(workspace: string, key: string): Promise<void> {
    await this.#removeId(idOf(workspace, key));
  }

  async erase(workspace: string): Promise<void> {
    for (const [id, schedule] of this.#known) if (schedule.workspace === workspace) await this.#removeId(id);
  }

  /** Sends the last slot that is due, if one is; earlier ones that were missed are left out. */
  async fire(id: string): Promise<void> {
    const schedule = this.#known.get(id);
    if (schedule === undefined) return;
    const now = this.#clock.now();
    const slotAt = lastSlot(schedule.cron, schedule.zone, now);
    if (slotAt <= schedule.doneUpTo) return;
    const jobId = `${id}@${slotAt}`;
    const isFresh = now - slotAt < CATCH_UP_MS;
    const isHeld = isFresh && (await this.#jobs.hold(jobId, schedule, slotAt));
    if (await this.#markDone(id, schedule, slotAt)) {
      if (isHeld) this.#jobs.release(jobId);
    } else if (isHeld) await this.#jobs.withdraw(jobId);
  }

  /** False if the schedule was changed or removed meanwhile: then it is not for this slot any more. */
  async #markDone(id: string, schedule: StoredSchedule, slotAt: number): Promise<boolean> {
    let isSame = false;
    const stored = await this.#documents.update(EVERYWHERE, id, (standing) => {
      isSame = standing?.cron === schedule.cron && standing.zone === schedule.zone;
      return isSame && standing !== undefined ? { ...standing, doneUpTo: slotAt } : standing;
    });
    if (stored !== undefined && this.#known.has(id)) this.#known.set(id, stored);
    return isSame;
  }

  async #removeId(id: string): Promise<void> {
    this.#known.delete(id);
    await this.#documents.delete(EVERYWHERE, id);
  }
}

function idOf(workspace: string, key: string): string {
  return `${workspace}/${key}`;
}
