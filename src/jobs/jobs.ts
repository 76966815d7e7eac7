import type { z } from 'zod';
import { HOUR_MS } from '../core/clock.ts';
import { parseObject } from '../core/json.ts';

/** Where a job is sent to, and the shape of its data: all that a sender needs. Never a secret: data is stored as it is. */
export interface JobType<Data> {
  queue: string;
  schema: z.ZodType<Data>;
}

export interface Job<Data> {
  id: string;
  key: string | undefined;
  data: Data;
  /** 1 the first time, more after a failure or a take-over from a dead process. */
  attempt: number;
  /** Aborts when the process drains or the lease was lost: stop, and throw `signal.reason` to hand the job back. */
  signal: AbortSignal;
  /** Stores how far the job is; after a kill it starts again from here. */
  save(data: Data): Promise<void>;
}

export interface JobOptions {
  /** How many jobs of the queue run at once in this process. */
  concurrency: number;
  /** Failed attempts before the job is dead; neither a hand-back at drain nor a take-over counts. */
  attempts: number;
  /** First delay of the exponential back-off, in milliseconds (doubled each time, with jitter). */
  backoffMs: number;
  /**
   * How long the key of a job stays taken after its end, in milliseconds: what is sent again until then is no second job.
   * Left out, it is free at once.
   */
  keyStaysMs?: number;
  /**
   * Its jobs may be stopped at any time, because they go on from what they saved: `stop` aborts them at once. Others
   * have until the end of the grace.
   */
  resumable?: boolean;
}

/**
 * JSON that a job carries. Never a secret: jobs are stored as they are. `tenancy` is the text of what it was sent during;
 * jobs of earlier releases have none.
 */
export type JobData = {
  workspace: string;
  lane?: string | undefined;
  tenancy?: string | undefined;
} & Record<string, unknown>;

/** Undefined if it is not what was sent, as after a fault of the disk or a hand in the database. */
export function parseData(text: string): JobData | undefined {
  const data = parseObject(text);
  return typeof data?.workspace === 'string' ? (data as JobData) : undefined;
}

/** A row of the documents beside the jobs: what belongs to it is stored only while it stands as it was read. */
export interface Standing {
  key: string;
  text: string;
}

/** What a job or schedule belongs to. @throws InstallationEnded */
export type AskStanding = () => Promise<Standing>;

export interface SendOptions {
  /**
   * At most one job of the workspace with this key waits or runs in the queue; `keyStaysMs` says for how long afterwards
   * there is none.
   */
  key?: string;
  /** Milliseconds since the epoch; at once if left out or past. */
  startAfter?: number;
  /** What the job belongs to. @throws InstallationEnded in `send` where it stands no more */
  during?: AskStanding | undefined;
  /** What waits with it in its workspace, e.g. a channel or an account: jobs of other lanes have their own share. */
  lane?: string;
  /** Begins a trace of its own. What plans itself again and again would make one trace without an end. */
  newTrace?: boolean;
}

export type Handler<T extends JobData> = (job: Job<T>) => Promise<void>;

export interface WorkOptions<T extends JobData> extends JobOptions {
  /** A person waits for what its jobs do. */
  isAwaited?: boolean;
  /** Called with a job whose last attempt failed; again only if the process dies meanwhile. */
  onDeadLetter?: (data: T, error: unknown) => Promise<void>;
}

export interface Schedule {
  /** Five-field cron expression. */
  cron: string;
  /** IANA time zone the fields are meant in. */
  zone: string;
  queue: string;
  data: JobData;
  /** Of its jobs. */
  lane?: string | undefined;
}

/** What a scheduled job carries beside the schedule's own data. */
export interface Slot {
  /** The instant the slot fell due, milliseconds since the epoch. */
  slotAt: number;
}

/** How an attempt at a job ended, unless it was erased meanwhile. A job that cannot be read is set aside. */
export type JobOutcome = 'done' | 'failed' | 'dead' | 'handed_back' | 'set_aside';

export interface EngineStats {
  /** Jobs waiting (due or not, or for their key to be free) and running, by queue. */
  queues: Record<string, { waiting: number; running: number; oldestDueMs: number }>;
}

/** Durable jobs and schedules. What is acknowledged here survives `kill -9`. */
export interface Engine {
  /** False if the key is taken. */
  send(queue: string, data: JobData, options?: SendOptions): Promise<boolean>;
  /** Declares the worker of a queue; before `start`. */
  work<T extends JobData>(queue: string, handler: Handler<T>, options: WorkOptions<T>): void;
  /**
   * Sends `{...data, slotAt}` to the queue at each slot, once however many replicas run. The last slot missed
   * while everything was down is sent at start if it is less than 12 h old. Replaces a schedule with that key;
   * with the same cron and zone it goes on where it was, with others it begins now. Slots by `nextSlot`.
   * @throws CronError if the expression or the zone is wrong, InstallationEnded where `during` stands no more
   */
  schedule(workspace: string, key: string, schedule: Schedule, during?: AskStanding): Promise<void>;
  unschedule(workspace: string, key: string): Promise<void>;
  /** Deletes the workspace's jobs and schedules; running ones are aborted. */
  erase(workspace: string): Promise<void>;
  start(): Promise<void>;
  /**
   * Takes no new work, aborts running jobs after `graceMs` (those that are `resumable` at once), resolves when all have ended
   * or were handed back.
   */
  stop(graceMs: number): Promise<void>;
  /** Rejects if the engine cannot take or run jobs. */
  ping(): Promise<void>;
  stats(): Promise<EngineStats>;
}

/** A schedule of one workspace: when its job is sent, and with what. */
interface JobSchedule<Data> extends Omit<Schedule, 'queue' | 'data'> {
  job: JobType<Data>;
  /** Its job gets the time of the occurrence as `slotAt` as well. */
  data: Omit<Data, 'slotAt'>;
}

/** The jobs and schedules of one workspace. */
export interface WorkspaceJobs {
  /** False if the key is taken in the queue. */
  send<Data>(job: JobType<Data>, data: Data, options?: Omit<SendOptions, 'during'>): Promise<boolean>;
  /** As `Engine.schedule`. @throws CronError if the expression or the zone is wrong */
  schedule<Data>(key: string, schedule: JobSchedule<Data>): Promise<void>;
  unschedule(key: string): Promise<void>;
}

/** A slot that is found late is still sent while it is younger than this. */
export const CATCH_UP_MS = 12 * HOUR_MS;

/** A job or schedule that cannot be read, which stays where it is. */
export interface SetAside {
  kind: 'job' | 'schedule';
  workspace: string;
  queue: string;
  /** A job's id, a schedule's key. */
  id: string;
  /** As it is stored. */
  data: string;
}

/** The data of a job is not what its queue expects: it is set aside. */
export class JobUnreadable extends Error {
  readonly code = 'job_unreadable';
}

/** Why a job's signal aborted. */
export class JobAborted extends Error {
  readonly code = 'job_aborted';
  readonly reason: 'draining' | 'erased' | 'lease lost';

  constructor(reason: JobAborted['reason']) {
    super(`The job was stopped: ${reason}`);
    this.name = 'JobAborted';
    this.reason = reason;
  }
}
