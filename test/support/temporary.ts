import { existsSync, statfsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Where small files are in memory, on systems that have such a folder: a test then waits for no disk. */
export const MEMORY_FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** The folder in memory where it has so much room; otherwise one on the disk. */
export function folderWithRoom(bytes: number): string {
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
  return bavail * bsize < bytes ? tmpdir() : MEMORY_FOLDER;
}

/** A folder that goes away with the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(MEMORY_FOLDER, 'deckhand-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The `STORE_URL` of a fresh SQLite file that goes away with the test. */
export async function temporarySqlite(): Promise<string> {
  return `sqlite://${join(await temporaryFolder(), 'deckhand.sqlite')}`;
}
