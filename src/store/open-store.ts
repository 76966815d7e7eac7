import { type Clock, systemClock } from '../core/clock.ts';
import type { SqliteFile } from '../core/sqlite-file.ts';
import type { Backend } from './backend.ts';
import { createKeyvStore } from './keyv-store.ts';
import { openSqlite } from './sqlite.ts';
import { type QuarantinedRecord, type Store, StoreError } from './store.ts';

const SWEEP_INTERVAL_MS = 10 * 60_000;
const SQLITE = 'sqlite://';

export interface StoreOptions {
  clock?: Clock;
  /** False lets a second process work on an SQLite file beside the bot, as the key rotation does. */
  alone?: boolean;
  /** Told of what fails behind the scenes and is tried again: lost connections, removing expired documents. */
  onError?: (error: Error) => void;
  /** Called once for each document that cannot be read. */
  onQuarantined?: ((record: QuarantinedRecord) => void) | undefined;
}

export interface OpenStore extends Store {
  /** The SQLite file that the documents stand in, for the jobs beside them. Closed by `close`. */
  sqlite: SqliteFile | undefined;
}

/**
 * Opens the document store of a `STORE_URL`: `sqlite://path` (relative to the working folder) or
 * `postgres://…`.
 * @throws StoreError saying what to do
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<OpenStore> {
  const onError = options.onError ?? ((error) => process.emitWarning(error));
  const { backend, sqlite } = await connect(url, options.alone ?? true, onError);
  const timer = setInterval(() => {
    backend.sweep().catch(onError);
  }, SWEEP_INTERVAL_MS);
  timer.unref();
  const store = createKeyvStore(backend, options.clock ?? systemClock, options.onQuarantined);
  return {
    ...store,
    sqlite,
    close: async () => {
      clearInterval(timer);
      await store.close();
    },
  };
}

interface Connected {
  backend: Backend;
  sqlite: SqliteFile | undefined;
}

async function connect(url: string, alone: boolean, onError: (error: Error) => void): Promise<Connected> {
  if (url.startsWith(SQLITE)) return openSqlite({ path: url.slice(SQLITE.length), alone });
  if (isPostgres(url)) {
    const { openPostgres } = await import('./postgres.ts');
    return { backend: await openPostgres(url, onError), sqlite: undefined };
  }
  throw new StoreError('STORE_URL must start with sqlite:// or postgres://');
}

export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}
