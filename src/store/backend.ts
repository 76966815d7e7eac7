import { jsonSerializer, type Keyv } from 'keyv';
import type { Clock } from '../core/clock.ts';
import { InstallationEnded } from '../core/errors.ts';
import { asking, StoreError, type Tenancy } from './store.ts';

/**
 * What a database gives beyond keyv's own calls: conditional writes and ranges. Keys are
 * `workspace/collection/id`, so all that a workspace holds is one range of an index.
 */
export interface Backend {
  /** Without error listeners, so that a failing adapter throws instead of answering "nothing there". */
  keyv: Keyv;
  /** The stored text under a key, before it is decoded. */
  read(key: string): Promise<string | undefined>;
  /** The same for several keys, in their order. */
  readMany(keys: readonly string[]): Promise<Array<string | undefined>>;
  /** Each of these writes only while the row `during` stands, where one is given; `expires` is by the database's clock. */
  put(row: Row, during?: Tenancy): Promise<boolean>;
  /** Stores the row if its key is free. */
  insert(row: Row, during?: Tenancy): Promise<boolean>;
  /** Replaces the text if it is still `from`. */
  replace(from: string, row: Row, during?: Tenancy): Promise<boolean>;
  /** Deletes the row if its text is still `from`. */
  remove(key: string, from: string, during?: Tenancy): Promise<boolean>;
  /** Rows whose key starts with `prefix`, in key order. */
  range(prefix: string): Promise<StoredRow[]>;
  /** The last `limit` of these rows, the last one first; none after the key `upTo` where one is given. */
  rangeEnd(prefix: string, limit: number, upTo?: string): Promise<StoredRow[]>;
  deleteRange(prefix: string): Promise<void>;
  /** Takes the traces of deleted rows out of the files, as far as they are ours. */
  scrub(): Promise<void>;
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export interface StoredRow {
  key: string;
  value: string;
}

export interface Row {
  key: string;
  text: string;
  /** The end of the row by the database's wall clock. */
  expires: number | undefined;
  /** What is likely to stand under the key. */
  over?: string | undefined;
}

/** The first string after all strings that start with `prefix`, which must end in `/`. */
export function endOfRange(prefix: string): string {
  return `${prefix.slice(0, -1)}0`; // '0' follows '/' in byte order
}

/** What an adapter gives for a row's text; anything else than text is no row. */
export function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export interface GuardedBackend extends Backend {
  /** What this process read or wrote last under a key. A change compares it with what stands, so that it need not be read. */
  lastKnown(key: string): string | undefined;
}

const MOST_REMEMBERED = 4_000;

/** Half of it, the older one, is forgotten as a whole: to find the oldest of thousands took longer than the read itself. */
function createMemory() {
  let newer = new Map<string, string>();
  let older = new Map<string, string>();
  return {
    get: (key: string) => newer.get(key) ?? older.get(key),
    set(key: string, text: string | undefined): void {
      older.delete(key);
      if (text === undefined) newer.delete(key);
      else newer.set(key, text);
      if (newer.size < MOST_REMEMBERED / 2) return;
      older = newer;
      newer = new Map();
    },
    forget: () => [newer, older].forEach((half) => void half.clear()),
  };
}

/**
 * What fails is the database's fault, and what was not written because its tenancy has ended is told apart from what found
 * its key taken.
 */
export function guardBackend(backend: Backend): GuardedBackend {
  const known = createMemory();

  async function writing(
    key: string,
    text: string | undefined,
    write: Promise<boolean>,
    during: Tenancy | undefined,
  ): Promise<boolean> {
    const isWritten = await asking(write);
    if (!isWritten && during !== undefined) await checkStands(backend, during);
    known.set(key, isWritten ? text : undefined);
    return isWritten;
  }

  return {
    ...backend,
    lastKnown: known.get,
    read: joinReads(backend, known.set),
    put: ({ key, text, expires }, during) =>
      writing(key, text, backend.put({ key, text, expires, over: known.get(key) }, during), during),
    insert: (row, during) => writing(row.key, row.text, backend.insert(row, during), during),
    replace: (from, row, during) => writing(row.key, row.text, backend.replace(from, row, during), during),
    remove: (key, from, during) => writing(key, undefined, backend.remove(key, from, during), during),
    range: (prefix) => asking(backend.range(prefix)),
    rangeEnd: (prefix, limit, upTo) => asking(backend.rangeEnd(prefix, limit, upTo)),
    deleteRange: (prefix) => {
      known.forget();
      return asking(backend.deleteRange(prefix));
    },
  };
}

type JoinedReads = Map<string, PromiseWithResolvers<string | undefined>>;

/** So that statements of few lengths are prepared. */
const MOST_JOINED = 8;

/** What is asked for in the same turn of the event loop is read in one statement. */
function joinReads(
  backend: Backend,
  onRead: (key: string, text: string | undefined) => void,
): Backend['read'] {
  let open: JoinedReads | undefined;

  async function readAll(asked: JoinedReads): Promise<void> {
    await undefined;
    if (open === asked) open = undefined;
    const [first = '', ...others] = asked.keys();
    try {
      const read = others.length > 0 ? backend.readMany([first, ...others]) : backend.read(first);
      const texts = [await asking<string | undefined | Array<string | undefined>>(read)].flat();
      for (const [at, [key, { resolve }]] of [...asked].entries()) {
        onRead(key, texts[at]);
        resolve(texts[at]);
      }
    } catch (error) {
      for (const { reject } of asked.values()) reject(error);
    }
  }

  return (key) => {
    if (open === undefined || open.size >= MOST_JOINED) {
      open = new Map();
      void readAll(open);
    }
    const one = open.get(key) ?? Promise.withResolvers<string | undefined>();
    open.set(key, one);
    return one.promise;
  };
}

/** What was not written may not have been for the installation's end. @throws InstallationEnded */
async function checkStands(backend: Backend, during: Tenancy): Promise<void> {
  if ((await asking(backend.read(during.key))) !== during.text) throw new InstallationEnded();
}

/** What is stored: the document, and when it ends by the process's own clock. */
export interface Envelope {
  doc: unknown;
  expiresAt?: number;
  /** Of the document; 1 where it is left out. */
  version?: number;
}

/** The database reclaims rows by its own clock, which a test's clock may be far from. */
export function rowOf(
  clock: Clock,
  key: string,
  doc: unknown,
  expiresAt: number | undefined,
  version = 1,
): Row {
  const expires = expiresAt === undefined ? undefined : Date.now() + (expiresAt - clock.now());
  const value: Envelope = {
    doc,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(version === 1 ? {} : { version }),
  };
  return {
    key,
    text: encode(expires === undefined ? { value } : { value, expires }),
    expires,
  };
}

/**
 * A text of a document that begins with a colon, which keyv marks with another. Where there is none, what keyv makes is
 * plain JSON, which is written and read without its copy of each part.
 */
const MARKED = /[:,[]":/;

function encode(row: { value: Envelope; expires?: number }): string {
  const text = JSON.stringify(row);
  return MARKED.test(text) ? jsonSerializer.stringify(row) : text;
}

export function isAlive(envelope: Envelope, clock: Clock): boolean {
  return envelope.expiresAt === undefined || envelope.expiresAt > clock.now();
}

/** A row that is no envelope has no document that any schema reads. */
export function decode(text: string): Envelope {
  try {
    const row: { value?: Envelope } | undefined = MARKED.test(text)
      ? jsonSerializer.parse(text)
      : JSON.parse(text);
    return typeof row?.value === 'object' && row.value !== null ? row.value : { doc: undefined };
  } catch {
    return { doc: undefined };
  }
}

/** In bytes; Postgres takes no index entries much longer, and every id in use is far below. */
const LONGEST_KEY = 1_000;

export function keyOf(workspace: string, collection: string, id: string): string {
  const key = `${part(workspace)}/${part(collection)}/${id}`;
  if (id === '' || Buffer.byteLength(key) > LONGEST_KEY)
    throw new StoreError(`An id of ${collection} is empty or too long`);
  return key;
}

/** A workspace or collection with a slash in its name would reach into another's range. */
export function part(name: string): string {
  if (name === '' || name.includes('/')) throw new StoreError('A workspace or collection name is malformed');
  return name;
}

/** Writes what a change made of `from`; false where something else stands by now. */
export async function swap(
  backend: Backend,
  key: string,
  from: string | undefined,
  row: Row | undefined,
  during: Tenancy | undefined,
): Promise<boolean> {
  if (from === undefined) return row === undefined || backend.insert(row, during);
  return row === undefined ? backend.remove(key, from, during) : backend.replace(from, row, during);
}
