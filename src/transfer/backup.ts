import { backup, DatabaseSync } from 'node:sqlite';
import { type Program, UsageError } from '../program.ts';
import { databaseFault } from '../store/database-fault.ts';
import { StoreError } from '../store/store.ts';
import { makeFile } from './sqlite-files.ts';
import { DEFAULT_STORE, expectThere, fileOf } from './store-address.ts';

/** In one step: a copy in several would begin anew with each write of the running Deckhand. */
const ALL_PAGES = 2 ** 31 - 1;
const SQLITE_FULL = 13;

export const BACKUP: Program = {
  command: 'deckhand backup',
  options: {},
  help: `Usage: deckhand backup <file>

Writes the SQLite file of STORE_URL, as it is at one moment, into a new file, while Deckhand runs on it. Secrets in it stay
sealed: keep ENCRYPTION_KEYS elsewhere. For Postgres, use pg_dump.
`,
  async run({ env, words }) {
    const [file, ...more] = words;
    if (file === undefined || more.length > 0) throw new UsageError('Give the one file to write');
    const url = env.STORE_URL || DEFAULT_STORE;
    const source = fileOf(url);
    if (source === undefined)
      throw new StoreError(
        'STORE_URL is a Postgres database. Back it up with pg_dump; docs/operations.md shows how.',
      );
    expectThere(url);
    await makeFile(file, (draft) => copyDatabase(source, draft));
    return `${file} holds the store.`;
  },
};

async function copyDatabase(source: string, copy: string): Promise<void> {
  try {
    const database = new DatabaseSync(source, { readOnly: true, timeout: 15_000 });
    await backup(database, copy, { rate: ALL_PAGES }).finally(() => database.close());
  } catch (cause) {
    // The source is only read, so what has no room is the copy.
    const isFull = cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_FULL;
    throw databaseFault(`sqlite://${isFull ? copy : source}`, cause) ?? cause;
  }
}
