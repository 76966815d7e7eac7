import type { QueueStats, UnreadableJob } from './jobs.ts';

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
  erase(workspace: string): Promise<void>;
  count(): Promise<Record<string, QueueStats>>;
  /** Rejects if the database cannot be written. */
  ping(): Promise<void>;
  /** Ends what the backend opened by itself. */
  close(): Promise<void>;
}
