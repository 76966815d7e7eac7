import { z } from 'zod';
import { HOUR_MS } from '../core/time/clock.ts';

/** A queue and the schema of its data. Data is stored unsealed, so it never holds a secret. */
export interface JobType<Data> {
  queue: string;
  schema: z.ZodType<Data>;
}

/** A pointer to work. Its data is small and never changes; the worker stores the progress in a document. */
export interface Job<Data> {
  id: string;
  key: string | undefined;
  data: Data;
  /** 1 the first time; more after a failure, a hand-back, or the death of its process. */
  attempt: number;
  /** Aborts when the process stops or the claim ends. Then throw `signal.reason` to hand the job back. */
  signal: AbortSignal;
}

export interface JobOptions {
  /** Number of jobs of the queue that run at once in this process; one workspace has a quarter of them. */
  concurrency: number;
  /** Failed attempts after which the job fails for good. A hand-back or a take-over does not count. */
  attempts: number;
  /** First delay of the exponential back-off, in milliseconds; doubled each time, with jitter. */
  backoffMs: number;
  /** Time for which the key stays taken after the end of a job, in milliseconds. By default it is free at once. */
  keyStaysMs?: number;
  /**
   * True if its jobs sleep most of the time and can resume. Then a workspace may run any number of them, and `stop` aborts them
   * at once.
   */
  isSleeper?: boolean;
}

export interface SendOptions {
  /** At most one job of the workspace with this key waits or runs in the queue; see `keyStaysMs`. */
  key?: string;
  /** Due time, milliseconds since the epoch; at once by default. A job for later begins a trace of its own. */
  at?: number;
}

/** Runs the jobs of a queue. */
export interface Worker<Data> {
  options: JobOptions;
  run(workspace: string, job: Job<Data>): Promise<void>;
  /** Called with a job whose last attempt failed; again only if the process dies meanwhile. */
  onDeadLetter?(workspace: string, data: Data, error: unknown): Promise<void>;
}

/** Result of an attempt at a job. */
export type JobOutcome = 'done' | 'retried' | 'failed' | 'handed_back' | 'unreadable';

/** Numbers of jobs of a queue. */
export const QueueStats = z.object({
  /** Due jobs. */
  waiting: z.number(),
  /** Jobs that are not due yet. */
  later: z.number(),
  running: z.number(),
  /** Time since the oldest waiting job became due. */
  oldestDueMs: z.number(),
});
export type QueueStats = z.infer<typeof QueueStats>;

/** Statistics by the queue's name. */
export type EngineStats = Record<string, QueueStats>;

/** A job that could not be read. It stays in the database, but never runs. */
export const UnreadableJob = z.object({ queue: z.string(), id: z.string() });
export type UnreadableJob = z.infer<typeof UnreadableJob>;

/** Durable jobs. A sent job survives `kill -9`. */
export interface Engine {
  /** False if the key is taken. */
  send<Data>(workspace: string, job: JobType<Data>, data: Data, options?: SendOptions): Promise<boolean>;
  /** Declares the worker of a queue; before `start`. */
  work<Data>(job: JobType<Data>, worker: Worker<Data>): void;
  start(): Promise<void>;
  /** Takes no new jobs, aborts running ones after `graceMs`, and resolves when all have ended or were handed back. */
  stop(graceMs: number): Promise<void>;
  /** Deletes the workspace's jobs; running ones are aborted. */
  cancel(workspace: string): Promise<void>;
  /** The workspace's jobs that could not be read. */
  unreadable(workspace: string): Promise<UnreadableJob[]>;
  /** Rejects if the engine cannot take or run jobs. */
  ping(): Promise<void>;
  stats(): Promise<EngineStats>;
}

/** The jobs of one workspace. */
export interface WorkspaceJobs {
  /** False if the key is taken in the queue. */
  send<Data>(job: JobType<Data>, data: Data, options?: SendOptions): Promise<boolean>;
}

