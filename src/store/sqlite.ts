import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { KeyvSqlite } from '@keyv/sqlite';
import { Keyv } from 'keyv';
import { createKeyedLock } from '../core/keyed-lock.ts';
import { type Backend, endOfRange, textOrNothing } from './backend.ts';
import { databaseFault } from './database-fault.ts';
import { createDriver } from './sqlite-driver.ts';
import { guardFile } from './sqlite-guard.ts';
import { StoreError } from './store.ts';

/** How long a statement waits for another process, e.g. the key rotation or a backup, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

export interface SqliteOptions {
  path: string;
  /** Refuse to open a file that another process owns. */
  alone: boolean;
}

/** One file, one process. Folders are made as needed. The connection is given too, for other tables in the file. */
export async function openSqlite(
  options: SqliteOptions,
): Promise<{ backend: Backend; database: DatabaseSync }> {
  const path = resolve(options.path);
  prepareFolder(path);
  const release = options.alone ? guardFile(path) : () => undefined;
  try {
    const database = openDatabase(path);
    const adapter = new KeyvSqlite({ uri: `sqlite://${path}`, driver: createDriver(database) });
    await adapter.ready;
    return { backend: createBackend(adapter, release), database };
  } catch (cause) {
    release();
    throw (
      databaseFault(`sqlite://${path}`, cause) ?? new StoreError(`${path} could not be opened`, { cause })
    );
  }
}

function prepareFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (cause) {
    throw new StoreError(
      `The folder ${dirname(path)} could not be made. Correct STORE_URL, or allow this user to make it.`,
      { cause },
    );
  }
}

function openDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  db.exec('PRAGMA journal_mode = WAL');
  // In WAL mode NORMAL is enough for `kill -9`: every commit has reached the operating system. Only a power
  // cut can take the last commits, and never tears the file. FULL would hold up the event loop at each write.
  db.exec('PRAGMA synchronous = NORMAL');
  // What is deleted is overwritten, or it could be read in the file until something else takes its place.
  db.exec('PRAGMA secure_delete = ON');
  return db;
}

function createBackend(adapter: KeyvSqlite, release: () => void): Backend {
  const changes = async (sql: string, ...values: unknown[]): Promise<boolean> =>
    (await adapter.query(`${sql} RETURNING key`, ...values)).length > 0;
  return {
    keyv: new Keyv({ store: adapter }),
    read: (key) => adapter.get(key).then(textOrNothing),
    insert: (key, text, expires) => changes(INSERT, key, text, expires ?? null, Date.now()),
    replace: (key, from, to, expires) => changes(REPLACE, to, expires ?? null, key, from),
    remove: (key, from) => changes(REMOVE, key, from),
    range: async (prefix) =>
      (await adapter.query(RANGE, prefix, endOfRange(prefix))) as Array<{ key: string; value: string }>,
    rangeEnd: async (prefix, limit, upTo = endOfRange(prefix)) =>
      (await adapter.query(RANGE_END, prefix, upTo, limit)) as Array<{ key: string; value: string }>,
    deleteRange: async (prefix) => void (await adapter.query(DELETE_RANGE, prefix, endOfRange(prefix))),
    scrub: () => scrub(adapter),
    exclusive: createKeyedLock(),
    sweep: async () => {
      await adapter.clearExpired();
      await scrub(adapter);
    },
    close: async () => {
      await adapter.disconnect();
      release();
    },
  };
}

/** The log of the last writes still holds what was overwritten in the file, until it is worked off. */
async function scrub(adapter: KeyvSqlite): Promise<void> {
  await adapter.query('PRAGMA wal_checkpoint(TRUNCATE)');
}

const INSERT = `INSERT INTO keyv (key, value, namespace, expires) VALUES (?, ?, '', ?)
  ON CONFLICT (key, namespace) DO UPDATE SET value = excluded.value, expires = excluded.expires
  WHERE keyv.expires <= ?`;
const REPLACE = `UPDATE keyv SET value = ?, expires = ? WHERE key = ? AND namespace = '' AND value = ?`;
const REMOVE = `DELETE FROM keyv WHERE key = ? AND namespace = '' AND value = ?`;
const RANGE = 'SELECT key, value FROM keyv WHERE key >= ? AND key < ? ORDER BY key';
const RANGE_END = 'SELECT key, value FROM keyv WHERE key >= ? AND key <= ? ORDER BY key DESC LIMIT ?';
const DELETE_RANGE = 'DELETE FROM keyv WHERE key >= ? AND key < ?';
