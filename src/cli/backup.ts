import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { StoreError } from '../core/errors.ts';
import { count } from '../core/mrkdwn.ts';
import { databaseFault } from '../store/database-fault.ts';
import { parseEncryptionKeys } from '../store/sealer.ts';
import { hasDocuments } from '../store/sqlite.ts';
import { type Program, UsageError } from './program.ts';
import { FILE_MODE, fileFault, LOGS, makeFile } from './sqlite-files.ts';
import { DEFAULT_STORE, describeContents, expectThere, fileOf, readBack, withSide } from './stores.ts';

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

/** More do not help to find the cause. */
const MAX_NAMED = 10;

export const RESTORE: Program = {
  command: 'deckhand restore',
  options: {},
  help: `Usage: deckhand restore <file>

Puts a backup where the SQLite file of STORE_URL was, with what a -wal or -journal beside the backup holds, after opening it and every
sealed value in it with ENCRYPTION_KEYS. Stop Deckhand and move the old file away first: nothing is overwritten. For Postgres, use pg_restore.
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
      await copyStore(file, draft);
      expectStore(draft, file);
      // Also refuses what a newer release wrote.
      const contents = await withSide(`sqlite://${draft}`, 'read', (side) => readBack(side, keys));
      expectOpened(contents.seals.shut, file);
      return contents;
    });
    return describeContents(`sqlite://${target}`, filled);
  },
};

/** With its log, which SQLite works into the copy when it is next opened. */
async function copyStore(file: string, draft: string): Promise<void> {
  // A stream, because copying the file as a whole gives the copy the mode of the source.
  for (const ending of ['', ...LOGS].filter((each) => existsSync(`${file}${each}`)))
    await pipeline(
      createReadStream(`${file}${ending}`),
      createWriteStream(`${draft}${ending}`, { mode: FILE_MODE }),
    );
}

function expectOpened(shut: readonly string[], file: string): void {
  if (shut.length === 0) return;
  throw new StoreError(
    `${count(shut.length, 'sealed value')} of ${file} cannot be opened: ${shut.slice(0, MAX_NAMED).join(', ')}. Take another backup.`,
  );
}

/** Before the store is opened, which would make its tables in any database. */
function expectStore(draft: string, file: string): void {
  const database = new DatabaseSync(draft);
  try {
    const isWhole = database.prepare('PRAGMA quick_check').get()?.quick_check === 'ok';
    if (isWhole && hasDocuments(database)) return;
  } catch {
    // No database at all, or one that cannot be read.
  } finally {
    database.close();
  }
  throw new StoreError(`${file} is no backup of Deckhand, or it is damaged. Take another one.`);
}
