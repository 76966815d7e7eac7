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
import { statfs } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { KeyvSqlite, type SqliteDriver } from '@keyv/sqlite';
import { Keyv } from 'keyv';
import { createKeyedLock } from '../core/concurrency.ts';
import { StoreError } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { isLocked, retryIfLocked } from '../core/retry.ts';
import { explainDatabaseFault, explainStoreFault } from './database-fault.ts';
import { type Database, type Envelope, type Range, SERIALIZATION, type StoredRow } from './documents.ts';

/** How long opening the file waits for another process, e.g. a backup. Later `retryIfLocked` waits. */
const BUSY_TIMEOUT_MS = 5_000;

/** Pages of 4 kB; four times SQLite's default. */
const MAX_LOG_PAGES = 4_000;

/**
 * Use of a store.
 * - `alone`: fails if another process owns the SQLite file
 * - `beside`: other processes may write too
 * - `read`: writes, creates and deletes nothing
 */
export type Access = 'alone' | 'beside' | 'read';

/** Opens a file for one process, and creates its folders. Returns the file too, for other tables. */
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
    return { database: createSqliteDatabase(adapter, release), sqlite };
  } catch (cause) {
    release();
    throw (
      explainStoreFault(`sqlite://${path}`, cause) ?? new StoreError(`${path} could not be opened`, { cause })
    );
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

/** Not `recursive`, because Node would never return if the system refuses a folder with ENOENT, as in /proc. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
  try {
    // The umask may have removed rights.
    chmodSync(path, 0o700);
  } catch {
    // Some network disks refuse a mode, and have one for all folders.
  }
}

function openFile(path: string): DatabaseSync {
  makePrivate(path);
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  db.exec('PRAGMA journal_mode = WAL');
  // A checkpoint waits for the disk and blocks everything else. In a longer log, more writes share a page.
  db.exec(`PRAGMA wal_autocheckpoint = ${MAX_LOG_PAGES}`);
  // In WAL mode NORMAL survives `kill -9`: every commit has reached the operating system. A power cut may lose the last
  // commits, but never damages the file. FULL would block the event loop at each write.
  db.exec('PRAGMA synchronous = NORMAL');
  // In kB. SQLite's default of 2 MB holds the documents of some hundred workspaces.
  db.exec('PRAGMA cache_size = -8000');
  // Overwrites deleted data, which could otherwise be read in the file for a while.
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

function createSqliteDatabase(adapter: KeyvSqlite, release: () => void): Database {
  return {
    keyv: new Keyv<Envelope>({ store: adapter, serialization: SERIALIZATION }),
    range: async ({ from, to, limit = -1, offset = 0, isDescending }: Range) =>
      (await adapter.query(isDescending ? RANGE_DESCENDING : RANGE, from, to, limit, offset)) as StoredRow[],
    exclusive: createKeyedLock(),
    sweep: async () => {
      await adapter.clearExpired();
      // The log still holds deleted data.
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

/** keyv has few statements, except those that delete many keys. */
const MAX_PREPARED = 200;

/**
 * A driver that lets keyv use Deckhand's connection. Caches prepared statements, because preparing is slower
 * than running.
 */
function createDriver(db: DatabaseSync): SqliteDriver {
  const prepared = new Map<string, StatementSync>();

  function prepare(sql: string): StatementSync {
    const statement = prepared.get(sql) ?? db.prepare(sql);
    if (prepared.size < MAX_PREPARED) prepared.set(sql, statement);
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

/** Resolves the symbolic links of a path; the file need not exist. */
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
    return undefined; // Not a link: the file does not exist yet.
  }
}

/** Free bytes for this user on the disk of a file. */
export async function measureFreeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(dirname(realFile(path)));
  return bavail * bsize;
}

/** Makes a file readable for its owner only, whatever the umask. SQLite gives its log and index the same mode. */
export function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600));
    chmodSync(path, 0o600);
  } catch {
    // SQLite reports a file that cannot be written.
  }
}

/**
 * Makes this process the only one on a database file, by an exclusive lock of the operating system on a file
 * beside it. Unlike a process id, the lock ends with `kill -9`, and works among containers, each of which has
 * a process 1. A hard link may have another guard beside it, so such a file must not be open anywhere else.
 * @returns a function that releases the lock
 * @throws StoreError if another process holds it
 */
export function guardFile(path: string): () => void {
  const guardPath = `${path}-owner`;
  const isNew = !existsSync(guardPath);
  let guard: DatabaseSync | undefined;
  try {
    // This is the first new file, so it fails in an unwritable folder.
    guard = new DatabaseSync(guardPath);
    makePrivate(guardPath);
    guard.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    if (existsSync(path)) expectFree(path);
    return () => guard?.close();
  } catch (cause) {
    // Leaves no guard beside another program's file.
    if (isNew && guard !== undefined && !isLocked(cause)) rmSync(guardPath, { force: true });
    guard?.close();
    if (!isLocked(cause)) throw explainDatabaseFault(`sqlite://${path}`, cause) ?? cause;
    throw new StoreError(
      `${path} is in use by another Deckhand. Stop that one first, or set STORE_URL to a postgres:// address to run several.`,
      { cause, isTemporary: true },
    );
  }
}

/** Checks that the file is a database. If it has several names, also checks that no connection has a lock on it. */
function expectFree(path: string): void {
  const db = new DatabaseSync(path);
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA schema_version');
    if (statSync(path).nlink > 1) db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; ROLLBACK');
  } finally {
    db.close();
  }
}
