import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that goes away with the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The `STORE_URL` of a fresh SQLite file that goes away with the test. */
export async function temporarySqlite(): Promise<string> {
  return `sqlite://${join(await temporaryFolder(), 'deckhand.sqlite')}`;
}
