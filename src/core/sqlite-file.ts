import process from 'node:process';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * Resolves with what `write` returns once that is committed; rejects with what it throws, after which nothing of it may
 * be written. `write` may run again.
 */
export type GroupCommit = <T>(write: () => T) => Promise<T>;

/** The connection to an SQLite file, and how all that write to it do so together. */
export interface SqliteFile {
  database: DatabaseSync;
  commit: GroupCommit;
}

interface Waiting {
  /** Returns how to settle the one who waits, once the commit is known. */
  write: () => () => void;
  reject: (error: unknown) => void;
}

/**
 * Writes what came in during one turn of the event loop in one transaction: a page that many of them change reaches the
 * log once, and so does a sync of the disk where one is asked for. What follows from it is written in the same turn.
 */
export function createGroupCommit(db: DatabaseSync): GroupCommit {
  let waiting: Waiting[] = [];

  async function commitAll(): Promise<void> {
    if (waiting.length === 0) return;
    const group = waiting;
    waiting = [];
    await commit(db, group);
    // Once all that waited have gone on.
    process.nextTick(commitAll);
  }

  return (write) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(commitAll);
      const attempt = (): (() => void) => {
        const result = write();
        return () => resolve(result);
      };
      waiting.push({ write: attempt, reject });
    });
}

async function commit(db: DatabaseSync, group: readonly Waiting[]): Promise<void> {
  try {
    if (group.length > 1) return settle(await inTransaction(db, () => group.map(attempt)));
  } catch (error) {
    // The database took none of it. Each is tried by itself, so that only what cannot be written fails.
    if (!isSqliteError(error)) throw error;
  }
  for (const one of group)
    await whenFree(one.write).then((done) => {
      busy.at = LONG_AGO;
      done();
    }, one.reject);
}

function settle(outcomes: ReadonlyArray<() => void>): void {
  for (const outcome of outcomes) outcome();
}

/** @param work is not asynchronous: nothing else comes in between on the one connection */
export function inTransaction<T>(db: DatabaseSync, work: () => T): Promise<T> {
  return whenFree(() => {
    db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      db.exec('COMMIT');
      busy.at = LONG_AGO;
      return result;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  });
}

/** What a writer refuses concerns itself alone; what the database refuses ends the transaction. */
function attempt({ write, reject }: Waiting): () => void {
  try {
    return write();
  } catch (error) {
    if (isSqliteError(error)) throw error;
    return () => reject(error);
  }
}

/** SQLITE_BUSY, the lower byte of all its kinds. */
const BUSY = 5;

const FIRST_RETRY_MS = 5;

const LONGEST_RETRY_MS = 100;

/** Leaves time to say so within Slack's three seconds. */
const LONGEST_WAIT_MS = 2_000;

/**
 * Work on an SQLite file, tried again while another process holds its lock. SQLite's own waiting would stop the event loop,
 * and with it everything that needs no lock.
 * @param work has no effect where it fails so
 */
export async function whenFree<T>(work: () => T | Promise<T>): Promise<T> {
  const end = performance.now() + LONGEST_WAIT_MS;
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || busyForMs() >= LONGEST_WAIT_MS || performance.now() >= end) throw error;
    }
    await wait(retryMs);
  }
}

const LONG_AGO = Number.NEGATIVE_INFINITY;
/** When a lock was met first and last, with no write between: what one request writes, one after the other, waits once. */
const busy = { since: 0, at: LONG_AGO };

function busyForMs(): number {
  const now = performance.now();
  if (now - busy.at > LONGEST_RETRY_MS * 2) busy.since = now;
  busy.at = now;
  return now - busy.since;
}

/** True where another process holds the lock of an SQLite file. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === BUSY;
}

/** What the database itself refused. */
export function isSqliteError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}
