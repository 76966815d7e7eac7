import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { jsonSerializer, type Keyv, type KeyvSerializationAdapter } from 'keyv';
import { DocumentUnreadable, StoreError } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { type Clock, HOUR_MS } from '../core/time/clock.ts';
import {
  type Change,
  type Collection,
  computeVersion,
  DATA_KEYS,
  GLOBAL,
  isToBeReplaced,
  mapDatabaseErrors,
  parseVersion,
  type Shape,
  type Store,
  type UnreadableDocument,
} from './store.ts';

/**
 * A database of documents: keyv, and the few operations that keyv lacks. Keys are `workspace/collection/id`,
 * so a workspace is one range of an index.
 */
export interface Database {
  /** Without error listeners, so that keyv throws the database's errors instead of answering "not found". */
  keyv: Keyv<Envelope>;
  /** keyv cannot list keys by prefix. */
  range(range: Range): Promise<StoredRow[]>;
  /** Like `Store.exclusive`. */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Deletes expired rows. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** Rows with keys from `from` to before `to`, in the order of their bytes. */
export interface Range {
  from: string;
  to: string;
  limit?: number;
  /** Rows to skip first. */
  offset?: number;
  /** Last rows first. */
  isDescending?: boolean;
}

export interface StoredRow {
  key: string;
  value: string;
}

/** A value in keyv: the document, and its expiry by the process's own clock. */
export interface Envelope {
  doc: unknown;
  expiresAt?: number;
  /** The document's version; 1 by default. */
  version?: number;
}

/** keyv escapes text that begins with a colon. Without such text its rows are plain JSON, which is ten times as fast. */
const ESCAPED = /[:[,]":/;

/** Rows as keyv has them, except that an invalid row becomes an unreadable document instead of an error. */
export const SERIALIZATION: KeyvSerializationAdapter = {
  stringify(row) {
    const text = JSON.stringify(row);
    return ESCAPED.test(text) ? jsonSerializer.stringify(row) : text;
  },
  parse: <T>(text: string) => parseRow(text) as T,
};

function parseRow(text: string): { value: Envelope; expires?: number } {
  try {
    const row: unknown = ESCAPED.test(text) ? jsonSerializer.parse(text) : JSON.parse(text);
    if (isObject(row) && isObject(row.value)) return row as { value: Envelope & Record<string, unknown> };
  } catch {
    // Invalid JSON.
  }
  return { value: { doc: undefined } };
}

export interface DocumentsOptions {
  clock: Clock;
  /** Called for each unreadable document. */
  onUnreadable?: ((document: UnreadableDocument) => void) | undefined;
}

interface Context {
  database: Database;
  clock: Clock;
  /** Shapes of the opened collections, by name. */
  shapes: Map<string, Shape<unknown>>;
  report: (document: UnreadableDocument) => void;
}

/** A store whose methods reject with `StoreUnavailable` if the database fails. */
export function createStore(database: Database, { clock, onUnreadable }: DocumentsOptions): Store {
  const context: Context = {
    database,
    clock,
    shapes: new Map(),
    report: (document) => onUnreadable?.(document),
  };
  // Replicas must not wait for each other's row.
  const pingKey = makeKey(GLOBAL, 'pings', randomUUID());
  return {
    of: (workspace) => ({
      collection(name, shape) {
        context.shapes.set(name, shape);
        return new KeyvCollection(context, workspace, name, shape);
      },
      exclusive: (key, work) => database.exclusive(`${part(workspace)} ${key}`, work),
      unreadable: (collections) => findUnreadable(context, workspace, collections),
    }),
    exclusive: database.exclusive,
    async erase(workspace) {
      // The key is deleted first. If the process dies in between, sealed values stay closed.
      await mapDatabaseErrors(database.keyv.delete(makeKey(GLOBAL, DATA_KEYS, workspace)));
      await deleteRange(database, makeRange(`${part(workspace)}/`));
    },
    ping: async () => void (await mapDatabaseErrors(database.keyv.set(pingKey, { doc: {} }, HOUR_MS))),
    sweep: () => mapDatabaseErrors(database.sweep()),
    close: database.close,
  };
}

const PAGE = 500;

/** All rows of a range, page by page. */
export async function* pagesOf(database: Database, range: Range): AsyncGenerator<StoredRow[]> {
  for (let from: string | undefined = range.from; from !== undefined; ) {
    const rows: StoredRow[] = await mapDatabaseErrors(database.range({ ...range, from, limit: PAGE }));
    if (rows.length > 0) yield rows;
    // The next possible key after the last one.
    from = rows.length < PAGE ? undefined : `${rows.at(-1)?.key}\x01`;
  }
}

async function deleteRange(database: Database, range: Range): Promise<void> {
  for await (const rows of pagesOf(database, range)) {
    await mapDatabaseErrors(database.keyv.deleteMany(rows.map(({ key }) => key)));
    // Other requests run between two pages.
    await setImmediate();
  }
}

/** Maximum number of checked documents of a collection, because a long history would delay other work. */
const MAX_CHECKED = 500;

async function findUnreadable(
  context: Context,
  workspace: string,
  collections: readonly string[] = [...context.shapes.keys()],
): Promise<UnreadableDocument[]> {
  const unreadable: UnreadableDocument[] = [];
  for (const collection of collections) {
    // Other requests run between two collections.
    await setImmediate();
    const shape = context.shapes.get(collection);
    const prefix = `${part(workspace)}/${part(collection)}/`;
    const newest = { ...makeRange(prefix), limit: MAX_CHECKED, isDescending: true };
    for (const { key, value } of await mapDatabaseErrors(context.database.range(newest))) {
      const { doc, version = 1, ...envelope } = parseRow(value).value;
      const isReadable = shape === undefined || parseVersion(shape, doc, version).success;
      if (isReadable || !isAlive(envelope, context.clock)) continue;
      const document = { workspace, collection, id: key.slice(prefix.length) };
      context.report(document);
      unreadable.push(document);
    }
  }
  return unreadable.toReversed();
}

type Entries<T> = Array<{ id: string; doc: T }>;

/** A class instead of closures, to save memory: each open workspace has some twenty collections. */
class KeyvCollection<T> implements Collection<T> {
  readonly #context: Context;
  readonly #workspace: string;
  readonly #name: string;
  readonly #shape: Shape<T>;

  constructor(context: Context, workspace: string, name: string, shape: Shape<T>) {
    this.#context = context;
    this.#workspace = workspace;
    this.#name = name;
    this.#shape = shape;
  }

  async get(id: string): Promise<T | undefined> {
    const envelope = await this.#read(id);
    if (envelope && isToBeReplaced(this.#shape, envelope.version)) return this.update(id, (doc) => doc);
    return envelope && this.#parse(id, envelope);
  }

  put(id: string, doc: T, expiresAt?: number): Promise<void> {
    return this.#locked(id, () => this.#write(id, doc, expiresAt));
  }

  putUnlocked(id: string, doc: T, expiresAt?: number): Promise<void> {
    return this.#write(id, doc, expiresAt);
  }

  create(id: string, doc: T, expiresAt?: number): Promise<boolean> {
    return this.#locked(id, async () => {
      if ((await this.#read(id)) !== undefined) return false;
      await this.#write(id, doc, expiresAt);
      return true;
    });
  }

  update(id: string, change: Change<T>, expiresAt?: number): Promise<T | undefined> {
    return this.#locked(id, async () => {
      const envelope = await this.#read(id);
      const next = await change(envelope && this.#parse(id, envelope));
      if (next !== undefined) await this.#write(id, next, expiresAt ?? envelope?.expiresAt);
      else if (envelope !== undefined) await this.#remove(id);
      return next;
    });
  }

  delete(id: string): Promise<boolean> {
    return this.#locked(id, async () => {
      const wasThere = (await this.#read(id)) !== undefined;
      if (wasThere) await this.#remove(id);
      return wasThere;
    });
  }

  list(beginning = ''): Promise<Entries<T>> {
    return this.#list(makeRange(this.#prefix + beginning));
  }

  latest(limit: number, { upTo, offset = 0 }: { upTo?: string; offset?: number } = {}): Promise<Entries<T>> {
    const range = makeRange(this.#prefix);
    // The next possible key, so that `upTo` is included.
    const to = upTo === undefined ? range.to : `${this.#makeKey(upTo)}\x01`;
    return this.#list({ ...range, to, limit, offset, isDescending: true });
  }

  async trim(amount: number): Promise<void> {
    const { database } = this.#context;
    const range = makeRange(this.#prefix);
    const first = { ...range, limit: 1, offset: amount, isDescending: true };
    const [row] = await mapDatabaseErrors(database.range(first));
    if (row !== undefined) await deleteRange(database, { ...range, to: `${row.key}\x01` });
  }

  async #list(range: Range): Promise<Entries<T>> {
    const rows = await mapDatabaseErrors(this.#context.database.range(range));
    return rows.flatMap(({ key, value }) => this.#readRow(key.slice(this.#prefix.length), value));
  }

  /** Empty if the document has expired or cannot be read. */
  #readRow(id: string, text: string): Entries<T> {
    const envelope = parseRow(text).value;
    if (!isAlive(envelope, this.#context.clock)) return [];
    try {
      return [{ id, doc: this.#parse(id, envelope) }];
    } catch (error) {
      if (error instanceof DocumentUnreadable) return [];
      throw error;
    }
  }

  /** Returns undefined for an expired document too. */
  async #read(id: string): Promise<Envelope | undefined> {
    const { database, clock } = this.#context;
    // People may type ids of any length. No document has such an id.
    if (!isId(`${this.#prefix}${id}`, id)) return undefined;
    const envelope = await mapDatabaseErrors(database.keyv.get(this.#makeKey(id)));
    return envelope && isAlive(envelope, clock) ? envelope : undefined;
  }

  async #write(id: string, doc: T, expiresAt: number | undefined): Promise<void> {
    const { database, clock } = this.#context;
    const version = computeVersion(this.#shape);
    const envelope = {
      doc,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(version === 1 ? {} : { version }),
    };
    const leftMs = expiresAt === undefined ? undefined : expiresAt - clock.now();
    // keyv would keep such a row for ever.
    if (leftMs !== undefined && leftMs <= 0) return this.#remove(id);
    const ttl = leftMs === undefined ? undefined : leftMs + KEPT_LONGER_MS;
    await mapDatabaseErrors(database.keyv.set(this.#makeKey(id), envelope, ttl));
  }

  async #remove(id: string): Promise<void> {
    await mapDatabaseErrors(this.#context.database.keyv.delete(this.#makeKey(id)));
  }

  #locked<R>(id: string, work: () => Promise<R>): Promise<R> {
    return this.#context.database.exclusive(this.#makeKey(id), work);
  }

  get #prefix(): string {
    return `${part(this.#workspace)}/${part(this.#name)}/`;
  }

  #makeKey(id: string): string {
    return makeKey(this.#workspace, this.#name, id);
  }

  /** @throws DocumentUnreadable, after reporting it */
  #parse(id: string, { doc, version = 1 }: Envelope): T {
    const parsed = parseVersion(this.#shape, doc, version);
    if (parsed.success) return parsed.data;
    this.#context.report({ workspace: this.#workspace, collection: this.#name, id });
    throw new DocumentUnreadable(this.#name, { cause: parsed.error });
  }
}

/**
 * keyv deletes an expired row when it reads it, even if another process has just replaced it. An hour later
 * nobody replaces it.
 */
const KEPT_LONGER_MS = HOUR_MS;

function isAlive({ expiresAt }: Pick<Envelope, 'expiresAt'>, clock: Clock): boolean {
  return expiresAt === undefined || expiresAt > clock.now();
}

/** Maximum size of a key in bytes. Postgres limits index entries; all keys in use are far shorter. */
const MAX_KEY_BYTES = 1_000;

function makeKey(workspace: string, collection: string, id: string): string {
  const key = `${part(workspace)}/${part(collection)}/${id}`;
  if (!isId(key, id)) throw new StoreError(`An id of ${collection} is empty or too long`);
  return key;
}

function isId(key: string, id: string): boolean {
  return id !== '' && Buffer.byteLength(key) <= MAX_KEY_BYTES;
}

/** Rejects a slash in a name, which would reach into another range. */
function part(name: string): string {
  if (name === '' || name.includes('/')) throw new StoreError('A workspace or collection name is malformed');
  return name;
}

/** All keys that begin with `prefix`, which must not be empty. */
function makeRange(prefix: string): Range {
  const next = String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  return { from: prefix, to: prefix.slice(0, -1) + next };
}
