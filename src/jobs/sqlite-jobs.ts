import type { Clock } from '../core/clock.ts';
import type { Logger } from '../observability/log.ts';
import { NO_TRACING, type Tracing } from '../observability/tracing.ts';
import type { Store } from '../store/store.ts';
import type {
  Engine,
  EngineStats,
  Handler,
  JobData,
  JobOutcome,
  Schedule,
  SendOptions,
  WorkOptions,
} from './jobs.ts';
import type { Worker } from './run-job.ts';
import { LocalRunner } from './sqlite-runner.ts';
import { LocalSchedules } from './sqlite-schedules.ts';

export interface LocalEngineOptions {
  /** Opened by this process alone: what the store holds at start is all there is. */
  store: Store;
  clock: Clock;
  /** From 0 to 1, for the jitter of retries. */
  random?: () => number;
  log?: Pick<Logger, 'warn' | 'error'>;
  tracing?: Tracing;
  onJobEnd?: (queue: string, outcome: JobOutcome) => void;
}

/** Jobs and schedules in one process, kept in its store. */
export function createLocalEngine(options: LocalEngineOptions): Engine {
  return new LocalEngine(options);
}

class LocalEngine implements Engine {
  readonly #store: Store;
  readonly #runner: LocalRunner;
  readonly #schedules: LocalSchedules;
  #state: 'new' | 'running' | 'stopped' = 'new';

  constructor({ store, clock, random = Math.random, log, tracing, onJobEnd: onEnd }: LocalEngineOptions) {
    this.#store = store;
    this.#runner = new LocalRunner({ store, clock, random, log, tracing: tracing ?? NO_TRACING, onEnd });
    this.#schedules = new LocalSchedules({ store, clock, log, jobs: this.#runner });
  }

  work<T extends JobData>(queue: string, handler: Handler<T>, options: WorkOptions<T>): void {
    // A queue's jobs are of one type, which its senders and its worker agree on.
    this.#runner.setWorker(queue, { handler, options } as unknown as Worker);
  }

  async send<T extends JobData>(queue: string, data: T, options: SendOptions = {}): Promise<boolean> {
    await this.#runner.load();
    return this.#runner.send(queue, data, options);
  }

  async schedule<T extends JobData>(workspace: string, key: string, schedule: Schedule<T>): Promise<void> {
    await this.#schedules.set(workspace, key, schedule);
  }

  async unschedule(workspace: string, key: string): Promise<void> {
    await this.#schedules.remove(workspace, key);
  }

  async erase(workspace: string): Promise<void> {
    await this.#runner.load();
    await this.#schedules.erase(workspace);
    await this.#runner.erase(workspace);
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error('the engine was started before');
    await this.#runner.load();
    // Missed slots first: were their jobs of an earlier life to end before, they would be sent once more.
    await this.#schedules.open();
    this.#runner.open();
    this.#state = 'running';
  }

  async stop(graceMs: number): Promise<void> {
    this.#state = 'stopped';
    await this.#schedules.close();
    await this.#runner.close(graceMs);
  }

  async ping(): Promise<void> {
    if (this.#state !== 'running') throw new Error('the engine does not run');
    await this.#store.ping();
  }

  async stats(): Promise<EngineStats> {
    await this.#runner.load();
    return this.#runner.stats();
  }
}
