import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isLocked } from '../core/sqlite-file.ts';
import { databaseFault } from './database-fault.ts';
import { StoreError } from './store.ts';

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
