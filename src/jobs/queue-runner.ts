import { setImmediate as nextTurn } from 'node:timers/promises';
import { Shares, type Turn } from '../core/shares.ts';
import { JobAborted, parseData } from './jobs.ts';
import type { ClaimedJob } from './jobs-backend.ts';
import { type RunContext, runJob, type Worker } from './run-job.ts';

/** How many jobs are claimed at once. */
const MOST_CLAIMED = 200;
/** So many of the jobs that may run at once are claimed ahead of their turn: a claim costs as much for several as for one. */
const AHEAD = 1 / 4;
/** How long jobs that could not be claimed wait to be tried again. */
const RETRY_MS = 1_000;

/** A job that was claimed here. */
interface Held {
  job: ClaimedJob;
  turn: Turn;
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

/**
 * Runs the jobs of one queue: claims as many as there is room for, each workspace and lane its share. A claimed job
 * whose lane has its share waits here, and so do a few that are next; nothing else of the queue is held in memory.
 */
export class QueueRunner {
  readonly #options: QueueRunnerOptions;
  readonly #running = new Map<string, Held>();
  readonly #waiting = new Set<Held>();
  readonly #shares: Shares;
  readonly #ahead: number;
  /** Runs that have not ended, and a claim under way. */
  readonly runs = new Set<Promise<void>>();
  #isOpen = false;
  #isClaiming = false;
  /** There may be due jobs that were not claimed. */
  #mayHaveMore = false;
  /** There may be due jobs of workspaces that have their share. */
  #hasLeftOut = false;
  #lastClaimed: readonly ClaimedJob[] = [];
  #nextAt: number | undefined;

  constructor(options: QueueRunnerOptions) {
    this.#options = options;
    const { concurrency, isAwaited } = options.worker.options;
    this.#shares = new Shares(concurrency);
    // What a person waits for goes by the order in which it came, in all replicas.
    this.#ahead = isAwaited === true ? 0 : Math.floor(concurrency * AHEAD);
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
    for (const held of this.#waiting) this.#track(this.#handBack(held));
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
    if (!this.#isOpen || this.#isClaiming || !this.#isTime) return;
    this.#isClaiming = true;
    this.#track(this.#claim());
  }

  async #claim(): Promise<void> {
    try {
      // What is sent, and what makes room, in one turn of the event loop is claimed at once.
      await nextTurn();
      while (this.#isOpen && this.#mayHaveMore && this.#isTime) await this.#claimOnce();
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

  /** How many more are held ahead of their turn. */
  get #spare(): number {
    return Math.max(0, this.#ahead - this.#waiting.size);
  }

  /** There is room, or half of what was claimed ahead has begun. */
  get #isTime(): boolean {
    return this.#room > 0 || this.#spare * 2 > this.#ahead;
  }

  async #claimOnce(): Promise<void> {
    const limit = Math.min(this.#room + this.#spare, MOST_CLAIMED);
    const full = this.#shares.full();
    this.#mayHaveMore = false;
    this.#hasLeftOut = full.length > 0;
    this.#nextAt = undefined;
    const { context, name } = this.#options;
    const { jobs, nextAt } = await context.backend.claim(name, limit, { full, busy: this.#servedLast() });
    for (const job of jobs) this.#take(job);
    if (jobs.length === limit) this.#mayHaveMore = true;
    this.#lastClaimed = this.#mayHaveMore ? jobs : [];
    if (nextAt !== undefined) this.expect(nextAt);
  }

  /** Their jobs may have ended already, but they had their turn. */
  #servedLast(): string[] {
    return [...new Set(this.#lastClaimed.map(({ workspace }) => workspace))];
  }

  #track(run: Promise<void>): void {
    const tracked = run.finally(() => this.runs.delete(tracked));
    this.runs.add(tracked);
  }

  /** Runs a claimed job as soon as its workspace and lane have room for it. */
  #take(job: ClaimedJob): void {
    const turn = { workspace: job.workspace, lane: parseData(job.data)?.lane };
    const held: Held = { job, turn, abort: new AbortController() };
    if (!this.#isOpen) this.#track(this.#handBack(held));
    else if (this.#room > 0 && this.#shares.hasRoom(turn)) this.#track(this.#run(held));
    else {
      this.#waiting.add(held);
      this.#shares.wait(turn, 1);
    }
  }

  #takeWaiting(): void {
    for (const held of this.#waiting) {
      if (this.#room <= 0) return;
      if (!this.#shares.hasRoom(held.turn)) continue;
      this.#drop(held);
      this.#track(this.#run(held));
    }
  }

  /** It does not wait any more. */
  #drop(held: Held): void {
    if (this.#waiting.delete(held)) this.#shares.wait(held.turn, -1);
  }

  /** A job that never began counts no attempt. */
  async #handBack(held: Held): Promise<void> {
    const { context, name, onError } = this.#options;
    this.#drop(held);
    try {
      await context.backend.release({ ...held.job, handedBack: held.job.handedBack + 1 }, 0);
      context.onEnd?.(name, 'handed_back');
    } catch (error) {
      // Where replicas share it, the job is claimed again when its lease ends.
      if (!(error instanceof JobAborted)) onError(error);
    }
  }

  async #run(held: Held): Promise<void> {
    const { worker, context, now, onError } = this.#options;
    const { job, turn } = held;
    this.#running.set(job.id, held);
    this.#shares.begin(turn);
    try {
      const delayMs = await runJob(job, worker, held.abort, context);
      if (delayMs !== undefined) this.expect(now() + delayMs);
    } catch (error) {
      // The database could not be written. Where replicas share it, the job is claimed again when its lease ends.
      onError(error);
    } finally {
      if (this.#running.get(job.id) === held) this.#running.delete(job.id);
      this.#shares.end(turn);
      this.#takeWaiting();
      if (this.#mayHaveMore || this.#hasLeftOut) this.pull();
    }
  }

  /** Shows that the running jobs are alive, and stops those that are ours no more. */
  async beat(): Promise<void> {
    const held = new Map([...this.#waiting, ...this.#running.values()].map((one) => [one.job, one]));
    if (held.size === 0) return;
    const { context, name } = this.#options;
    for (const job of (await context.backend.leases?.beat(name, [...held.keys()])) ?? []) {
      const lost = held.get(job);
      if (lost !== undefined) this.#stop(lost, 'lease lost');
    }
  }

  #stop(held: Held, reason: JobAborted['reason']): void {
    this.#drop(held);
    held.abort.abort(new JobAborted(reason));
  }

  /** Stops the running jobs, of one workspace or all. */
  abort(reason: JobAborted['reason'], workspace?: string): void {
    for (const held of [...this.#waiting, ...this.#running.values()])
      if (workspace === undefined || held.job.workspace === workspace) this.#stop(held, reason);
  }
}
