import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { databaseFault } from '../store/database-fault.ts';
import { isPostgres } from '../store/open-store.ts';
import { realFile } from '../store/sqlite.ts';
import { StoreError } from '../store/store.ts';

const SQLITE = 'sqlite://';
/** Where STORE_URL names none. */
export const DEFAULT_STORE = 'sqlite://data/deckhand.sqlite';

/** The file of an SQLite address; undefined for Postgres. @throws StoreError for anything else */
export function fileOf(url: string): string | undefined {
  if (url.startsWith(SQLITE) && url.length > SQLITE.length) return realFile(url.slice(SQLITE.length));
  if (isPostgres(url) && URL.canParse(url)) return undefined;
  throw new StoreError('A store is sqlite://path or postgres://user:password@host/database.');
}

/** For sentences: never with the password. */
export function describeStore(url: string): string {
  const file = fileOf(url);
  if (file !== undefined) return `${SQLITE}${file}`;
  const { hostname, port, pathname } = new URL(url);
  return `postgres://${hostname || 'localhost'}:${port || 5432}${pathname}`;
}

/** An SQLite file that is not there would be made, and a backup of nothing is none. */
export function expectThere(url: string): void {
  const file = fileOf(url);
  if (file !== undefined && !existsSync(file))
    throw new StoreError(`There is no ${file}. Give the file of a store.`);
}

const RUNNING = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND application_name IN ('deckhand store', 'deckhand engine') LIMIT 1`;

/** One that was stopped a moment ago may still be listed. */
const TRIES = 10;
const RETRY_MS = 300;

/** On SQLite the file itself says so when it is opened. @throws StoreError where a Deckhand is connected */
export async function expectStopped(url: string): Promise<void> {
  if (fileOf(url) !== undefined) return;
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 15_000,
    application_name: 'deckhand transfer',
  });
  try {
    await client.connect();
    for (let tries = 0; tries < TRIES; tries += 1) {
      if ((await client.query(RUNNING)).rows.length === 0) return;
      await wait(RETRY_MS);
    }
  } catch (cause) {
    throw databaseFault(url, cause) ?? cause;
  } finally {
    await client.end();
  }
  throw new StoreError(`A Deckhand runs on ${describeStore(url)}. Stop it first, all replicas of it.`, {
    isTemporary: true,
  });
}
