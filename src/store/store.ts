import type { z } from 'zod';
import { InstallationEnded } from '../core/errors.ts';
import { isObject } from '../core/json.ts';

/**
 * Documents, each in a named collection of one workspace. Nothing here can be read without naming the
 * workspace, so no query can cross from one to another.
 */
export interface Store {
  /**
   * The documents of one workspace, or of the whole installation: `GLOBAL`. Where `during` is given, every write asks for
   * it and is made only while it stands, in the same statement.
   */
  of(workspace: string, during?: AskTenancy): WorkspaceStore;
  /** The workspace's tenancy as it stands; undefined where none does. */
  tenancy(workspace: string): Promise<Tenancy | undefined>;
  /** As `tenancy`, but begins one where none stands. */
  beginTenancy(workspace: string): Promise<Tenancy>;
  /**
   * Runs `work` alone among all replicas that ask for the same key. Not re-entrant: asking for a key inside
   * its own `work` never returns. Different keys may be nested, always in the same order.
   */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  /**
   * Ends the workspace's tenancy, and deletes its data key and every document in every collection: sealed copies stay
   * shut, and what was under way writes no more.
   */
  erase(workspace: string): Promise<void>;
  /** Marks what the store itself does not find unreadable; the first to do so reports it, as it reports documents. */
  quarantine(record: QuarantinedRecord): Promise<void>;
  /** Resolves if the database can be written, which a full disk refuses; rejects otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The row that says that an installation stands, as it was read: another installation of the workspace has another. */
export interface Tenancy {
  key: string;
  text: string;
}

/** Something stored that cannot be read. It stays where it is, for a release that can read it. */
export interface QuarantinedRecord {
  kind: 'document' | 'job' | 'schedule';
  workspace: string;
  /** Of jobs and schedules the queue. */
  collection: string;
  id: string;
  /** Who set it up, as far as that can be read. */
  owner: string | undefined;
}

/** The tenancy that a write belongs to. @throws InstallationEnded */
export type AskTenancy = () => Promise<Tenancy>;

/** The documents of one workspace. */
export interface WorkspaceStore {
  /**
   * A typed view of a collection; `shape` parses what is read, and brings what an earlier release wrote up to today's. A
   * document that it does not read is reported once: lists leave it out, and what asks for it alone rejects with
   * `DocumentUnreadable`.
   */
  collection<T>(name: string, shape: Shape<T>): Collection<T>;
  /** As `Store.exclusive`; keys of other workspaces are others. */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** What becomes of a document. */
export type Change<T> = (current: T | undefined) => T | undefined | Promise<T | undefined>;

export interface Collection<T> {
  get(id: string): Promise<T | undefined>;
  /** The first of these documents that there is. */
  first(ids: readonly string[]): Promise<T | undefined>;
  /** `expiresAt`: milliseconds since the epoch after which the document is gone. */
  put(id: string, doc: T, expiresAt?: number): Promise<void>;
  /** Puts the document only if none stands there; false if one does. Atomic across replicas: a claim. */
  create(id: string, doc: T, expiresAt?: number): Promise<boolean>;
  /**
   * Read-modify-write, atomic across replicas. `change` gets the document as it stands and returns the new
   * one, or undefined to delete it. It is called again if another replica wrote in between, so it only
   * computes; it may be asynchronous. What must happen once belongs in `exclusive`. An expiry is kept.
   */
  update(id: string, change: Change<T>): Promise<T | undefined>;
  /** True if there was something to delete. */
  delete(id: string): Promise<boolean>;
  /** All documents, by id. Costs what the workspace holds, never more. */
  list(): Promise<Array<{ id: string; doc: T }>>;
  /** The last `limit` documents by id, the last one first; with `upTo` from that id on. Reads no more than these. */
  latest(limit: number, upTo?: string): Promise<Array<{ id: string; doc: T }>>;
}

/** The pseudo workspace of what belongs to the whole installation. Real workspace ids never start with `-`. */
export const GLOBAL = '-';

/**
 * The collection, under `EVERYWHERE`, of each workspace's wrapped data key by workspace id. It stands apart
 * from the workspace's own documents so that all keys can be re-wrapped; `Store.erase` knows of it.
 */
export const DATA_KEYS = 'data-keys';
/** The collection, under `GLOBAL`, of what says that a workspace's installation stands. */
export const TENANCIES = 'tenancies';

/** The database could not be used as asked; `message` says what to do where something can be done. */
export class StoreError extends Error {
  readonly code: 'store_error' | 'store_unavailable' | 'document_unreadable' = 'store_error';
  /** The same may succeed later, without any change of the configuration. */
  readonly isTemporary: boolean;

  constructor(message: string, options: ErrorOptions & { isTemporary?: boolean } = {}) {
    super(message, options);
    this.name = 'StoreError';
    this.isTemporary = options.isTemporary ?? false;
  }
}

/** The database did not answer or could not be written; what was asked of it can be tried again. */
export class StoreUnavailable extends StoreError {
  override readonly code = 'store_unavailable';

  constructor(cause: unknown) {
    super(`The database failed: ${cause instanceof Error ? cause.message : 'unknown fault'}`, {
      cause,
      isTemporary: true,
    });
    this.name = 'StoreUnavailable';
  }
}

/** The work, whose failures are the database's. */
export async function asking<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isKnown = error instanceof StoreError || error instanceof InstallationEnded;
    throw isKnown ? error : new StoreUnavailable(error);
  }
}

/**
 * The documents of a workspace for the length of one request: each is read once, and again after a write through here.
 * An `update` changes what stands in the database, whatever was read before.
 */
export function readOnce(store: WorkspaceStore): WorkspaceStore {
  return {
    collection: (name, schema) => onceCollection(store.collection(name, schema)),
    exclusive: store.exclusive,
  };
}

function onceCollection<T>(stored: Collection<T>): Collection<T> {
  const known = new Map<string, Promise<T | undefined>>();
  let all: ReturnType<typeof stored.list> | undefined;

  function forget(): void {
    known.clear();
    all = undefined;
  }

  /** Before the write, for what is read meanwhile, and after it. */
  async function writing<R>(write: () => Promise<R>): Promise<R> {
    forget();
    try {
      return await write();
    } finally {
      forget();
    }
  }

  async function find(id: string): Promise<T | undefined> {
    if (all === undefined) return stored.get(id);
    return (await all).find((row) => row.id === id)?.doc;
  }

  return {
    latest: (limit, upTo) => stored.latest(limit, upTo),
    get(id) {
      const read = known.get(id) ?? find(id);
      known.set(id, read);
      return read;
    },
    async first(ids) {
      if (all === undefined) return stored.first(ids);
      const rows = new Map((await all).map(({ id, doc }) => [id, doc]));
      return ids.map((id) => rows.get(id)).find((doc) => doc !== undefined);
    },
    list() {
      all ??= stored.list();
      return all;
    },
    put: (...row) => writing(() => stored.put(...row)),
    create: (...row) => writing(() => stored.create(...row)),
    update: (id, change) => writing(() => stored.update(id, change)),
    delete: (id) => writing(() => stored.delete(id)),
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** Makes a document of one version into one of the next. Both are what stands in the database, before any schema. */
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
