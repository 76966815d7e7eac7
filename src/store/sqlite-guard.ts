import { DatabaseSync } from 'node:sqlite';
import { databaseFault } from './database-fault.ts';
import { StoreError } from './store.ts';

/**
 * Makes this process the only one that runs on a database file, by an exclusive lock of the operating system
 * on a file beside it. Unlike a file with a process id it can neither go stale after `kill -9` nor be
 * fooled by containers, each of which has a process 1.
 * @returns lets go of the file
 * @throws StoreError if another process holds it
 */
export function guardFile(path: string): () => void {
  const guard = openGuard(path);
  try {
    guard.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (cause) {
    guard.close();
    throw new StoreError(
      `${path} is in use by another Deckhand. Stop that one first, or set STORE_URL to a postgres:// address to run several.`,
      { cause, isTemporary: true },
    );
  }
  return () => guard.close();
}

/** The first file that is made, so the one that an unwritable folder refuses. */
function openGuard(path: string): DatabaseSync {
  try {
    return new DatabaseSync(`${path}-owner`);
  } catch (cause) {
    throw databaseFault(`sqlite://${path}`, cause) ?? cause;
  }
}
