import { z } from 'zod';
import { HOUR_MS } from '../core/time/clock.ts';

/** Data of jobs that need none. */
export const NoData = z.object({});

/** A queue and the schema of its data. Data is stored unsealed, so it never holds a secret. */
export interface JobType<Data> {
  queue: string;
  schema: z.ZodType<Data>;
}

/** A pointer to work. Its data is small and never changes. The worker stores the progress in a document. */
export interface Job<Data> {
  id: string;
  key: string | undefined;
  data: Data;
  /** 1 the first time; more after a failure, a hand-back, or the death of its process. */
  attempt: number;
  /** Aborts if the process stops or the claim ends. The worker then throws `signal.reason` to hand the job back. */
  signal: AbortSignal;
}

export interface JobOptions {
  /** Number of jobs of the queue that run at once in this process; one workspace has a quarter of them. */
  concurrency: number;
  /** Failed attempts after which the job fails for good. A hand-back or a take-over is no failed attempt. */
  attempts: number;
  /** First delay of the exponential back-off, in milliseconds; doubled each time, with jitter. */
  backoffMs: number;
  /** How long the key stays taken after the end of a job, in milliseconds. Default: no time. */
  keyStaysMs?: number;
  /**
   * True if its jobs sleep most of the time and can resume. A workspace may then run any number of them, and
   * `stop` aborts them at once.
   */
  isSleeper?: boolean;
}

export interface SendOptions {
  /** At most one job of the workspace with this key waits or runs in the queue. See `keyStaysMs`. */
  key?: string;
  /** Due time, milliseconds since the epoch. Default: now. A job for later begins its own trace. */
  at?: number;
}

/** Runs the jobs of a queue. */
export interface Worker<Data> {
  options: JobOptions;
  handle(workspace: string, job: Job<Data>): Promise<void>;
  /** Called with a job whose last attempt failed. Called again only if the process dies during the call. */
  onDeadLetter?(workspace: string, data: Data, error: unknown): Promise<void>;
}

export type JobOutcome = 'done' | 'retried' | 'failed' | 'handed_back' | 'unreadable';

/** Numbers of jobs of a queue. */
export const QueueStats = z.object({
  waiting: z.number(),
  /** Jobs that are not due yet. */
  later: z.number(),
  running: z.number(),
  /** Time since the oldest waiting job became due. */
  oldestDueMs: z.number(),
});
export interface QueueStats extends z.infer<typeof QueueStats> {}

/** Statistics by the queue's name. */
export type EngineStats = Record<string, QueueStats>;

/** A job that could not be read. It stays in the database, but never runs. */
export const UnreadableJob = z.object({ queue: z.string(), id: z.string() });
export interface UnreadableJob extends z.infer<typeof UnreadableJob> {}

/** Durable jobs. A sent job survives `kill -9`. */
export interface Engine {
  /** Returns false if the key is taken. */
  send<Data>(workspace: string, job: JobType<Data>, data: Data, options?: SendOptions): Promise<boolean>;
  /** Declares the worker of a queue. Call it before `start`. */
  work<Data>(job: JobType<Data>, worker: Worker<Data>): void;
  start(): Promise<void>;
  /** Takes no new jobs, and aborts running ones after `graceMs`. Resolves when all have ended or were handed back. */
  stop(graceMs: number): Promise<void>;
  /** Deletes the workspace's jobs, and aborts running ones. */
  cancel(workspace: string): Promise<void>;
  /** The workspace's jobs that could not be read. */
  unreadable(workspace: string): Promise<UnreadableJob[]>;
  /** Rejects if the engine cannot take or run jobs. */
  ping(): Promise<void>;
  stats(): Promise<EngineStats>;
}

export interface WorkspaceJobs {
  /** Returns false if the key is taken in the queue. */
  send<Data>(job: JobType<Data>, data: Data, options?: SendOptions): Promise<boolean>;
}

/** Maximum lateness of a schedule's occurrence. A later one is skipped. */
export const CATCH_UP_MS = 12 * HOUR_MS;

/** Thrown by a worker to get the job again later, without a failed attempt. */
export class JobPostponed extends Error {
  readonly code = 'job_postponed';
  readonly delayMs: number;

  constructor(delayMs: number, options?: ErrorOptions) {
    super('The job was postponed', options);
    this.name = 'JobPostponed';
    this.delayMs = delayMs;
  }
}

/** Reason of a job's abort. */
export class JobAborted extends Error {
  readonly code = 'job_aborted';
  readonly reason: 'draining' | 'cancelled' | 'claim over';

  constructor(reason: JobAborted['reason']) {
    super(`The job was stopped: ${reason}`);
    this.name = 'JobAborted';
    this.reason = reason;
  }
}

export interface NewJob {
  workspace: string;
  /** Unique among the jobs of the queue that wait, run, or ended within `keyStaysMs`. */
  key: string | undefined;
  /** JSON. */
  data: string;
  /** A delay, because a replica's clock may be wrong. */
  delayMs: number;
  /** W3C header of the sending span, if traces are on. */
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
  /** Number of claims, this one included. It distinguishes claims of the same job. */
  attempt: number;
  /** Number of failed attempts. */
  failures: number;
}

export interface Claim {
  jobs: ClaimedJob[];
  /** Due time of the queue's next job; undefined if the queue is empty or the backend does not know. */
  nextAt: number | undefined;
}

/** A queue that this process works on or sends to. */
export interface QueueSpec {
  name: string;
  keyStaysMs?: number | undefined;
}

/** How replicas share the jobs. Each proves that its own are alive, and takes over those of dead replicas. */
export interface Leases {
  /** Interval of checks for due jobs, because other replicas send jobs too. */
  pollMs: number;
  /** Interval of proofs that running jobs are alive. */
  touchMs: number;
  /** Time without proof after which other replicas may claim a job. */
  leaseMs: number;
  touch(queue: string, jobs: readonly ClaimedJob[]): Promise<void>;
  /** Returns the names of the queues that have due jobs, in one statement for all. */
  findDue(queues: readonly string[]): Promise<string[]>;
}

/**
 * Stores jobs. A job survives `kill -9` once its call has resolved. Calls about a job whose claim has ended
 * change nothing. A rejection always means that the database failed.
 */
export interface JobsBackend {
  readonly leases?: Leases;
  /**
   * Prepares the queues of this process. Other methods may be called before. Returns the earliest due time of each queue that has
   * waiting jobs, if one statement can find it.
   */
  start(queues: readonly QueueSpec[]): Promise<ReadonlyMap<string, number> | undefined>;
  /** Returns false if the key is taken. */
  insert(queue: QueueSpec, job: NewJob): Promise<boolean>;
  /** Claims at most `limit` due jobs, longest waiting first. Skips those of the workspaces in `full`. */
  claim(queue: string, limit: number, full: readonly string[]): Promise<Claim>;
  /** Deletes the job. Its key may stay taken. */
  finish(job: ClaimedJob, queue: QueueSpec): Promise<void>;
  /** Makes the job due again after `delayMs`. */
  release(job: ClaimedJob, delayMs: number): Promise<void>;
  /** Keeps an unreadable job in the database, but never runs it. Frees its key. */
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
