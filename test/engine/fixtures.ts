import { onTestFinished } from 'vitest';
import type { Engine, Job, JobData, WorkOptions } from '../../src/engine/engine.ts';
import { createLocalEngine } from '../../src/engine/local-engine.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { temporarySqlite } from '../support/temporary.ts';

/** A place where engines run, and the clock they go by. */
export interface Site {
  now(): number;
  advance(ms: number): Promise<void>;
  /** An engine as one replica has it; it is not started. */
  engine(): Promise<Replica>;
}

export interface Replica {
  engine: Engine;
  /** As after `kill -9`: whatever runs stays as it is, and its heartbeat ends. */
  kill(): Promise<void>;
}

export interface EngineKind {
  name: string;
  replicas: boolean;
  site(start?: string): Promise<Site>;
}

async function localSite(start?: string): Promise<Site> {
  const url = await temporarySqlite();
  const clock = createManualClock(start);
  return {
    now: clock.now,
    advance: clock.advance,
    engine: async () => {
      const store = await openStore(url, { clock });
      let isOpen = true;
      const close = async (): Promise<void> => {
        if (isOpen) await store.close();
        isOpen = false;
      };
      const engine = createLocalEngine({ store, clock, random: () => 0.5 });
      onTestFinished(close);
      return { engine, kill: close };
    },
  };
}

export const ENGINES: readonly EngineKind[] = [{ name: 'local', replicas: false, site: localSite }];

/** Data of the jobs in these tests. */
export type TestData = JobData & { n: number; slotAt?: number };

export const ONCE: WorkOptions<TestData> = { concurrency: 10, attempts: 3, backoffMs: 1_000 };

/** A handler that keeps what it was given and ends when it is told to. */
export interface Handled {
  jobs: Array<Job<TestData>>;
  handler: (job: Job<TestData>) => Promise<void>;
  /** Resolves when `count` jobs were given in all. */
  given(count: number): Promise<void>;
}

export function collect(act: (job: Job<TestData>) => Promise<void> = async () => undefined): Handled {
  const jobs: Array<Job<TestData>> = [];
  let waiting: Array<{ count: number; resolve: () => void }> = [];
  return {
    jobs,
    handler: async (job) => {
      jobs.push(job);
      waiting = waiting.filter(({ count, resolve }) => {
        if (jobs.length < count) return true;
        resolve();
        return false;
      });
      await act(job);
    },
    given: (count) =>
      new Promise((resolve) => {
        if (jobs.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

/** Until the job's signal aborts; then it is handed back. */
export function untilAborted(job: Job<TestData>): Promise<void> {
  return new Promise((_, reject) => {
    if (job.signal.aborted) return reject(job.signal.reason);
    job.signal.addEventListener('abort', () => reject(job.signal.reason), { once: true });
  });
}
