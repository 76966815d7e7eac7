import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { KeyvSqlite, type SqliteDriver } from '@keyv/sqlite';
import { Keyv } from 'keyv';
import { createKeyedLock } from '../core/locks.ts';
import { createGroupCommit, type GroupCommit, type SqliteFile, whenFree } from '../core/sqlite-file.ts';
import { type Backend, endOfRange, type StoredRow, textOrNothing } from './backend.ts';
import { databaseFault } from './database-fault.ts';
import { guardFile, keepGuard, realFile } from './sqlite-guard.ts';
import { asking, StoreError, type Tenancy } from './store.ts';

/** How long opening the file waits for another process, e.g. a backup, in milliseconds. Later `whenFree` does. */
const BUSY_TIMEOUT_MS = 5_000;

/** Of 4 kB each; four times as many as SQLite's own. */
const MOST_LOG_PAGES = 4_000;

export interface SqliteOptions {
  path: string;
  /** Refuse to open a file that another process owns. */
  alone: boolean;
}

/** One file, one process. Folders are made as needed. The file is given too, for other tables in it. */
export async function openSqlite(options: SqliteOptions): Promise<{ backend: Backend; sqlite: SqliteFile }> {
  prepareFolder(options.path);
  const path = realFile(options.path);
  const guard = options.alone ? guardFile(path) : undefined;
  const release = (): void => guard?.release();
  try {
    const database = openDatabase(path);
    const commit = createGroupCommit(database);
    const { driver, prepare } = createDriver(database);
    const adapter = new KeyvSqlite({ uri: `sqlite://${path}`, driver });
    await adapter.ready;
    if (guard !== undefined) keepGuard(database, guard.id);
    return { backend: createBackend(adapter, { prepare, commit, release }), sqlite: { database, commit } };
  } catch (cause) {
    release();
    throw (
      databaseFault(`sqlite://${path}`, cause) ?? new StoreError(`${path} could not be opened`, { cause })
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

/** With `recursive`, Node never returns from a folder that the system refuses with ENOENT, as /proc does. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

function openDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  db.exec('PRAGMA journal_mode = WAL');
  // While the log is worked off, which waits for the disk, nothing else runs. In a longer log more of the writes are to
  // the same pages.
  db.exec(`PRAGMA wal_autocheckpoint = ${MOST_LOG_PAGES}`);
  // In WAL mode NORMAL is enough for `kill -9`: every commit has reached the operating system. Only a power
  // cut can take the last commits, and never tears the file. FULL would hold up the event loop at each write.
  db.exec('PRAGMA synchronous = NORMAL');
  // What is deleted is overwritten, or it could be read in the file until something else takes its place.
  db.exec('PRAGMA secure_delete = ON');
  db.exec(CREATE_SIGNATURES);
  return db;
}

interface Parts {
  prepare: Prepare;
  commit: GroupCommit;
  release: () => void;
}

function createBackend(adapter: KeyvSqlite, { prepare, commit, release }: Parts): Backend {
  const write = (sql: string, ...values: SQLInputValue[]): boolean => prepare(sql).run(...values).changes > 0;
  const changes = (sql: string, ...values: SQLInputValue[]): Promise<boolean> =>
    whenFree(() => write(sql, ...values));
  const rows = async (sql: string, ...values: SQLInputValue[]): Promise<StoredRow[]> =>
    (await adapter.query(sql, ...values)) as StoredRow[];
  return {
    keyv: new Keyv({ store: adapter }),
    read: (key) => whenFree(() => textOrNothing(prepare(READ).get(Date.now(), key)?.value)),
    readMany: async (keys) => {
      const sql = `${READ_ALL} (?${', ?'.repeat(keys.length - 1)})`;
      const rows = await whenFree(() => prepare(sql).all(Date.now(), ...keys));
      const texts = new Map(rows.map(({ key, value }) => [key, value]));
      return keys.map((key) => textOrNothing(texts.get(key)));
    },
    put: async ({ key, text, expires, over }, during) => {
      const keepsEnd = over !== undefined && expires !== undefined && expires === endIn(over);
      if (keepsEnd && (await changes(RETEXT, text, key, over, ...standing(during)))) return true;
      return changes(PUT, key, text, expires ?? null, ...standing(during));
    },
    // What is stored before an ack is: in a crowd, together with what others store.
    insert: ({ key, text, expires }, during) =>
      commit(() => write(INSERT, key, text, expires ?? null, ...standing(during), Date.now())),
    replace: (from, { key, text, expires }, during) =>
      endIn(from) === expires
        ? changes(RETEXT, text, key, from, ...standing(during))
        : changes(REPLACE, text, expires ?? null, key, from, ...standing(during)),
    remove: (key, from, during) => changes(REMOVE, key, from, ...standing(during)),
    range: (prefix) => rows(RANGE, prefix, endOfRange(prefix)),
    rangeEnd: (prefix, limit, upTo = endOfRange(prefix)) => rows(RANGE_END, prefix, upTo, limit),
    deleteRange: async (prefix) => void (await adapter.query(DELETE_RANGE, prefix, endOfRange(prefix))),
    scrub: () => scrub(adapter),
    exclusive: createKeyedLock(),
    sweep: async () => {
      await adapter.clearExpired();
      await adapter.query(SWEEP_SIGNATURES, Date.now());
      await scrub(adapter);
    },
    close: async () => {
      await adapter.disconnect();
      release();
    },
  };
}

const SCRUB_TRIES = 20;
const SCRUB_RETRY_MS = 100;

/** The log of the last writes still holds what was overwritten in the file, until it is worked off. */
async function scrub(adapter: KeyvSqlite): Promise<void> {
  for (let tries = 0; tries < SCRUB_TRIES; tries += 1) {
    const [done] = (await adapter.query('PRAGMA wal_checkpoint(TRUNCATE)')) as Array<{ busy: number }>;
    // Another process still reads what was overwritten; the next sweep is the last chance.
    if (done?.busy !== 1) return;
    await wait(SCRUB_RETRY_MS);
  }
}

const END = ',"expires":';

/** When a row ends by its text, of which that is the last part; undefined where it does not. */
function endIn(text: string): number | undefined {
  const at = text.lastIndexOf(END);
  return at < 0 ? undefined : Number(text.slice(at + END.length, -1));
}

/** The values of `STANDS`. */
function standing(during: Tenancy | undefined): Array<string | null> {
  return [during?.key ?? null, during?.key ?? null, during?.text ?? null];
}

const STANDS = `(? IS NULL OR EXISTS (SELECT 1 FROM keyv AS t WHERE t.key = ? AND t.namespace = '' AND t.value = ?))`;
const ALIVE = `namespace = '' AND (expires IS NULL OR expires > ?)`;
const READ = `SELECT value FROM keyv WHERE ${ALIVE} AND key = ?`;
const READ_ALL = `SELECT key, value FROM keyv WHERE ${ALIVE} AND key IN`;
const PUT = `INSERT INTO keyv (key, value, namespace, expires) SELECT ?, ?, '', ? WHERE ${STANDS}
  ON CONFLICT (key, namespace) DO UPDATE SET value = excluded.value, expires = excluded.expires`;
const INSERT = `${PUT} WHERE keyv.expires <= ?`;
const REPLACE = `UPDATE keyv SET value = ?, expires = ? WHERE key = ? AND namespace = '' AND value = ? AND ${STANDS}`;
/** The index of ends is left alone, which halves the time. */
const RETEXT = `UPDATE keyv SET value = ? WHERE key = ? AND namespace = '' AND value = ? AND ${STANDS}`;
const REMOVE = `DELETE FROM keyv WHERE key = ? AND namespace = '' AND value = ? AND ${STANDS}`;
const RANGE = 'SELECT key, value FROM keyv WHERE key >= ? AND key < ? ORDER BY key';
const RANGE_END = 'SELECT key, value FROM keyv WHERE key >= ? AND key <= ? ORDER BY key DESC LIMIT ?';
const DELETE_RANGE = 'DELETE FROM keyv WHERE key >= ? AND key < ?';

/** Far more than there are; a statement for a list of unusual length is not kept. */
const MOST_KEPT = 200;

type Prepare = (sql: string) => StatementSync;

/** keyv on our own connection, with statements kept: preparing one anew takes longer than running it. */
function createDriver(db: DatabaseSync): { driver: SqliteDriver; prepare: Prepare } {
  const kept = new Map<string, StatementSync>();

  function prepare(sql: string): StatementSync {
    const known = kept.get(sql);
    if (known !== undefined) return known;
    if (kept.size >= MOST_KEPT) kept.clear();
    const statement = db.prepare(sql);
    kept.set(sql, statement);
    return statement;
  }

  const driver: SqliteDriver = {
    name: 'custom',
    connect: async () => ({
      query: (sql, ...values) => whenFree(() => prepare(sql).all(...(values as SQLInputValue[]))),
      close: async () => db.close(),
    }),
  };
  return { driver, prepare };
}

/**
 * Digests of the signatures that were taken. Each request writes one before its ack, and a row at the end of a table
 * without an index changes one page of the log, where a row of `keyv` changes three.
 */
const CREATE_SIGNATURES = `CREATE TABLE IF NOT EXISTS deckhand_signatures (
  id INTEGER PRIMARY KEY, digest TEXT NOT NULL, expires INTEGER NOT NULL)`;
const ALL_SIGNATURES = 'SELECT digest, expires FROM deckhand_signatures';
const ADD_SIGNATURE = 'INSERT INTO deckhand_signatures (digest, expires) VALUES (?, ?)';
const REMOVE_SIGNATURE = 'DELETE FROM deckhand_signatures WHERE digest = ?';
const SWEEP_SIGNATURES = 'DELETE FROM deckhand_signatures WHERE expires <= ?';

export interface SignatureRow {
  digest: string;
  /** Milliseconds since the epoch. */
  expires: number;
}

export function readSignatures(database: DatabaseSync): SignatureRow[] {
  return database
    .prepare(ALL_SIGNATURES)
    .all()
    .map(({ digest, expires }) => ({ digest: String(digest), expires: Number(expires) }));
}

/** The table of signatures. What is added is known to be new, so it needs no index. */
export function openSignatureTable({ database, commit }: SqliteFile) {
  const add = database.prepare(ADD_SIGNATURE);
  const remove = database.prepare(REMOVE_SIGNATURE);
  return {
    all: () => readSignatures(database),
    add: ({ digest, expires }: SignatureRow) => asking(commit(() => add.run(digest, expires))),
    delete: (digest: string) => asking(whenFree(() => remove.run(digest))),
  };
}
