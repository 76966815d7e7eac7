import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { StoreError } from '../core/errors.ts';
import { makeFolder } from '../store/sqlite.ts';

/** Of names and addresses, though of no secret in plain text: its owner alone may read it, whatever the umask. */
export const FILE_MODE = 0o600;

/** Files with changes that SQLite has not yet worked into the database beside them. */
export const LOGS = ['-wal', '-journal'];
/** Files beside a database. SQLite would take those of another one for its own. */
const BESIDE = [...LOGS, '-shm'];

/**
 * Makes a file by `write`, which gets an empty one of another name to write to: until it is whole and on the disk, nothing
 * has the name.
 * @throws StoreError where there is something already, or the path cannot be written
 */
export async function makeFile<T>(path: string, write: (draft: string) => Promise<T>): Promise<T> {
  const there = ['', ...BESIDE].map((ending) => `${path}${ending}`).find(existsSync);
  if (there !== undefined)
    throw new StoreError(`${there} is there already. Move it away, or give another path.`);
  const draft = `${path}.partial`;
  try {
    await removeDraft(draft);
    makeFolder(dirname(resolve(path)));
    const file = await open(draft, 'wx', FILE_MODE);
    // The umask may have taken rights away.
    await file.chmod(FILE_MODE).finally(() => file.close());
    const written = await write(draft);
    await settle(draft);
    await rename(draft, path);
    return written;
  } catch (cause) {
    throw fileFault(path, 'written', cause);
  } finally {
    await removeDraft(draft).catch(() => undefined);
  }
}

async function removeDraft(draft: string): Promise<void> {
  for (const ending of ['', ...BESIDE]) await rm(`${draft}${ending}`, { force: true });
}

/** Until it is on the disk. */
async function settle(path: string): Promise<void> {
  const file = await open(path, 'r');
  await file.sync().finally(() => file.close());
}

/** The system's refusal as a sentence; anything else as it is. */
export function fileFault(path: string, done: 'written' | 'read', cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ENOSPC')
    return new StoreError(`The disk of ${path} is full. Free some space.`, { cause, isTemporary: true });
  if (!/^E[A-Z]+$/.test(code)) return cause;
  return new StoreError(`${path} could not be ${done} (${code}). Check the path, and who may use it.`, {
    cause,
  });
}
