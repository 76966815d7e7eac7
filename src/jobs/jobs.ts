import type { z } from 'zod';
import { HOUR_MS } from '../core/time/clock.ts';

/** Where a job is sent to, and the shape of its data: all that a sender needs. Never a secret: data is stored as it is. */
export interface JobType<Data> {
  queue: string;
  schema: z.ZodType<Data>;
}

/** A pointer to work: its data is small and never changes. How far the work is stands in a document of who does it. */
export interface Job<Data> {
  id: string;
  key: string | undefined;
  data: Data;
  /** 1 the first time, more after a failure, a hand-back or a take-over from a dead process. */
  attempt: number;
  /** Aborts when the process drains or the claim is over: stop, and throw `signal.reason` to hand the job back. */
  signal: AbortSignal;
}

export interface JobOptions {
  /** How many jobs of the queue run at once in this process; of one workspace a quarter of that. */
  concurrency: number;
  /** Failed attempts before the job has failed for good; neither a hand-back at drain nor a take-over counts. */
  attempts: number;
  /** First delay of the exponential back-off, in milliseconds (doubled each time, with jitter). */
  backoffMs: number;
  /** How long the key of a job stays taken after its end, in milliseconds. Left out, it is free at once. */
  keyStaysMs?: number;
  /**
   * Its jobs sleep most of the time, and go on from where they were: a workspace may have any number of them at once, and
   * `stop` aborts them without a grace.
   */
  isSleeper?: boolean;
}

export interface SendOptions {
  /** At most one job of the workspace with this key waits or runs in the queue; see `keyStaysMs`. */
  key?: string;
  /** Milliseconds since the epoch; at once if left out or past. What is sent ahead begins a trace of its own. */
  at?: number;
}

/** What is done with the jobs of a queue. */
export interface Worker<Data> {
  options: JobOptions;
  run(workspace: string, job: Job<Data>): Promise<void>;
  /** Called with a job whose last attempt failed; again only if the process dies meanwhile. */
  onDeadLetter?(workspace: string, data: Data, error: unknown): Promise<void>;
}

/** How an attempt at a job ended, unless its claim was over. */
export type JobOutcome = 'done' | 'retried' | 'failed' | 'handed_back' | 'unreadable';

/** The jobs of a queue. */
export interface QueueStats {
  /** Those that are due. */
  waiting: number;
  /** Those that are not due yet. */
  later: number;
  running: number;
  /** How long the oldest of those that wait has been due. */
  oldestDueMs: number;
}

/** By the queue's name. */
export type EngineStats = Record<string, QueueStats>;

/** A job that could not be read, and was ended where it is. */
export interface UnreadableJob {
  queue: string;
  id: string;
}

/** Durable jobs. What is acknowledged here survives `kill -9`. */
export interface Engine {
  /** False if the key is taken. */
  send<Data>(workspace: string, job: JobType<Data>, data: Data, options?: SendOptions): Promise<boolean>;
  /** Declares the worker of a queue; before `start`. */
  work<Data>(job: JobType<Data>, worker: Worker<Data>): void;
  start(): Promise<void>;
  /** Takes no new work, aborts running jobs after `graceMs`, resolves when all have ended or were handed back. */
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

/** An occurrence of a schedule that is found late is still done while it is younger than this. */
export const CATCH_UP_MS = 12 * HOUR_MS;

/** Thrown by a worker to have its job again after a while; no attempt counts as failed. */
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

/** A job to be stored. */
export interface NewJob {
  workspace: string;
  /** One that no other job of the queue has, neither waiting nor running nor, for `keyStaysMs`, ended. */
  key: string | undefined;
  /** JSON. */
  data: string;
  /** A wait and no instant, because the clock of one replica may be wrong. */
  delayMs: number;
  /** W3C's, of the span it was sent in; only where traces are on. */
  traceparent: string | undefined;
}

/** A job that was claimed to be run. */
export interface ClaimedJob {
  id: string;
  queue: string;
  key: string | undefined;
  workspace: string;
  /** JSON; whatever else is there cannot be read. */
  data: string;
  traceparent: string | undefined;
  /** How often it was claimed, this time included. Another claim of the same job has another number. */
  attempt: number;
  /** How many of these attempts failed. */
  failures: number;
}

export interface Claim {
  jobs: ClaimedJob[];
  /** When the next job of the queue falls due; undefined if none waits, or if that is not known. */
  nextAt: number | undefined;
}

/** A queue that this process works on or sends to. */
export interface QueueSpec {
  name: string;
  keyStaysMs?: number | undefined;
}

/** How replicas share the jobs: each shows that its own are alive, and takes those of dead ones over. */
export interface Leases {
  /** Others send jobs too, so each replica looks for due ones this often. */
  pollMs: number;
  /** How often running jobs are shown to be alive. */
  touchMs: number;
  /** Without that for this long, a job is open to others. */
  leaseMs: number;
  touch(queue: string, jobs: readonly ClaimedJob[]): Promise<void>;
}

/**
 * Where jobs are stored. What resolved here survives `kill -9`. What is said of a claimed job whose claim is over changes
 * nothing. All rejections mean that the database failed.
 */
export interface JobsBackend {
  readonly leases?: Leases;
  /** Prepares the queues that this process works on. The other methods may be called before. */
  start(queues: readonly QueueSpec[]): Promise<void>;
  /** False if the key is taken. */
  insert(queue: QueueSpec, job: NewJob): Promise<boolean>;
  /** Takes at most `limit` due jobs, those that wait longest first, none of the workspaces in `full`. */
  claim(queue: string, limit: number, full: readonly string[]): Promise<Claim>;
  /** Nothing of the job stays, except its key where that stays taken. */
  finish(job: ClaimedJob, queue: QueueSpec): Promise<void>;
  /** Lets it be claimed again after `delayMs`. */
  release(job: ClaimedJob, delayMs: number): Promise<void>;
  /** Keeps a job that cannot be read where nothing claims it again, and frees its key. */
  keepUnreadable(job: ClaimedJob): Promise<void>;
  unreadable(workspace: string): Promise<UnreadableJob[]>;
  /** The jobs that wait or run, to be stored elsewhere. */
  all(): AsyncIterable<NewJob & { queue: string }>;
  /** Deletes the workspace's jobs. */
  cancel(workspace: string): Promise<void>;
  count(): Promise<Record<string, QueueStats>>;
  /** Rejects if the database cannot be written. */
  ping(): Promise<void>;
  /** Ends what the backend opened by itself. */
  close(): Promise<void>;
}
