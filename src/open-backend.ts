import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from './core/clock.ts';
import type { Engine, JobOutcome } from './jobs/jobs.ts';
import type { JobsBackend } from './jobs/jobs-backend.ts';
import { createJobs } from './jobs/runner.ts';
import { createSqliteJobs } from './jobs/sqlite-jobs.ts';
import { waitingJobs } from './jobs/waiting-jobs.ts';
import type { Logger } from './observability/log.ts';
import type { Tracing } from './observability/tracing.ts';
import { openStore } from './store/open-store.ts';
import { takeOver } from './store/origin.ts';
import type { QuarantinedRecord } from './store/quarantine.ts';
import { asking, type Store } from './store/store.ts';

export interface Backend {
  store: Store;
  /** Not started yet. */
  engine: Engine;
  /** After `engine.stop`. */
  close(): Promise<void>;
}

export interface BackendOptions {
  clock: Clock;
  /** Deckhand's own; a store that a newer one wrote is refused. Not checked where it is left out. */
  release?: string;
  log?: Pick<Logger, 'warn' | 'error'>;
  /** Off if left out. */
  tracing?: Tracing;
  /** Called with how each attempt at a job ended. */
  onJobEnd?: (queue: string, outcome: JobOutcome) => void;
  /** Called once for each document that cannot be read. */
  onQuarantined?: (record: QuarantinedRecord) => void;
}

/**
 * Where documents and jobs are kept, by `STORE_URL` alone: an SQLite file for one process, or Postgres for any
 * number of replicas.
 * @throws StoreError saying what to do
 */
export async function openBackend(url: string, options: BackendOptions): Promise<Backend> {
  const { clock, log } = options;
  const store = await openStore(url, {
    clock,
    onQuarantined: options.onQuarantined,
    onError: (err) => log?.warn({ event: 'store_error', err }, 'the store recovers by itself'),
  });
  try {
    if (options.release !== undefined) await takeOver(store, options.release);
  } catch (error) {
    await store.close();
    throw error;
  }
  const backend =
    store.sqlite === undefined ? await openPostgresJobs(url, options) : openSqliteJobs(store.sqlite, clock);
  const close = async (): Promise<void> => {
    await backend.close();
    await store.close();
  };
  return { store, engine: createJobs({ ...options, backend: askingBackend(backend) }), close };
}

/** From here on the process has other work: SQLite itself never waits for a lock again, `whenFree` does. */
function openSqliteJobs(database: DatabaseSync, clock: Clock): JobsBackend {
  const jobs = createSqliteJobs(database, clock);
  database.exec('PRAGMA busy_timeout = 0');
  return waitingJobs(jobs);
}

/** Loaded where it is used, since most installations never do. */
async function openPostgresJobs(url: string, { clock, log }: BackendOptions): Promise<JobsBackend> {
  const { createPgBossJobs } = await import('./jobs/pg-boss-jobs.ts');
  return createPgBossJobs({ url, clock, ...(log === undefined ? {} : { log }) });
}

/** What commands ask of the jobs fails as the store does, with `StoreUnavailable`. */
function askingBackend(backend: JobsBackend): JobsBackend {
  const { schedules } = backend;
  return {
    ...backend,
    insert: (queue, jobs) => asking(backend.insert(queue, jobs)),
    erase: (workspace) => asking(backend.erase(workspace)),
    schedules: {
      ...schedules,
      now: () => asking(schedules.now()),
      put: (schedule, during) => asking(schedules.put(schedule, during)),
      remove: (workspace, key) => asking(schedules.remove(workspace, key)),
    },
  };
}
