import { EventEmitter, once } from 'node:events';
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

/** A database where engines run, and the clock they go by. */
export interface Site {
  now(): number;
  advance(ms: number): Promise<void>;
  /** An engine as one replica has it; it is not started. */
  engine(onJobEnd?: OnJobEnd): Promise<Replica>;
}

interface Replica {
  engine: Engine;
  backend: JobsBackend;
  /** As after `kill -9`: whatever runs stays as it is, and its heartbeat ends. */
  kill(): Promise<void>;
}

const START = '2026-03-02T09:00:00Z';

/** Makes a replica, which is dead after the test. Nothing that sleeps in a dead replica wakes. */
async function openReplica(
  siteClock: Clock,
  onJobEnd: OnJobEnd | undefined,
  open: (clock: Clock) => Promise<{ backend: JobsBackend; close: () => Promise<unknown> }>,
): Promise<Replica> {
  let isAlive = true;
  const clock: Clock = {
    now: siteClock.now,
    async sleep(ms, signal) {
      await siteClock.sleep(ms, signal);
      if (!isAlive) await new Promise(() => undefined);
    },
  };
  const { backend, close } = await open(clock);
  const engine = createJobs({ backend, clock, random: () => 0.5, onJobEnd });
  const kill = async (): Promise<void> => {
    if (!isAlive) return;
    isAlive = false;
    await close();
  };
  onTestFinished(kill);
  return { engine, backend, kill };
}

async function localSite(): Promise<Site> {
  const url = await temporarySqlite();
  const clock = createManualClock(START);
  return {
    now: clock.now,
    advance: clock.advance,
    engine: (onJobEnd) =>
      openReplica(clock, onJobEnd, async (own) => {
        const store = await openStore(url, { clock: own });
        if (store.sqlite === undefined) throw new Error('this is no SQLite file');
        return { backend: createSqliteJobs(store.sqlite, own), close: () => store.close() };
      }),
  };
}

/** The database's clock and pg-boss's move together with ours. */
async function postgresSite(): Promise<Site> {
  const url = await freshDatabase();
  const bossClock = new TestClock(START);
  const now = () => bossClock.now();
  const sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = bossClock.setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => {
        bossClock.clearTimeout(timer);
        reject(signal.reason);
      });
    });
  return {
    now,
    advance: (ms) => bossClock.tick(ms),
    engine: (onJobEnd) =>
      openReplica({ now, sleep }, onJobEnd, async (clock) => {
        const backend = createPgBossJobs({ url, clock, bossClock });
        await backend.start([]);
        return { backend, close: () => backend.close() };
      }),
  };
}

export const ENGINES = [
  { name: 'local', site: localSite },
  { name: 'postgres', site: postgresSite },
];

/** The jobs of these tests. */
export const Q: JobType<TestData> = { queue: 'q', schema: z.object({ n: z.number() }) };
export type TestData = { n: number };

export const ONCE: JobOptions = { concurrency: 10, attempts: 3, backoffMs: 1_000 };

export function send(engine: Engine, n: number, options?: SendOptions, workspace = 'T1'): Promise<boolean> {
  return engine.send(workspace, Q, { n }, options);
}

export type Handled = ReturnType<typeof collect>;

/** A handler that keeps what it was given and ends when it is told to. */
export function collect(act: (job: Job<TestData>) => Promise<void> = async () => undefined) {
  const jobs: Array<Job<TestData>> = [];
  const workspaces: string[] = [];
  const begun = new EventEmitter().setMaxListeners(0);
  return {
    jobs,
    /** The workspaces of these jobs. */
    workspaces,
    async handle(workspace: string, job: Job<TestData>): Promise<void> {
      jobs.push(job);
      workspaces.push(workspace);
      begun.emit('job');
      await act(job);
    },
    /** Resolves when `count` jobs were given in all. */
    async given(count: number): Promise<void> {
      while (jobs.length < count) await once(begun, 'job');
    },
  };
}

/** Until the job's signal aborts; then it is handed back. */
export async function untilAborted({ signal }: Job<TestData>): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
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
