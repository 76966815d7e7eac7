import { hash } from 'node:crypto';
import type { z } from 'zod';
import { InstallationEnded, StoreError, StoreUnavailable } from '../core/errors.ts';
import { isObject } from '../core/json.ts';

/**
 * Documents, each in a named collection of one workspace. Every query names its workspace, so it cannot reach
 * another one.
 */
export interface Store {
  /** The documents of one workspace, or of the whole installation: `GLOBAL`. */
  of(workspace: string): WorkspaceStore;
  /**
   * Runs `work` under a lock of this key, among all replicas. Not re-entrant: `work` must not ask for the same key. Different keys
   * may be nested, always in the same order.
   */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Deletes the workspace's data key, so that no sealed value opens, then all its documents. */
  erase(workspace: string): Promise<void>;
  /** Deletes expired documents, and on SQLite the traces of deleted ones in the log. */
  sweep(): Promise<void>;
  /** Rejects if the database cannot be written, e.g. because the disk is full. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The documents of one workspace. */
export interface WorkspaceStore {
  /**
   * A typed view of a collection. `shape` parses documents, and upgrades those of earlier releases. Lists leave out an unreadable
   * document; reading it alone rejects with `DocumentUnreadable`.
   */
  collection<T>(name: string, shape: Shape<T>): Collection<T>;
  /** Like `Store.exclusive`, with keys of this workspace only. */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  /**
   * Unreadable documents among the last few hundred of each collection.
   * @param collections all collections that were opened since the start, by default
   */
  unreadable(collections?: readonly string[]): Promise<UnreadableDocument[]>;
}

/** An unreadable document. It stays in the database, for a release that can read it. */
export interface UnreadableDocument {
  workspace: string;
  collection: string;
  id: string;
}

/** Returns the new document; undefined deletes it. */
export type Change<T> = (current: T | undefined) => T | undefined | Promise<T | undefined>;

export interface Collection<T> {
  get(id: string): Promise<T | undefined>;
  /** @param expiresAt end of the document, milliseconds since the epoch */
  put(id: string, doc: T, expiresAt?: number): Promise<void>;
  /** Like `put`, but takes no lock: the caller holds one without which nobody writes the document. */
  putUnlocked(id: string, doc: T, expiresAt?: number): Promise<void>;
  /** Puts the document unless the id exists; then it returns false. Atomic across replicas. */
  create(id: string, doc: T, expiresAt?: number): Promise<boolean>;
  /**
   * Reads, changes and writes under a lock of the document, among all replicas. `change` must not write the same document.
   * @param expiresAt unchanged by default
   */
  update(id: string, change: Change<T>, expiresAt?: number): Promise<T | undefined>;
  /** Returns false if there was no document. */
  delete(id: string): Promise<boolean>;
  /** All documents, or those whose ids begin with `beginning`, by id. */
  list(beginning?: string): Promise<Array<{ id: string; doc: T }>>;
  /** The last `limit` documents by id, last first, from `upTo` on. Reads no others. */
  latest(limit: number, from?: { upTo?: string; offset?: number }): Promise<Array<{ id: string; doc: T }>>;
  /** Deletes all but the last documents by id. @param amount number of remaining documents */
  trim(amount: number): Promise<void>;
}

/** Pseudo workspace for the whole installation. Real ids never start with `-`. */
export const GLOBAL = '-';

/**
 * The collection, under `GLOBAL`, of the workspaces' wrapped data keys by workspace id, so that all keys can
 * be re-wrapped. `Store.erase` deletes from it.
 */
export const DATA_KEYS = 'data-keys';

export async function mapDatabaseErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isKnown = error instanceof StoreError || error instanceof InstallationEnded;
    throw isKnown ? error : new StoreUnavailable(error);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Turns a document of one version into the next version. Both are unparsed. */
export type Upgrade = (doc: Fields) => Fields;

/**
 * A collection's schema, and the upgrades of older documents, oldest first. A change that the schema cannot read adds an upgrade.
 * The version is the number of upgrades plus one.
 */
export interface Versioned<T> {
  schema: z.ZodType<T>;
  upgrades: readonly Upgrade[];
  /** Reading an older document alone also stores the new version, because the older one holds what must go. */
  writesBack?: boolean;
}

export type Shape<T> = z.ZodType<T> | Versioned<T>;

function versioned<T>(shape: Shape<T>): Versioned<T> {
  return 'upgrades' in shape ? shape : { schema: shape, upgrades: [] };
}

/** The version of new documents. */
export function computeVersion<T>(shape: Shape<T>): number {
  return versioned(shape).upgrades.length + 1;
}

/** True if a document of this version must be replaced once it is read. */
export function isToBeReplaced<T>(shape: Shape<T>, version = 1): boolean {
  const { writesBack = false, upgrades } = versioned(shape);
  return writesBack && version <= upgrades.length;
}

/** Parses a document of this or an earlier version; fails for a newer one. */
export function parseVersion<T>(shape: Shape<T>, doc: unknown, version: number): z.ZodSafeParseResult<T> {
  const { schema, upgrades } = versioned(shape);
  if (version > upgrades.length + 1) return schema.safeParse(undefined);
  const older = isObject(doc) ? upgrades.slice(version - 1) : [];
  return schema.safeParse(older.reduce((before, upgrade) => upgrade(before), doc as Fields));
}

/**
 * No vowels, no digits that look like vowels (0, 1, 3, 4, 8) and no ambiguous letters, so that an id spells
 * no word.
 */
const ALPHABET = 'bcdfghjkmnpqrstvwxz25679';

/**
 * A short, unused id that people can type, e.g. `d7k2`. It depends on the seed, and grows by one character
 * after four taken ids.
 */
export function makeFreeId(prefix: string, seed: string, isTaken: (id: string) => boolean): string {
  for (let attempt = 0; ; attempt += 1) {
    const bytes = hash('sha256', JSON.stringify([seed, attempt]), 'buffer');
    const length = 3 + Math.floor(attempt / 4);
    const letters = [...bytes].slice(0, length).map((byte) => ALPHABET[byte % ALPHABET.length]);
    const id = prefix + letters.join('');
    if (!isTaken(id)) return id;
  }
}