/** Maximum age of a late occurrence of a schedule that is still carried out. */
export const CATCH_UP_MS = 12 * HOUR_MS;

/** A worker throws it to get the job again later, without a failed attempt. */
export class JobPostponed extends Error {
  readonly code = 'job_postponed';
  readonly delayMs: number;

  constructor(delayMs: number, options?: ErrorOptions) {
    super('The job was postponed', options);
    this.name = 'JobPostponed';
    this.delayMs = delayMs;
  }
}

/** Why a job's signal aborted. */
export class JobAborted extends Error {
  readonly code = 'job_aborted';
  readonly reason: 'draining' | 'cancelled' | 'claim over';

  constructor(reason: JobAborted['reason']) {
    super(`The job was stopped: ${reason}`);
    this.name = 'JobAborted';
    this.reason = reason;
  }
}

/** A job to store. */
export interface NewJob {
  workspace: string;
  /** Unique among the jobs of the queue that wait, run, or ended within `keyStaysMs`. */
  key: string | undefined;
  /** JSON. */
  data: string;
  /** Not an instant, because a replica's clock may be wrong. */
  delayMs: number;
  /** W3C's header of the sending span, if traces are on. */
  traceparent: string | undefined;
}

/** A job that a process claimed. */
export interface ClaimedJob {
  id: string;
  queue: string;
  key: string | undefined;
  workspace: string;
  /** JSON; any other text is unreadable. */
  data: string;
  traceparent: string | undefined;
  /** Number of claims so far, this one included. It tells claims of the same job apart. */
  attempt: number;
  /** Number of failed attempts. */
  failures: number;
}

export interface Claim {
  jobs: ClaimedJob[];
  /** Due time of the queue's next job; undefined if the queue is empty, or if the backend does not know. */
  nextAt: number | undefined;
}

/** A queue that this process works on or sends to. */
export interface QueueSpec {
  name: string;
  keyStaysMs?: number | undefined;
}

/** How replicas share the jobs: each proves that its own are alive, and takes over those of dead replicas. */
export interface Leases {
  /** Interval of looking for due jobs, which other replicas send too. */
  pollMs: number;
  /** Interval of proving that running jobs are alive. */
  touchMs: number;
  /** Other replicas may claim a job after this time without proof. */
  leaseMs: number;
  touch(queue: string, jobs: readonly ClaimedJob[]): Promise<void>;
}

/**
 * Stores jobs. Anything that resolved survives `kill -9`. Calls about a job whose claim is over change nothing. A rejection
 * always means that the database failed.
 */
export interface JobsBackend {
  readonly leases?: Leases;
  /** Prepares the queues of this process. Other methods may be called before. */
  start(queues: readonly QueueSpec[]): Promise<void>;
  /** False if the key is taken. */
  insert(queue: QueueSpec, job: NewJob): Promise<boolean>;
  /** Claims at most `limit` due jobs, the longest waiting first, except those of the workspaces in `full`. */
  claim(queue: string, limit: number, full: readonly string[]): Promise<Claim>;
  /** Deletes the job; its key may stay taken. */
  finish(job: ClaimedJob, queue: QueueSpec): Promise<void>;
  /** Makes the job due again after `delayMs`. */
  release(job: ClaimedJob, delayMs: number): Promise<void>;
  /** Keeps an unreadable job in the database, unclaimed, and frees its key. */
  keepUnreadable(job: ClaimedJob): Promise<void>;
  unreadable(workspace: string): Promise<UnreadableJob[]>;
  /** The waiting and running jobs, for a move to another database. */
  all(): AsyncIterable<NewJob & { queue: string }>;
  /** Deletes the workspace's jobs. */
  cancel(workspace: string): Promise<void>;
  count(): Promise<Record<string, QueueStats>>;
  /** Rejects if the database cannot be written. */
  ping(): Promise<void>;
  /** Closes connections that the backend opened. */
  close(): Promise<void>;
}
