import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

/** The connection to an SQLite file, which documents and jobs share. */
export interface SqliteFile {
  database: DatabaseSync;
  commit: <T>(write: () => T) => Promise<T>;
}

/** SQLITE_BUSY, the lower byte of all its kinds. */
const BUSY = 5;

const RETRY_MS = 20;

/** Leaves time to say so within Slack's three seconds. */
const MAX_WAIT_MS = 2_000;

/**
 * Work on an SQLite file, tried again while another program holds its lock. SQLite's own waiting would stop the event loop,
 * and with it everything that needs no lock.
 * @param work has no effect where it fails so
 */
export async function retryIfLocked<T>(work: () => T | Promise<T>): Promise<T> {
  const end = performance.now() + MAX_WAIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isLocked(error) || performance.now() >= end) throw error;
    }
    await wait(RETRY_MS);
  }
}

/** @param work is not asynchronous: nothing else comes in between on the one connection */
export function inTransaction<T>(db: DatabaseSync, work: () => T): Promise<T> {
  return retryIfLocked(() => {
    db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      db.exec('COMMIT');
      return result;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  });
}

/** True where another program holds the lock of an SQLite file. */
export function isLocked(error: unknown): boolean {
  return (
    error instanceof Error &&
    'errcode' in error &&
    typeof error.errcode === 'number' &&
    (error.errcode & 0xff) === BUSY
  );
}
