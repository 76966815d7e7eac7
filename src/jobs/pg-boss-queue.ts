import type { Db, JobWithMetadata, PgBoss } from 'pg-boss';
import { JobAborted } from './jobs.ts';
import {
  beat,
  type Claim,
  claimOf,
  finishJob,
  type JobEnvelope,
  KEYED,
  payloadOf,
  putBackJob,
  saveJob,
} from './pg-boss-documents.ts';
import { type Outcomes, runJob, type Surroundings, type Worker } from './run-job.ts';

/** How many jobs one statement fetches. */
const BATCH = 200;

interface Running {
  claim: Claim;
  workspace: string;
  abort: AbortController;
}

export interface QueueParts {
  boss: PgBoss;
  name: string;
  worker: Worker;
  surroundings: Surroundings;
  onError: (error: unknown) => void;
}

/** The jobs of one queue that this replica runs: fetches up to its free places, shows that they are alive. */
export class PostgresQueue {
  readonly #parts: QueueParts;
  readonly #running = new Map<string, Running>();
  readonly #runs = new Set<Promise<void>>();
  #isOpen = false;
  /** Jobs are being fetched; `again` if there was reason to look once more meanwhile. */
  #fetching: 'no' | 'yes' | 'again' = 'no';
  /** The last fetch was as large as it could be, so there may be more. */
  #mayHaveMore = false;

  constructor(parts: QueueParts) {
    this.#parts = parts;
  }

  get db(): Db {
    return this.#parts.boss.getDb();
  }

  open(): void {
    this.#isOpen = true;
  }

  close(): void {
    this.#isOpen = false;
  }

  /** All runs that have not ended, and a fetch under way. */
  get runs(): ReadonlySet<Promise<void>> {
    return this.#runs;
  }

  /** Fetches what is due, as far as there is room. */
  pull(): void {
    if (!this.#isOpen) return;
    if (this.#fetching !== 'no') {
      this.#fetching = 'again';
      return;
    }
    this.#fetching = 'yes';
    this.#track(this.#fetch());
  }

  async #fetch(): Promise<void> {
    try {
      do {
        this.#fetching = 'yes';
        await this.#fetchOnce();
      } while (this.#isOpen && (this.#isAskedAgain() || this.#mayHaveMore) && this.#room() > 0);
    } catch (error) {
      this.#parts.onError(error);
    } finally {
      this.#fetching = 'no';
    }
  }

  /** Asked of the field anew: it changes while a fetch is awaited. */
  #isAskedAgain(): boolean {
    return this.#fetching === 'again';
  }

  #room(): number {
    return this.#parts.worker.options.concurrency - this.#running.size;
  }

  async #fetchOnce(): Promise<void> {
    const batchSize = Math.min(this.#room(), BATCH);
    if (batchSize <= 0) return;
    const { boss, name } = this.#parts;
    const jobs = await boss.fetch<JobEnvelope>(name, { batchSize, includeMetadata: true });
    this.#mayHaveMore = jobs.length === batchSize;
    for (const job of jobs) this.#track(this.#run(job));
  }

  #track(run: Promise<void>): void {
    const tracked = run.finally(() => this.#runs.delete(tracked));
    this.#runs.add(tracked);
  }

  async #run(job: JobWithMetadata<JobEnvelope>): Promise<void> {
    const claim = claimOf(this.#parts.name, job);
    const { workspace } = payloadOf(job.data);
    const running: Running = { claim, workspace, abort: new AbortController() };
    this.#running.set(job.id, running);
    if (!this.#isOpen) running.abort.abort(new JobAborted('draining'));
    try {
      await this.#runClaimed(job, running);
    } catch (error) {
      // The database could not be written. The claim ends by itself, and the job is fetched again.
      this.#parts.onError(error);
    } finally {
      if (this.#running.get(job.id) === running) this.#running.delete(job.id);
      if (this.#mayHaveMore) this.pull();
    }
  }

  #runClaimed(job: JobWithMetadata<JobEnvelope>, running: Running): Promise<void> {
    const { name, worker, surroundings } = this.#parts;
    const { failures, dead, traceparent } = job.data;
    const taken = {
      id: job.id,
      queue: name,
      key: keyOf(job),
      data: payloadOf(job.data),
      attempt: job.retryCount + failures + 1,
      failures,
      dead,
      traceparent,
      signal: running.abort.signal,
    };
    return runJob(taken, worker, this.#outcomes(job.data, running), surroundings);
  }

  #outcomes(envelope: JobEnvelope, { claim, abort }: Running): Outcomes {
    const { db } = this;
    const fenced = async (write: Promise<void>): Promise<void> => {
      try {
        await write;
      } catch (error) {
        if (error instanceof JobAborted) abort.abort(error);
        throw error;
      }
    };
    const change = (changes: Partial<JobEnvelope>): JobEnvelope => Object.assign(envelope, changes);
    return {
      save: (data) => fenced(saveJob(db, claim, change({ payload: JSON.stringify(data) }))),
      handBack: () => fenced(putBackJob(db, claim, envelope, 0)),
      retry: (failures, delayMs) => fenced(putBackJob(db, claim, change({ failures }), delayMs)),
      markDead: (failures, dead) => fenced(saveJob(db, claim, change({ failures, dead }))),
      finish: () => fenced(finishJob(db, claim)),
    };
  }

  /** Shows that all running jobs are alive, in one statement; what is ours no more is stopped. */
  async beat(): Promise<void> {
    const running = [...this.#running.values()];
    if (running.length === 0) return;
    const standing = await beat(
      this.db,
      this.#parts.name,
      running.map(({ claim }) => claim),
    );
    for (const { claim, abort } of running) {
      const isOurs = standing.has(claim.id) || !this.#running.has(claim.id);
      if (!isOurs) abort.abort(new JobAborted('lease lost'));
    }
  }

  abort(reason: JobAborted['reason']): void {
    for (const { abort } of this.#running.values()) abort.abort(new JobAborted(reason));
  }

  abortWorkspace(workspace: string): void {
    for (const running of this.#running.values())
      if (running.workspace === workspace) running.abort.abort(new JobAborted('erased'));
  }
}

function keyOf({ singletonKey }: JobWithMetadata<JobEnvelope>): string | undefined {
  return singletonKey?.startsWith(KEYED) ? singletonKey.slice(KEYED.length) : undefined;
}
