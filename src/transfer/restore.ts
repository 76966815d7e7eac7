import { access, constants, copyFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { type Program, UsageError } from '../program.ts';
import { parseEncryptionKeys } from '../store/encryption-keys.ts';
import { StoreError } from '../store/store.ts';
import { describeContents, readBack, withSide } from './side.ts';
import { fileFault, makeFile } from './sqlite-files.ts';
import { DEFAULT_STORE, fileOf } from './store-address.ts';

export const RESTORE: Program = {
  command: 'deckhand restore',
  options: {},
  help: `Usage: deckhand restore <file>

Puts a backup where the SQLite file of STORE_URL was, after opening it, and every sealed value in it with ENCRYPTION_KEYS. Stop
Deckhand and move the old file away first: nothing is overwritten. For Postgres, use pg_restore.
`,
  async run({ env, words }) {
    const [file, ...more] = words;
    if (file === undefined || more.length > 0) throw new UsageError('Give the one file to read');
    const keys = parseEncryptionKeys(env.ENCRYPTION_KEYS ?? '');
    const target = fileOf(env.STORE_URL || DEFAULT_STORE);
    if (target === undefined)
      throw new StoreError(
        'STORE_URL is a Postgres database. Restore it with pg_restore; docs/operations.md shows how.',
      );
    await access(file, constants.R_OK).catch((cause) => {
      throw fileFault(file, 'read', cause);
    });
    const filled = await makeFile(target, async (draft) => {
      await copyFile(file, draft);
      expectStore(draft, file);
      // Also refuses what a newer release wrote.
      return withSide(`sqlite://${draft}`, { alone: false }, (side) => readBack(side, keys));
    });
    return describeContents(`sqlite://${target}`, filled);
  },
};

/** Before the store is opened, which would make its tables in any database. */
function expectStore(draft: string, file: string): void {
  const database = new DatabaseSync(draft);
  try {
    const isWhole = database.prepare('PRAGMA quick_check').get()?.quick_check === 'ok';
    const tables = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'keyv'");
    if (isWhole && tables.get() !== undefined) return;
  } catch {
    // No database at all, or one that cannot be read.
  } finally {
    database.close();
  }
  throw new StoreError(`${file} is no backup of Deckhand, or it is damaged. Take another one.`);
}
