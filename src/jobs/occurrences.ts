import { type Alarm, type Clock, createAlarm } from '../core/clock.ts';
import { lastSlot, nextSlot } from './cron-occurrences.ts';
import { CATCH_UP_MS, type JobData, type Schedule, type SetAside, type Slot, type Standing } from './jobs.ts';
import type { JobsBackend } from './jobs-backend.ts';
import type { RunContext } from './run-job.ts';
import type { Advance, StoredSchedule } from './schedule-table.ts';

/** How many schedules that are due together are advanced by one write. */
const BATCH = 200;
/** How long occurrences that could not be stored wait to be tried again. */
const RETRY_MS = 1_000;

/** Passes on what the database gives, and its failures as the sender's own. */
export type Asking = <T>(work: Promise<T>) => Promise<T>;

export interface OccurrencesOptions {
  backend: JobsBackend;
  clock: Clock;
  log: RunContext['log'];
  asking: Asking;
  /** Called with each queue that got a job. */
  onSent: (queue: string) => void;
  /** Called with each schedule that cannot be read. */
  onSetAside: (what: SetAside) => void;
}

/**
 * Sends each schedule's jobs. A schedule is advanced and its occurrence's job stored in one write, so each occurrence
 * is sent once, whatever dies and however many replicas try.
 */
export class Occurrences {
  readonly #options: OccurrencesOptions;
  readonly #alarm: Alarm;
  #alarmAt: number | undefined;
  #sending: Promise<void> | undefined;
  #isOpen = false;

  constructor(options: OccurrencesOptions) {
    this.#options = options;
    this.#alarm = createAlarm(options.clock, () => this.#ring());
  }

  async set(workspace: string, key: string, schedule: Schedule, during?: Standing): Promise<void> {
    const { cron, zone, queue, lane } = schedule;
    const data = JSON.stringify({ ...schedule.data, workspace, lane, tenancy: during?.text });
    const { asking, backend } = this.#options;
    const { schedules } = backend;
    // Refuses what is wrong before anything is stored.
    const nextAt = nextSlot(cron, zone, await asking(schedules.now()));
    await asking(schedules.put({ workspace, key, cron, zone, queue, data, nextAt }, during));
    this.#setAlarm(earliest(nextAt, this.#alarmAt));
  }

  /** Resolves when the occurrences that were missed have been sent. */
  async open(): Promise<void> {
    this.#isOpen = true;
    await this.check();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#alarm.set(undefined);
    await this.#sending;
  }

  /** The alarm may ring early. */
  #ring(): void {
    const at = this.#alarmAt;
    if (at === undefined || at > this.#options.clock.now()) this.#setAlarm(at);
    else void this.check();
  }

  /** Sends what is due. */
  check(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #send(): Promise<void> {
    const { backend, clock, log } = this.#options;
    try {
      for (let isFull = true; isFull && this.#isOpen; ) isFull = await this.#sendBatch();
      // What is scheduled while the database answers counts too.
      this.#alarmAt = undefined;
      this.#setAlarm(earliest(await backend.schedules.nextAt(), this.#alarmAt));
    } catch (err) {
      log?.error({ event: 'slot_not_stored', err }, 'the due schedules wait for the database');
      this.#setAlarm(clock.now() + RETRY_MS);
    }
  }

  async #sendBatch(): Promise<boolean> {
    const { backend, onSent } = this.#options;
    const now = await backend.schedules.now();
    const due = await backend.schedules.due(now, BATCH);
    if (due.length === 0) return false;
    await backend.schedules.advance(due.map((schedule) => this.#advance(schedule, now)));
    for (const queue of new Set(due.map((schedule) => schedule.queue))) onSent(queue);
    return due.length === BATCH;
  }

  /** Sends the last occurrence that is due; earlier ones that were missed are left out. */
  #advance(schedule: StoredSchedule, now: number): Advance {
    const { cron, zone, workspace, key, queue, data: stored } = schedule;
    try {
      const at = lastSlot(cron, zone, now);
      const data = { ...(JSON.parse(stored) as JobData), slotAt: at } satisfies Slot & JobData;
      const job = now - at < CATCH_UP_MS ? { data: JSON.stringify(data), at } : undefined;
      return { schedule, nextAt: nextSlot(cron, zone, now), job };
    } catch (err) {
      // Its zone may be unknown to this version of Node. The others are sent all the same.
      const fields = { event: 'schedule_set_aside', workspace, schedule: key, err };
      this.#options.onSetAside({ kind: 'schedule', workspace, queue, id: key, data: stored });
      this.#options.log?.error(fields, 'a schedule that cannot be read was set aside');
      return { schedule, nextAt: undefined, job: undefined };
    }
  }

  /** Where replicas share the schedules, `check` is called again and again instead: our own clock may be wrong. */
  #setAlarm(at: number | undefined): void {
    if (!this.#isOpen || this.#options.backend.leases !== undefined) return;
    this.#alarmAt = at;
    this.#alarm.set(at);
  }
}

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
