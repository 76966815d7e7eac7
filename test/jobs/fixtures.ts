import { TestClock } from 'pg-boss';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import type { Clock } from '../../src/core/time/clock.ts';
import type {
  Engine,
  Job,
  JobOptions,
  JobOutcome,
  JobsBackend,
  JobType,
  SendOptions,
} from '../../src/jobs/jobs.ts';
import { createPgBossJobs } from '../../src/jobs/pg-boss-jobs.ts';
import { createJobs } from '../../src/jobs/runner.ts';
import { createSqliteJobs } from '../../src/jobs/sqlite-jobs.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { freshDatabase } from '../support/postgres.ts';
import { temporarySqlite } from '../support/temporary.ts';

type OnJobEnd = (queue: string, outcome: JobOutcome) => void;

/** A place where engines run, and the clock they go by. */
export interface Site {
  now(): number;
  advance(ms: number): Promise<void>;
  /** An engine as one replica has it; it is not started. */
  engine(onJobEnd?: OnJobEnd): Promise<Replica>;
}

export interface Replica {
  engine: Engine;
  /** What the engine keeps its jobs in. */
  backend: JobsBackend;
  /** As after `kill -9`: whatever runs stays as it is, and its heartbeat ends. */
  kill(): Promise<void>;
}

export interface EngineKind {
  name: string;
  replicas: boolean;
  site(start?: string): Promise<Site>;
}

const START = '2026-03-02T09:00:00Z';

async function localSite(start?: string): Promise<Site> {
  const url = await temporarySqlite();
  const clock = createManualClock(start ?? START);
  return {
    now: clock.now,
    advance: clock.advance,
    engine: async (onJobEnd) => {
      const own = mortal(clock);
      const store = await openStore(url, { clock: own });
      if (store.sqlite === undefined) throw new Error('this is no SQLite file');
      const backend = createSqliteJobs(store.sqlite, own);
      const engine = createJobs({ backend, clock: own, random: () => 0.5, onJobEnd });
      let isOpen = true;
      const close = async (): Promise<void> => {
        own.end();
        if (isOpen) await store.close();
        isOpen = false;
      };
      onTestFinished(close);
      return { engine, backend, kill: close };
    },
  };
}

/** The database's clock and pg-boss's move together with ours. */
async function postgresSite(start?: string): Promise<Site> {
  const url = await freshDatabase();
  const bossClock = new TestClock(start ?? START);
  return {
    now: () => bossClock.now(),
    advance: (ms) => bossClock.tick(ms),
    engine: async (onJobEnd) => {
      const clock = mortal(clockOf(bossClock));
      const backend = createPgBossJobs({ url, clock, bossClock });
      await backend.start([]);
      const engine = createJobs({ backend, clock, random: () => 0.5, onJobEnd });
      const close = async (): Promise<void> => {
        clock.end();
        await backend.close();
      };
      onTestFinished(close);
      return { engine, backend, kill: close };
    },
  };
}

function clockOf(bossClock: TestClock): Clock {
  const sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = bossClock.setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => {
        bossClock.clearTimeout(timer);
        reject(signal.reason);
      });
    });
  return { now: () => bossClock.now(), sleep };
}

/** One replica's clock: once the replica is dead, nothing that sleeps in it wakes. */
function mortal(clock: Clock): Clock & { end(): void } {
  let isAlive = true;
  const sleep: Clock['sleep'] = async (ms, signal) => {
    await clock.sleep(ms, signal);
    if (!isAlive) await new Promise(() => undefined);
  };
  return {
    now: clock.now,
    sleep,
    end: () => {
      isAlive = false;
    },
  };
}

export const ENGINES: readonly EngineKind[] = [
  { name: 'local', replicas: false, site: localSite },
  { name: 'postgres', replicas: true, site: postgresSite },
];

/** The jobs of these tests. */
export const Q: JobType<TestData> = { queue: 'q', schema: z.object({ n: z.number() }) };
export type TestData = { n: number };

export const ONCE: JobOptions = { concurrency: 10, attempts: 3, backoffMs: 1_000 };

export function send(engine: Engine, n: number, options?: SendOptions, workspace = 'T1'): Promise<boolean> {
  return engine.send(workspace, Q, { n }, options);
}

/** A handler that keeps what it was given and ends when it is told to. */
export interface Handled {
  jobs: Array<Job<TestData>>;
  /** The workspaces of these jobs. */
  workspaces: string[];
  run: (workspace: string, job: Job<TestData>) => Promise<void>;
  /** Resolves when `count` jobs were given in all. */
  given(count: number): Promise<void>;
}

export function collect(act: (job: Job<TestData>) => Promise<void> = async () => undefined): Handled {
  const jobs: Array<Job<TestData>> = [];
  const workspaces: string[] = [];
  let waiting: Array<{ count: number; resolve: () => void }> = [];
  return {
    jobs,
    workspaces,
    run: async (workspace, job) => {
      jobs.push(job);
      workspaces.push(workspace);
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

/** Starts an engine that stops with the test, unless it was killed before. */
export async function started(
  site: Site,
  prepare: (engine: Engine) => void,
  onJobEnd?: OnJobEnd,
): Promise<Replica> {
  const replica = await site.engine(onJobEnd);
  prepare(replica.engine);
  await replica.engine.start();
  let isAlive = true;
  onTestFinished(async () => {
    if (isAlive) await replica.engine.stop(0);
  });
  return {
    ...replica,
    kill: async () => {
      isAlive = false;
      await replica.kill();
    },
  };
}
