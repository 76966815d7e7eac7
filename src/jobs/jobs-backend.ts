import type { EngineStats, Standing } from './jobs.ts';
import type { ScheduleTable } from './schedule-table.ts';

/** A job to be stored. */
export interface NewJob {
  workspace: string;
  /** At most one job with this key waits or runs in the queue. */
  key: string | undefined;
  /** `JobData` as JSON. */
  data: string;
  /** A wait and no instant, because the clock of one replica may be wrong. */
  delayMs: number;
  /** W3C's, of the span it was sent in; only where traces are on. */
  traceparent: string | undefined;
  /** It is stored only while this stands. */
  during?: Standing | undefined;
}

/** What a job has become while it ran, kept until it is finished. */
export interface JobState {
  /** `JobData` as JSON. */
  data: string;
  failures: number;
  /** How often it was handed back; these claims count as no attempt. */
  handedBack: number;
  /** Why its last attempt failed, if that is still to be reported. */
  dead: string | undefined;
}

/** A job that was claimed to be run. Nothing but its state changes. */
export interface ClaimedJob extends JobState {
  id: string;
  queue: string;
  key: string | undefined;
  workspace: string;
  traceparent: string | undefined;
  /** How often it was claimed, this time included. Another claim of the same job has another number. */
  claims: number;
}

/** Which workspaces' jobs are claimed. */
export interface ClaimOrder {
  /** None of theirs. */
  full: readonly string[];
  /** Theirs only if others leave room. */
  busy: readonly string[];
}

export interface Claim {
  jobs: ClaimedJob[];
  /** When the next job of the queue falls due; undefined if none waits, or if replicas may send more at any time. */
  nextAt: number | undefined;
}

/** How replicas share the jobs: each shows that its own are alive, and takes those of dead ones over. */
export interface Leases {
  /** Others send jobs too, so each replica looks for due ones this often. */
  pollMs: number;
  /** How often running jobs are shown to be alive. */
  beatMs: number;
  /** Without a beat for this long, a job is open to others. */
  leaseMs: number;
  /** Resolves with those of the jobs, all of one queue, that are claimed no longer. */
  beat(queue: string, jobs: readonly ClaimedJob[]): Promise<ClaimedJob[]>;
}

/**
 * Where jobs and schedules are stored. What resolved here survives `kill -9`. The methods that change a claimed job
 * reject with `JobAborted` once the claim is over; all other rejections mean that the database failed.
 */
export interface JobsBackend {
  readonly schedules: ScheduleTable;
  readonly leases?: Leases;
  /** Prepares the queues that this process works on. The other methods may be called before. */
  start(queues: readonly string[]): Promise<void>;
  /**
   * Stores all in one write. False for each that was not stored because its key is taken.
   * @throws InstallationEnded where what one of them belongs to has ended
   */
  insert(queue: string, jobs: readonly NewJob[]): Promise<boolean[]>;
  /** Takes at most `limit` due jobs, those that wait longest first. */
  claim(queue: string, limit: number, from: ClaimOrder): Promise<Claim>;
  /** Stores the job's state. */
  save(job: ClaimedJob): Promise<void>;
  /** Stores the job's state and lets it be claimed again after `delayMs`. */
  release(job: ClaimedJob, delayMs: number): Promise<void>;
  /** Nothing of the job stays. */
  finish(job: ClaimedJob): Promise<void>;
  /** Keeps a job that cannot be read where nothing claims it again, and frees its key. */
  setAside(job: ClaimedJob): Promise<void>;
  /** Deletes the workspace's jobs and schedules. */
  erase(workspace: string): Promise<void>;
  /** The clock was set back: no wait becomes longer by that. Only where waits are measured by this process's clock. */
  clockSetBack?(): Promise<void>;
  count(): Promise<EngineStats['queues']>;
  /** Rejects if the database cannot be written. */
  ping(): Promise<void>;
  /** Ends what the backend opened by itself. */
  close(): Promise<void>;
}
