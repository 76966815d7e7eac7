import { hash } from 'node:crypto';
import type { z } from 'zod';
import { InstallationEnded, StoreError, StoreUnavailable } from '../core/errors.ts';
import { isObject } from '../core/json.ts';

/**
 * Documents, each in a named collection of one workspace. Nothing here can be read without naming the
 * workspace, so no query can cross from one to another.
 */
export interface Store {
  /** The documents of one workspace, or of the whole installation: `GLOBAL`. */
  of(workspace: string): WorkspaceStore;
  /**
   * Runs `work` alone among all replicas that ask for the same key. Not re-entrant: asking for a key inside
   * its own `work` never returns. Different keys may be nested, always in the same order.
   */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Deletes the workspace's data key, so that what is sealed stays shut, then every document in every collection. */
  erase(workspace: string): Promise<void>;
  /** Removes what has expired, and the traces of what was deleted from an SQLite file's log. */
  sweep(): Promise<void>;
  /** Resolves if the database can be written, which a full disk refuses; rejects otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The documents of one workspace. */
export interface WorkspaceStore {
  /**
   * A typed view of a collection; `shape` parses what is read, and brings what an earlier release wrote up to today's.
   * Lists leave out a document that it does not read, and what asks for it alone rejects with `DocumentUnreadable`.
   */
  collection<T>(name: string, shape: Shape<T>): Collection<T>;
  /** As `Store.exclusive`; keys of other workspaces are others. */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  /**
   * Documents that cannot be read, among the last few hundred of each collection.
   * @param collections all that were opened since the start if left out
   */
  unreadable(collections?: readonly string[]): Promise<UnreadableDocument[]>;
}

/** A document that cannot be read. It stays where it is, for a release that can read it. */
export interface UnreadableDocument {
  workspace: string;
  collection: string;
  id: string;
}

/** What becomes of a document. */
export type Change<T> = (current: T | undefined) => T | undefined | Promise<T | undefined>;

export interface Collection<T> {
  get(id: string): Promise<T | undefined>;
  /** `expiresAt`: milliseconds since the epoch after which the document is gone. */
  put(id: string, doc: T, expiresAt?: number): Promise<void>;
  /** Puts the document only if there is none; false if there is one. Atomic across replicas: a claim. */
  create(id: string, doc: T, expiresAt?: number): Promise<boolean>;
  /**
   * Reads, changes and writes under a lock of the document, among all replicas. `change` gets the document as it is and
   * returns the new one, or undefined to delete it. It must not write the same document.
   * @param expiresAt as it was, if left out
   */
  update(id: string, change: Change<T>, expiresAt?: number): Promise<T | undefined>;
  /** True if there was something to delete. */
  delete(id: string): Promise<boolean>;
  /** All documents, or those whose ids begin so, by id. Costs what the workspace holds, never more. */
  list(beginning?: string): Promise<Array<{ id: string; doc: T }>>;
  /** The last `limit` documents by id, the last one first; with `upTo` from that id on. Reads no more than these. */
  latest(limit: number, from?: { upTo?: string; offset?: number }): Promise<Array<{ id: string; doc: T }>>;
  /** Deletes all but the last `kept` documents by id. */
  trim(kept: number): Promise<void>;
}

/** The pseudo workspace of what belongs to the whole installation. Real workspace ids never start with `-`. */
export const GLOBAL = '-';

/**
 * The collection, under `GLOBAL`, of each workspace's wrapped data key by workspace id. It is apart
 * from the workspace's own documents so that all keys can be re-wrapped; `Store.erase` knows of it.
 */
export const DATA_KEYS = 'data-keys';

/** Waits for work on a database, whose failures become `StoreUnavailable`. */
export async function mapDatabaseErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isKnown = error instanceof StoreError || error instanceof InstallationEnded;
    throw isKnown ? error : new StoreUnavailable(error);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Makes a document of one version into one of the next. Both are as they are in the database, before any schema. */
export type Upgrade = (doc: Fields) => Fields;

/**
 * A collection's schema, with what brings documents of earlier releases up to it, the oldest first. A change that the
 * schema cannot read by itself adds one function to the list: the version is one more than their number.
 */
export interface Versioned<T> {
  schema: z.ZodType<T>;
  upgrades: readonly Upgrade[];
}

export type Shape<T> = z.ZodType<T> | Versioned<T>;

/** What documents are written with; those of before there were versions are of the first. */
export function versionOf<T>(shape: Shape<T>): number {
  return upgradesOf(shape).length + 1;
}

/** Parses a document of any version up to the shape's own; one of a newer version fails. */
export function parseVersion<T>(shape: Shape<T>, doc: unknown, version: number): z.ZodSafeParseResult<T> {
  const schema = 'upgrades' in shape ? shape.schema : shape;
  return schema.safeParse(bringUp(upgradesOf(shape), doc, version));
}

/** Undefined, which no schema reads, where it cannot be. */
function bringUp(upgrades: readonly Upgrade[], doc: unknown, version: number): unknown {
  if (version > upgrades.length + 1) return undefined;
  if (!isObject(doc)) return doc;
  return upgrades.slice(version - 1).reduce((before, upgrade) => upgrade(before), doc);
}

function upgradesOf<T>(shape: Shape<T>): readonly Upgrade[] {
  return 'upgrades' in shape ? shape.upgrades : [];
}

/** No vowels, no digits that read as one (0, 1, 3, 4, 8), no letters that are read as others: no name spells a word. */
const ALPHABET = 'bcdfghjkmnpqrstvwxz25679';

/**
 * A short id of a document, for people to type, that no other has, e.g. `d7k2`: the same for the same seed, one character longer
 * after each four that are taken.
 */
export function freeId(prefix: string, seed: string, isTaken: (id: string) => boolean): string {
  for (let attempt = 0; ; attempt += 1) {
    const bytes = hash('sha256', JSON.stringify([seed, attempt]), 'buffer');
    const length = 3 + Math.floor(attempt / 4);
    const letters = [...bytes].slice(0, length).map((byte) => ALPHABET[byte % ALPHABET.length]);
    const id = prefix + letters.join('');
    if (!isTaken(id)) return id;
  }
}
