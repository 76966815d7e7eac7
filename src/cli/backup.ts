import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { access, constants, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { StoreError, StoreUnavailable } from '../core/errors.ts';
import { count } from '../core/mrkdwn.ts';
import { HOUR_MS } from '../core/time/clock.ts';
import { explainDatabaseFault } from '../store/database-fault.ts';
import { parseEncryptionKeys } from '../store/encryption-keys.ts';
import { recordBackup } from '../store/open-store.ts';
import { hasDocuments, makeFolder } from '../store/sqlite.ts';
import { fileFault, type Program } from './program.ts';
import {
  describeContents,
  existingStore,
  findFile,
  readBack,
  storeUrl,
  withSide,
  withStore,
} from './stores.ts';

/** One step: SQLite starts a copy in several steps again whenever Deckhand writes. */
const ALL_PAGES = 2 ** 31 - 1;
const SQLITE_FULL = 13;

export const BACKUP: Program = {
  command: 'deckhand backup',
  argument: 'Give the one file to write',
  options: { nightly: { type: 'boolean' } },
  help: `Usage: deckhand backup [--nightly] <file>

Copies the SQLite file of STORE_URL, as it is at one moment, into a new file, while Deckhand runs on it. Secrets in it stay
sealed: keep ENCRYPTION_KEYS elsewhere. For Postgres, use pg_dump. After a backup with --nightly, metrics and deckhand doctor say
so if none follows within 30 hours.
`,
  async main({ env, argument: file, options: { nightly } }) {
    const source = findFile(existingStore(env));
    if (source === undefined)
      throw new StoreError(
        'STORE_URL is a Postgres database. Back it up with pg_dump; docs/operations.md shows how.',
      );
    expectFolder(file);
    await makeFile(file, (draft) => copyDatabase(source, draft));
    const isRecorded = await recordTime(source, nightly === true);
    const isOpen = ((await stat(file)).mode & OTHERS_MODE) !== 0;
    const note = isOpen ? ' Its disk keeps no modes, so see to it that nobody else can read the file.' : '';
    const missing = isRecorded
      ? ''
      : ' Its time could not be stored, so metrics and doctor do not know of it.';
    return `${file} holds the store.${note}${missing}`;
  },
};

/** A day and a reserve: the timer waits for up to a quarter of an hour, and a machine may have been off at night. */
const NIGHTLY_MS = 30 * HOUR_MS;

/** Stores when the copy was made, for metrics and `doctor`. Returns false if the store does not take it. */
async function recordTime(source: string, isNightly: boolean): Promise<boolean> {
  try {
    const at = Date.now();
    const backup = isNightly ? { at, due: at + NIGHTLY_MS } : { at };
    await withStore(`sqlite://${source}`, 'beside', (store) => recordBackup(store, backup));
    return true;
  } catch (error) {
    if (error instanceof StoreError || error instanceof StoreUnavailable) return false;
    throw error;
  }
}

/** A folder that is missing may be on a disk that is not mounted. @throws StoreError */
function expectFolder(file: string): void {
  const folder = dirname(resolve(file));
  if (!existsSync(folder))
    throw new StoreError(`There is no folder ${folder}. Make it, or mount the disk that it is on.`);
}

async function copyDatabase(source: string, copy: string): Promise<void> {
  try {
    const database = new DatabaseSync(source, { readOnly: true, timeout: 15_000 });
    await backup(database, copy, { rate: ALL_PAGES }).finally(() => database.close());
  } catch (cause) {
    // Deckhand only reads the source, so the disk of the copy is full.
    const isFull = cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_FULL;
    throw explainDatabaseFault(`sqlite://${isFull ? copy : source}`, cause) ?? cause;
  }
}

/** Enough to find the cause. */
const MAX_NAMED = 10;

export const RESTORE: Program = {
  command: 'deckhand restore',
  argument: 'Give the one file to read',
  help: `Usage: deckhand restore <file>

Copies a backup, and a -wal or -journal beside it, to the SQLite file of STORE_URL, after opening every sealed value in it with
ENCRYPTION_KEYS. Stop Deckhand and move the old file away first: nothing is overwritten. For Postgres, use pg_restore.
`,
  async main({ env, argument: file }) {
    const keys = parseEncryptionKeys(env.ENCRYPTION_KEYS ?? '');
    const target = findFile(storeUrl(env));
    if (target === undefined)
      throw new StoreError(
        'STORE_URL is a Postgres database. Restore it with pg_restore; docs/operations.md shows how.',
      );
    await access(file, constants.R_OK).catch((cause) => {
      throw fileFault(file, 'read', cause);
    });
    const contents = await makeFile(target, async (draft) => {
      await copyStore(file, draft);
      expectStore(draft, file);
      // Also refuses a store that a newer release wrote.
      const copied = await withSide(`sqlite://${draft}`, 'read', (side) => readBack(side, keys));
      expectOpened(copied.shut, file);
      return copied;
    });
    return describeContents(`sqlite://${target}`, contents);
  },
};

/** Copies a file with its log, which SQLite writes into the copy when it opens it. */
async function copyStore(file: string, draft: string): Promise<void> {
  // Node copies the mode of a file too, but not through a stream.
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

/** Checks the file itself: opening it as a store would create tables in any database. */
function expectStore(draft: string, file: string): void {
  const database = new DatabaseSync(draft);
  try {
    const isWhole = database.prepare('PRAGMA quick_check').get()?.quick_check === 'ok';
    if (isWhole && hasDocuments(database)) return;
  } catch {
    // The file is not a database, or unreadable.
  } finally {
    database.close();
  }
  throw new StoreError(`${file} is not a backup of Deckhand, or it is damaged. Take another one.`);
}

/** A store holds names and addresses, so only its owner may read a copy, whatever the umask. */
const FILE_MODE = 0o600;
/** Rights of everybody else. */
const OTHERS_MODE = 0o077;

/** Files with changes that SQLite has not yet written into the database beside them. */
const LOGS = ['-wal', '-journal'];
/** Files that SQLite uses beside a database, even if another database left them. */
const BESIDE = [...LOGS, '-shm'];

/**
 * Makes a file. `write` gets an empty draft, which takes the name once it is complete and on the disk.
 * @throws StoreError if the file exists or the path cannot be written
 */
async function makeFile<T>(path: string, write: (draft: string) => Promise<T>): Promise<T> {
  const there = ['', ...BESIDE].map((ending) => `${path}${ending}`).find(existsSync);
  if (there !== undefined)
    throw new StoreError(`${there} is there already. Move it away, or give another path.`);
  const draft = `${path}.partial`;
  try {
    await removeDraft(draft);
    makeFolder(dirname(resolve(path)));
    const file = await open(draft, 'wx', FILE_MODE);
    // The umask may have taken rights away. Some network disks refuse a mode, and have one for all files.
    await file.chmod(FILE_MODE).catch(() => undefined);
    await file.close();
    const written = await write(draft);
    const complete = await open(draft, 'r');
    await complete.sync().finally(() => complete.close());
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
