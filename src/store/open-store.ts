import { type Clock, systemClock } from '../core/clock.ts';
import type { SqliteFile } from '../core/sqlite-file.ts';
import { createStore, type Database, type DocumentsOptions } from './documents.ts';
import { openSqlite } from './sqlite.ts';
import { type Store, StoreError } from './store.ts';

const SWEEP_INTERVAL_MS = 10 * 60_000;
const SQLITE = 'sqlite://';

export interface StoreOptions extends Omit<DocumentsOptions, 'clock'> {
  clock?: Clock;
  /** False lets a second process work on an SQLite file beside the bot, as the key rotation does. */
  alone?: boolean;
  /** Told of what fails behind the scenes and is tried again: lost connections, removing expired documents. */
  onError?: (error: Error) => void;
}

export interface OpenStore extends Store {
  /** The SQLite file that the documents are in, for the jobs beside them. Closed by `close`. */
  sqlite: SqliteFile | undefined;
  database: Database;
}

/**
 * Opens the document store of a `STORE_URL`: `sqlite://path` (relative to the working folder) or
 * `postgres://…`.
 * @throws StoreError saying what to do
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<OpenStore> {
  const { clock = systemClock, alone = true, onError = (error) => process.emitWarning(error) } = options;
  const { database, sqlite } = await connect(url, alone, onError);
  const timer = setInterval(() => {
    database.sweep().catch(onError);
  }, SWEEP_INTERVAL_MS);
  timer.unref();
  return {
    ...createStore(database, { clock, onUnreadable: options.onUnreadable }),
    sqlite,
    database,
    close: async () => {
      clearInterval(timer);
      await database.close();
    },
  };
}

interface Connected {
  database: Database;
  sqlite: SqliteFile | undefined;
}

async function connect(url: string, alone: boolean, onError: (error: Error) => void): Promise<Connected> {
  if (url.startsWith(SQLITE)) return openSqlite({ path: url.slice(SQLITE.length), alone });
  if (isPostgres(url)) {
    const { openPostgres } = await import('./postgres.ts');
    return { database: await openPostgres(url, onError), sqlite: undefined };
  }
  throw new StoreError('STORE_URL must start with sqlite:// or postgres://');
}

export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}
