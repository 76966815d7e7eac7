import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { StoreError } from '../core/errors.ts';
import { type Clock, DAY_MS, systemClock } from '../core/time/clock.ts';
import { createStore, type Database, type DocumentsOptions } from './documents.ts';
import { type Access, openSqlite } from './sqlite.ts';
import { GLOBAL, type Store } from './store.ts';

const SQLITE = 'sqlite://';

export interface StoreOptions extends Omit<DocumentsOptions, 'clock'> {
  clock?: Clock;
  /** `alone` by default. */
  access?: Access;
  /** Called for each lost connection. The store opens another by itself. */
  onError?: (error: Error) => void;
}

export interface OpenStore extends Store {
  /** The SQLite file, because the jobs use it too. `close` closes it. */
  sqlite: DatabaseSync | undefined;
  database: Database;
}

/**
 * Opens the document store of a `STORE_URL`: `sqlite://path` (relative to the working folder) or
 * `postgres://…`.
 * @throws StoreError that says what to do
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<OpenStore> {
  const { clock = systemClock, access = 'alone', onError = (error) => process.emitWarning(error) } = options;
  const { database, sqlite } = await connect(url, access, onError);
  return { ...createStore(database, { clock, onUnreadable: options.onUnreadable }), sqlite, database };
}

async function connect(
  url: string,
  access: Access,
  onError: (error: Error) => void,
): Promise<Pick<OpenStore, 'database' | 'sqlite'>> {
  if (url.startsWith(SQLITE)) return openSqlite(url.slice(SQLITE.length), access);
  if (isPostgres(url)) {
    const { openPostgres } = await import('./postgres.ts');
    return { database: await openPostgres(url, access, onError), sqlite: undefined };
  }
  throw new StoreError('STORE_URL must start with sqlite:// or postgres://');
}

export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/** Number of the store's format. A release raises it only if an older release cannot read what it writes. */
export const STORE_FORMAT = 2;

/** The first release that reads each format. Release 1.0.0 knows no formats: it refuses a store that names a newer release. */
const FIRST_READERS: Readonly<Record<number, string>> = { 1: '1.0.0', 2: '1.1.0' };

/** The format, and the release that wrote the store last. */
const Written = z.object({ format: z.number(), release: z.string() });
const OldestReader = z.object({ release: z.string() });
/** The collection, under `GLOBAL`, with facts about the store as a whole. */
export const ORIGIN = 'store';

/**
 * Records which release writes the store. Called once a process is ready, so that an upgrade that never gets ready can be
 * undone. The format is never lowered, because an older replica may be ready later.
 */
export async function recordFormat(store: Store, release: string, format = STORE_FORMAT): Promise<void> {
  const { written, oldestReader } = openOrigin(store);
  const newest = await written.update('format', (current) =>
    current !== undefined && current.format > format ? current : { format, release },
  );
  const reader = FIRST_READERS[newest?.format ?? format] ?? release;
  if (newest?.release === release) await oldestReader.put('release', { release: reader });
}

/** @throws StoreError that names both releases, if the store has a newer format */
export async function expectReadable(store: Store, release: string): Promise<void> {
  const wrote = await openOrigin(store).written.get('format');
  if (wrote === undefined || wrote.format <= STORE_FORMAT) return;
  throw new StoreError(
    `The store was written by Deckhand ${wrote.release}, and this is ${release}, which cannot read it. Start ${wrote.release} or newer, or restore a backup from before the upgrade.`,
  );
}

export const BackedUp = z.object({
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Latest time of the next backup, if it is made each night. */
  due: z.number().optional(),
});
type BackedUp = z.infer<typeof BackedUp>;

function openBackups(store: Store) {
  return store.of(GLOBAL).collection('backups', BackedUp);
}

const LATEST = 'latest';

/** Records that `deckhand backup` has copied the store. One that is not made each night leaves `due` as it is. */
export async function recordBackup(store: Store, backup: BackedUp): Promise<void> {
  await openBackups(store).update(LATEST, (earlier) => ({ ...earlier, ...backup }));
}

/** If no backup came for this long after its time, nobody makes it any more. */
const GIVEN_UP_MS = 30 * DAY_MS;

/** Returns the latest backup of a file. */
export async function readBackup(store: Store, now: number): Promise<BackedUp | undefined> {
  const backup = await openBackups(store).get(LATEST);
  if (backup?.due === undefined || now - backup.due < GIVEN_UP_MS) return backup;
  return { at: backup.at };
}

function openOrigin(store: Store) {
  const { collection } = store.of(GLOBAL);
  return { written: collection(ORIGIN, Written), oldestReader: collection(ORIGIN, OldestReader) };
}
