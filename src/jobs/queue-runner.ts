import { JobAborted } from './jobs.ts';
import type { ClaimedJob } from './jobs-backend.ts';
import { type RunContext, runJob, type Worker } from './run-job.ts';

/** How many jobs are claimed at once. */
const MOST_CLAIMED = 200;
/** How long jobs that could not be claimed wait to be tried again. */
const RETRY_MS = 1_000;

interface Running {
  job: ClaimedJob;
  abort: AbortController;
}

export interface QueueRunnerOptions {
  name: string;
  worker: Worker;
  context: RunContext;
  now: () => number;
  /** Called when it has become known when the next job falls due. */
  onNext: () => void;
  onError: (error: unknown) => void;
}

/** Runs the jobs of one queue: claims as many as there is room for, and nothing else of it is held in memory. */
export class QueueRunner {
  readonly #options: QueueRunnerOptions;
  readonly #running = new Map<string, Running>();
  /** Runs that have not ended, and a claim under way. */
  readonly runs = new Set<Promise<void>>();
  #isOpen = false;
  #isClaiming = false;
  /** There may be due jobs that were not claimed. */
  #mayHaveMore = false;
  #lastClaimed: readonly ClaimedJob[] = [];
  #nextAt: number | undefined;

  constructor(options: QueueRunnerOptions) {
    this.#options = options;
  }

  get worker(): Worker {
    return this.#options.worker;
  }

  /** When the next job falls due, as far as is known. */
  get nextAt(): number | undefined {
    return this.#nextAt;
  }

  open(): void {
    this.#isOpen = true;
    this.pull();
  }

  close(): void {
    this.#isOpen = false;
  }

  /** A job of the queue falls due then. */
  expect(at: number): void {
    if (at <= this.#options.now()) {
      this.pull();
      return;
    }
    if (this.#nextAt !== undefined && this.#nextAt <= at) return;
    this.#nextAt = at;
    this.#options.onNext();
  }

  /** Claims what is due, as far as there is room. */
  pull(): void {
    this.#mayHaveMore = true;
    if (!this.#isOpen || this.#isClaiming || this.#room <= 0) return;
    this.#isClaiming = true;
    this.#track(this.#claim());
  }

  async #claim(): Promise<void> {
    try {
      // What is sent at once is claimed at once.
      await undefined;
      while (this.#isOpen && this.#mayHaveMore && this.#room > 0) await this.#claimOnce();
    } catch (error) {
      this.#options.onError(error);
      this.expect(this.#options.now() + RETRY_MS);
    } finally {
      this.#isClaiming = false;
    }
    this.#options.onNext();
  }

  get #room(): number {
    return this.#options.worker.options.concurrency - this.#running.size;
  }

  async #claimOnce(): Promise<void> {
    const limit = Math.min(this.#room, MOST_CLAIMED);
    this.#mayHaveMore = false;
    this.#nextAt = undefined;
    const { context, name } = this.#options;
    const { jobs, nextAt } = await context.backend.claim(name, limit, this.#busyWorkspaces());
    for (const job of jobs) this.#track(this.#run(job));
    if (jobs.length === limit) this.#mayHaveMore = true;
    this.#lastClaimed = this.#mayHaveMore ? jobs : [];
    if (nextAt !== undefined) this.expect(nextAt);
  }

  /** Those that run as many jobs as would be theirs if one more workspace came. */
  #busyWorkspaces(): string[] {
    const counts = new Map<string, number>();
    // Short jobs may all have ended together, and have had their turn all the same.
    const running = [...this.#running.values()].map(({ job }) => job);
    for (const { workspace } of new Set([...running, ...this.#lastClaimed]))
      counts.set(workspace, (counts.get(workspace) ?? 0) + 1);
    const share = this.#options.worker.options.concurrency / (counts.size + 1);
    return [...counts].filter(([, count]) => count >= share).map(([workspace]) => workspace);
  }

  #track(run: Promise<void>): void {
    const tracked = run.finally(() => this.runs.delete(tracked));
    this.runs.add(tracked);
  }

  async #run(job: ClaimedJob): Promise<void> {
    const running: Running = { job, abort: new AbortController() };
    const { worker, context, now, onError } = this.#options;
    this.#running.set(job.id, running);
    if (!this.#isOpen) running.abort.abort(new JobAborted('draining'));
    try {
      const delayMs = await runJob(job, worker, running.abort, context);
      if (delayMs !== undefined) this.expect(now() + delayMs);
    } catch (error) {
      // The database could not be written. Where replicas share it, the job is claimed again when its lease ends.
      onError(error);
    } finally {
      if (this.#running.get(job.id) === running) this.#running.delete(job.id);
      if (this.#mayHaveMore) this.pull();
    }
  }

  /** Shows that the running jobs are alive, and stops those that are ours no more. */
  async beat(): Promise<void> {
    const jobs = [...this.#running.values()].map(({ job }) => job);
    if (jobs.length === 0) return;
    const { context, name } = this.#options;
    for (const lost of (await context.backend.leases?.beat(name, jobs)) ?? []) {
      const running = this.#running.get(lost.id);
      if (running?.job === lost) running.abort.abort(new JobAborted('lease lost'));
    }
  }

  /** Stops the running jobs, of one workspace or all. */
  abort(reason: JobAborted['reason'], workspace?: string): void {
    for (const { job, abort } of this.#running.values())
      if (workspace === undefined || job.workspace === workspace) abort.abort(new JobAborted(reason));
  }
}
