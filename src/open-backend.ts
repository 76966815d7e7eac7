import type { Clock } from './core/clock.ts';
import type { Engine, JobOutcome } from './jobs/jobs.ts';
import { createLocalEngine } from './jobs/sqlite-jobs.ts';
import type { Logger } from './observability/log.ts';
import type { Tracing } from './observability/tracing.ts';
import { isPostgres, openStore } from './store/open-store.ts';
import type { Store } from './store/store.ts';

export interface Backend {
  store: Store;
  /** Not started yet. */
  engine: Engine;
  /** After `engine.stop`. */
  close(): Promise<void>;
}

export interface BackendOptions {
  clock: Clock;
  log?: Pick<Logger, 'warn' | 'error'>;
  /** Off unless told. */
  tracing?: Tracing;
  /** Told how each attempt at a job ended. */
  onJobEnd?: (queue: string, outcome: JobOutcome) => void;
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
    onError: (err) => log?.warn({ event: 'store_error', err }, 'the store recovers by itself'),
  });
  if (!isPostgres(url)) {
    const engine = createLocalEngine({ store, ...options });
    return { store, engine, close: () => store.close() };
  }
  // Loaded where it is used, since most installations never do.
  const { createPostgresEngine } = await import('./jobs/pg-boss-jobs.ts');
  const engine = createPostgresEngine({ url, ...options });
  const close = async (): Promise<void> => {
    await engine.close();
    await store.close();
  };
  return { store, engine, close };
}
