import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { KeyvSqlite, type SqliteDriver } from '@keyv/sqlite';
import { Keyv } from 'keyv';
import { createKeyedLock } from '../core/concurrency.ts';
import { StoreError } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { isLocked, retryIfLocked } from '../core/retry.ts';
import { databaseFault, storeFault } from './database-fault.ts';
import { type Database, type Envelope, type Range, SERIALIZATION, type StoredRow } from './documents.ts';

/** How long opening the file waits for another process, e.g. a backup, in milliseconds. Later `retryIfLocked` does. */
const BUSY_TIMEOUT_MS = 5_000;

/** Of 4 kB each; four times as many as SQLite's own. */
const MAX_LOG_PAGES = 4_000;

/**
 * Use of a store. `alone`: an SQLite file that another process owns is refused. `beside`: other processes may write too.
 * `read`: nothing is written, made or cleaned up.
 */
export type Access = 'alone' | 'beside' | 'read';

/** One file, one process. Folders are made as needed. The file is given too, for other tables in it. */
export async function openSqlite(
  name: string,
  access: Access,
): Promise<{ database: Database; sqlite: DatabaseSync }> {
  if (access !== 'read') prepareFolder(name);
  const path = realFile(name);
  const release = access === 'alone' ? guardFile(path) : () => undefined;
  try {
    const sqlite = access === 'read' ? openFileToRead(path) : openFile(path);
    const adapter = new KeyvSqlite({ uri: `sqlite://${path}`, driver: createDriver(sqlite) });
    await adapter.ready;
    return { database: createDatabase(adapter, release), sqlite };
  } catch (cause) {
    release();
    throw storeFault(`sqlite://${path}`, cause) ?? new StoreError(`${path} could not be opened`, { cause });
  }
}

function prepareFolder(path: string): void {
  try {
    makeFolder(dirname(resolve(path)));
  } catch (cause) {
    throw new StoreError(
      `The folder ${dirname(path)} could not be made. Correct STORE_URL, or allow this user to make it.`,
      { cause },
    );
  }
}

/** With `recursive`, Node never returns from a folder that the system refuses with ENOENT, as /proc does. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
  // The umask may have taken rights away.
  chmodSync(path, 0o700);
}

function openFile(path: string): DatabaseSync {
  makePrivate(path);
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  db.exec('PRAGMA journal_mode = WAL');
  // While the log is worked off, which waits for the disk, nothing else runs. In a longer log more of the writes are to
  // the same pages.
  db.exec(`PRAGMA wal_autocheckpoint = ${MAX_LOG_PAGES}`);
  // In WAL mode NORMAL is enough for `kill -9`: every commit has reached the operating system. Only a power
  // cut can take the last commits, and never tears the file. FULL would hold up the event loop at each write.
  db.exec('PRAGMA synchronous = NORMAL');
  // In kB. The 2 MB of SQLite's own hold the documents of some hundred workspaces.
  db.exec('PRAGMA cache_size = -8000');
  // What is deleted is overwritten, or it could be read in the file until something else takes its place.
  db.exec('PRAGMA secure_delete = ON');
  return db;
}

/** @throws StoreError for the database of another program */
function openFileToRead(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  if (hasDocuments(db)) return db;
  db.close();
  throw new StoreError(`${path} is not a store of Deckhand. Give the file of a store.`);
}

export function hasDocuments(db: DatabaseSync): boolean {
  const tables = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'keyv'");
  return tables.get() !== undefined;
}

function createDatabase(adapter: KeyvSqlite, release: () => void): Database {
  return {
    keyv: new Keyv<Envelope>({ store: adapter, serialization: SERIALIZATION }),
    range: async ({ from, to, limit = -1, offset = 0, isDescending }: Range) =>
      (await adapter.query(isDescending ? RANGE_DESCENDING : RANGE, from, to, limit, offset)) as StoredRow[],
    exclusive: createKeyedLock(),
    sweep: async () => {
      await adapter.clearExpired();
      // Until then the log holds what was deleted.
      const [checkpoint] = await adapter.query('PRAGMA wal_checkpoint(TRUNCATE)');
      if (isObject(checkpoint) && checkpoint.busy !== 0)
        throw new Error('Another program reads the file, so its log was not emptied');
    },
    close: async () => {
      await adapter.disconnect();
      release();
    },
  };
}

const RANGE =
  "SELECT key, value FROM keyv WHERE namespace = '' AND key >= ? AND key < ? ORDER BY key LIMIT ? OFFSET ?";
const RANGE_DESCENDING = RANGE.replace('ORDER BY key', 'ORDER BY key DESC');

/** keyv's statements are few, but for those that delete many keys. */
const MAX_KEPT = 200;

/** keyv on our own connection, with statements kept: preparing one anew takes longer than running it. */
function createDriver(db: DatabaseSync): SqliteDriver {
  const kept = new Map<string, StatementSync>();

  function prepare(sql: string): StatementSync {
    const statement = kept.get(sql) ?? db.prepare(sql);
    if (kept.size < MAX_KEPT) kept.set(sql, statement);
    return statement;
  }

  return {
    name: 'custom',
    connect: async () => ({
      query: (sql, ...values) => retryIfLocked(() => prepare(sql).all(...(values as SQLInputValue[]))),
      close: async () => db.close(),
    }),
  };
}

/** The file that a path leads to through symbolic links, whether it is there yet or not. */
export function realFile(path: string): string {
  const whole = resolve(path);
  if (existsSync(whole)) return realpathSync(whole);
  const target = linkTarget(whole);
  if (target !== undefined) return realFile(resolve(dirname(whole), target));
  return existsSync(dirname(whole)) ? join(realpathSync(dirname(whole)), basename(whole)) : whole;
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // no link, so the file is yet to be made
  }
}

/** Its owner alone may read it, whatever the umask. SQLite gives its log and index the mode of the file. */
export function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600));
    chmodSync(path, 0o600);
  } catch {
    // What cannot be written, SQLite says in its own words.
  }
}

/**
 * Makes this process the only one that runs on a database file, by an exclusive lock of the operating system
 * on a file beside it. Unlike a file with a process id it can neither go stale after `kill -9` nor be
 * fooled by containers, each of which has a process 1. Where the file has another name too (a hard link), which may have
 * another guard beside it, nobody else may have the file itself open.
 * @returns what lets go of it
 * @throws StoreError if another process holds it
 */
export function guardFile(path: string): () => void {
  const guardPath = `${path}-owner`;
  const isNew = !existsSync(guardPath);
  let guard: DatabaseSync | undefined;
  try {
    // The first file that is made, so the one that an unwritable folder refuses.
    guard = new DatabaseSync(guardPath);
    makePrivate(guardPath);
    guard.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    if (existsSync(path)) expectFree(path);
    return () => guard?.close();
  } catch (cause) {
    // Nothing stays beside a file that is none of ours.
    if (isNew && guard !== undefined && !isLocked(cause)) rmSync(guardPath, { force: true });
    guard?.close();
    if (!isLocked(cause)) throw databaseFault(`sqlite://${path}`, cause) ?? cause;
    throw new StoreError(
      `${path} is in use by another Deckhand. Stop that one first, or set STORE_URL to a postgres:// address to run several.`,
      { cause, isTemporary: true },
    );
  }
}

/** That it is a database, and where it has several names, that no connection holds a lock on the file itself. */
function expectFree(path: string): void {
  const db = new DatabaseSync(path);
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA schema_version');
    if (statSync(path).nlink > 1) db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; ROLLBACK');
  } finally {
    db.close();
  }
}
