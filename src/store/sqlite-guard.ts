import { existsSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from '../core/sqlite-file.ts';
import { databaseFault } from './database-fault.ts';
import { StoreError } from './store.ts';

export interface Guard {
  /** The guard's file by itself: another one under the same name is another id. */
  id: string;
  release(): void;
}

/** The file that a path leads to through symbolic links, whether it is there yet or not. */
export function realFile(path: string): string {
  const whole = resolve(path);
  if (existsSync(whole)) return realpathSync(whole);
  const target = linkTarget(whole);
  if (target !== undefined) return realFile(resolve(dirname(whole), target));
  return existsSync(dirname(whole)) ? join(realpathSync(dirname(whole)), basename(whole)) : whole;
}

/**
 * Makes this process the only one that runs on a database file, by an exclusive lock of the operating system
 * on a file beside it. Unlike a file with a process id it can neither go stale after `kill -9` nor be
 * fooled by containers, each of which has a process 1. Where the last one held another guard (the file was reached by
 * another name, or its guard deleted), the database file itself must be free too.
 * @throws StoreError if another process holds it
 */
export function guardFile(path: string): Guard {
  const guardPath = `${path}-owner`;
  const isNew = !existsSync(guardPath);
  const guard = openGuard(guardPath, path);
  try {
    guard.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    const { dev, ino } = statSync(guardPath, { bigint: true });
    const id = `${dev}:${ino}`;
    if (existsSync(path) && lastGuard(path) !== id) expectFree(path);
    return { id, release: () => guard.close() };
  } catch (cause) {
    // Nothing stays beside a file that is none of ours.
    if (isNew && !isBusy(cause)) rmSync(guardPath, { force: true });
    guard.close();
    if (!isBusy(cause)) throw databaseFault(`sqlite://${path}`, cause) ?? cause;
    throw new StoreError(
      `${path} is in use by another Deckhand. Stop that one first, or set STORE_URL to a postgres:// address to run several.`,
      { cause, isTemporary: true },
    );
  }
}

const OWNER =
  'CREATE TABLE IF NOT EXISTS deckhand_owner (id INTEGER PRIMARY KEY CHECK (id = 1), guard TEXT NOT NULL)';

/** Remembers in the database which guard its last process held. */
export function keepGuard(db: DatabaseSync, id: string): void {
  db.exec(OWNER);
  const kept = db.prepare('SELECT guard FROM deckhand_owner').get();
  if (kept?.guard === id) return;
  db.prepare('INSERT OR REPLACE INTO deckhand_owner (id, guard) VALUES (1, ?)').run(id);
}

function lastGuard(path: string): unknown {
  const db = new DatabaseSync(path);
  try {
    const isKept =
      db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'deckhand_owner'").get() !== undefined;
    return isKept ? db.prepare('SELECT guard FROM deckhand_owner').get()?.guard : undefined;
  } finally {
    db.close();
  }
}

/** Every open connection holds a lock on the file itself, which none can have alone then. */
function expectFree(path: string): void {
  const db = new DatabaseSync(path);
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; ROLLBACK');
  } finally {
    db.close();
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // no link, so the file is yet to be made
  }
}

/** The first file that is made, so the one that an unwritable folder refuses. */
function openGuard(guardPath: string, path: string): DatabaseSync {
  try {
    return new DatabaseSync(guardPath);
  } catch (cause) {
    throw databaseFault(`sqlite://${path}`, cause) ?? cause;
  }
}
