import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { StoreError } from '../core/errors.ts';
import { type Clock, systemClock } from '../core/time/clock.ts';
import { createStore, type Database, type DocumentsOptions } from './documents.ts';
import { type Access, openSqlite } from './sqlite.ts';
import { type Collection, GLOBAL, type Store } from './store.ts';

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

const Written = z.object({ release: z.string() });
const RELEASE_ID = 'release';
/** The collection, under `GLOBAL`, with facts about the store as a whole. */
export const ORIGIN = 'store';

/**
 * Records at the start which release writes the store from now on.
 * @throws StoreError if a newer release wrote it
 */
export async function takeOver(store: Store, release: string): Promise<void> {
  const wrote = await expectReadable(store, release);
  if (wrote !== release) await openOrigin(store).put(RELEASE_ID, { release });
}

/**
 * @returns the release that wrote the store
 * @throws StoreError that names both releases, if that one is newer
 */
export async function expectReadable(store: Store, release: string): Promise<string | undefined> {
  const wrote = (await openOrigin(store).get(RELEASE_ID))?.release;
  if (wrote === undefined || compareReleases(wrote, release) <= 0) return wrote;
  throw new StoreError(
    `The store was written by Deckhand ${wrote}, and this is ${release}. Start ${wrote} or newer, or restore a backup from before the upgrade.`,
  );
}

function openOrigin(store: Store): Collection<z.infer<typeof Written>> {
  return store.of(GLOBAL).collection(ORIGIN, Written);
}

/** Compares the three numbers of two releases. */
function compareReleases(one: string, other: string): number {
  const [a = '', b = ''] = [one, other].map((release) => release.split(/[+-]/)[0]);
  return a.localeCompare(b, 'en', { numeric: true });
}
