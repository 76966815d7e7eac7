import { existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import { databaseFault } from '../store/database-fault.ts';
import { StoreError } from '../store/store.ts';
import { writeBackup } from './backup-file.ts';
import { describeCounts, portableItems } from './items.ts';
import { type Program, runProgram, UsageError } from './program.ts';
import { openSide, type Side } from './side.ts';
import { DEFAULT_STORE, expectThere, fileOf } from './store-address.ts';

/** In one step: a copy in several would begin anew with each write of the running Deckhand. */
const ALL_PAGES = 2 ** 31 - 1;
const SQLITE_FULL = 13;

export const BACKUP: Program = {
  name: 'backup',
  options: {},
  help: `Usage: npm run backup -- <file>

Writes everything that the store of STORE_URL holds into a new file, while Deckhand runs on it. The file is the same for SQLite
and Postgres. Secrets in it stay sealed: keep ENCRYPTION_KEYS elsewhere.
`,
  async run({ env, words }) {
    const [file, ...more] = words;
    if (file === undefined || more.length > 0) throw new UsageError('Give the one file to write');
    const url = env.STORE_URL || DEFAULT_STORE;
    expectThere(url);
    if (existsSync(file))
      throw new StoreError(`${file} is there already. Give a new file, or move that one away.`);
    const counts = await withSnapshot(url, file, (side) => writeBackup(file, portableItems(side)));
    return `${file} has ${describeCounts(counts)}.`;
  },
};

/** The store as it is at one moment. */
async function withSnapshot<T>(url: string, file: string, work: (side: Side) => Promise<T>): Promise<T> {
  const source = fileOf(url);
  if (source === undefined) return withSide(url, work);
  const copy = `${file}.copy`;
  try {
    await removeCopy(copy);
    await copyDatabase(source, copy);
    return await withSide(`sqlite://${copy}`, work);
  } finally {
    await removeCopy(copy);
  }
}

async function withSide<T>(url: string, work: (side: Side) => Promise<T>): Promise<T> {
  const side = await openSide(url, { mode: 'read', alone: false });
  return work(side).finally(() => side.close());
}

async function copyDatabase(source: string, copy: string): Promise<void> {
  // SQLite would make it for everybody to read.
  const made = await open(copy, 'wx', 0o600).catch((cause) => {
    throw new StoreError(`${copy} could not be written. Check the path, and who may use it.`, { cause });
  });
  await made.close();
  try {
    const database = new DatabaseSync(source, { readOnly: true, timeout: 15_000 });
    await backup(database, copy, { rate: ALL_PAGES }).finally(() => database.close());
  } catch (cause) {
    // The source is only read, so what has no room is the copy.
    const isFull = cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_FULL;
    throw databaseFault(`sqlite://${isFull ? copy : source}`, cause) ?? cause;
  }
}

async function removeCopy(copy: string): Promise<void> {
  for (const ending of ['', '-wal', '-shm', '-journal']) await rm(`${copy}${ending}`, { force: true });
}

await runProgram(BACKUP, import.meta.filename);
