import type { Worker } from './run-job.ts';

/** What the engine remembers of a job; its data stays in the store until it runs. */
export interface Entry {
  readonly id: string;
  readonly queue: string;
  readonly key: string | undefined;
  readonly workspace: string;
  dueAt: number;
  /** When `dueAt` was set. */
  setAt: number;
  state: 'waiting' | 'running' | 'gone';
  /** While it runs. */
  abort?: AbortController;
}

/** One queue: which jobs wait their turn, how many run, which keys are taken. */
export class LocalQueue {
  worker: Worker | undefined;
  running = 0;
  /** Waiting jobs, due or not. */
  waiting = 0;
  /** Due jobs in the order they run. */
  readonly #ready = new Set<Entry>();
  readonly #keys = new Set<string>();

  /** False if the key is taken. */
  reserve(key: string | undefined): boolean {
    if (key === undefined) return true;
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    return true;
  }

  release(key: string | undefined): void {
    if (key !== undefined) this.#keys.delete(key);
  }

  makeReady(entry: Entry): void {
    this.#ready.add(entry);
  }

  drop(entry: Entry): void {
    this.#ready.delete(entry);
  }

  /** The next job to run, if there is a worker with room for one. */
  take(): Entry | undefined {
    if (this.worker === undefined || this.running >= this.worker.options.concurrency) return undefined;
    const [entry] = this.#ready;
    if (entry !== undefined) this.#ready.delete(entry);
    return entry;
  }

  /** When the job that has waited longest fell due. */
  get oldestDueAt(): number | undefined {
    const [entry] = this.#ready;
    return entry?.dueAt;
  }
}
