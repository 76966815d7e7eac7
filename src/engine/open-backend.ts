import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import type { Engine } from './engine.ts';
import { createLocalEngine } from './local-engine.ts';

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
}

/**
 * Where documents and jobs are kept, by `STORE_URL` alone: an SQLite file for one process, or Postgres for any
 * number of replicas.
 * @throws StoreError saying what to do
 */
export async function openBackend(url: string, { clock, log }: BackendOptions): Promise<Backend> {
  const store = await openStore(url, {
    clock,
    onError: (err) => log?.warn({ event: 'store_error', err }, 'the store recovers by itself'),
  });
  const engine = createLocalEngine({ store, clock, ...(log === undefined ? {} : { log }) });
  return { store, engine, close: () => store.close() };
}
