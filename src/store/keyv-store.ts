import type { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { createKeyedLock } from '../core/keyed-lock.ts';
import type { Backend } from './backend.ts';
import { DocumentUnreadable, type QuarantinedRecord, quarantine } from './quarantine.ts';
import { asking, type Collection, DATA_KEYS, GLOBAL, type Store, StoreError } from './store.ts';

/** What is stored: the document, and when it ends by the process's own clock. */
interface Envelope {
  doc: unknown;
  expiresAt?: number;
}

/** In bytes; Postgres takes no index entries much longer, and every id in use is far below. */
const LONGEST_KEY = 1_000;
const MOST_RETRIES = 100;

interface Context {
  backend: Backend;
  clock: Clock;
  /** One writer at a time within the process, so that a retry is only ever another replica's doing. */
  alone: <T>(key: string, work: () => Promise<T>) => Promise<T>;
  onQuarantined: ((record: QuarantinedRecord) => void) | undefined;
}

/** Parses a stored document. @throws DocumentUnreadable, reported before */
type Parse<T> = (workspace: string, id: string, doc: unknown) => Promise<T>;

/** Rejects with `StoreUnavailable` where the database fails. */
export function createKeyvStore(
  opened: Backend,
  clock: Clock,
  onQuarantined?: (record: QuarantinedRecord) => void,
): Store {
  const backend = telling(opened);
  const context: Context = { backend, clock, alone: createKeyedLock(), onQuarantined };
  return {
    collection: (name, schema) => createCollection(context, name, schema),
    exclusive: (key, work) => backend.exclusive(key, work),
    erase: async (workspace) => {
      // The key first: should the process die in between, what is sealed stays shut.
      await asking(backend.keyv.delete(keyOf(GLOBAL, DATA_KEYS, workspace)));
      await backend.deleteRange(`${part(workspace)}/`);
      await backend.scrub();
    },
    ping: () => put(context, keyOf(GLOBAL, 'pings', 'last'), { at: clock.now() }),
    close: () => backend.close(),
  };
}

function createCollection<T>(context: Context, name: string, schema: z.ZodType<T>): Collection<T> {
  const { backend } = context;
  const parse = parserOf(context, name, schema);
  const read = async (workspace: string, id: string): Promise<T | undefined> => {
    const text = await backend.read(keyOf(workspace, name, id));
    const envelope = text === undefined ? undefined : await decode(backend, text);
    return envelope && isAlive(envelope, context.clock) ? parse(workspace, id, envelope.doc) : undefined;
  };
  const readAll = async (workspace: string, rows: readonly Row[]): Promise<Array<{ id: string; doc: T }>> => {
    const prefix = `${part(workspace)}/${part(name)}/`;
    const docs = rows.map((row) => readRow(context, row, (id, doc) => parse(workspace, id, doc), prefix));
    return (await Promise.all(docs)).flat();
  };
  return {
    get: read,
    put: (workspace, id, doc, expiresAt) => put(context, keyOf(workspace, name, id), doc, expiresAt),
    create: (workspace, id, doc, expiresAt) => create(context, keyOf(workspace, name, id), doc, expiresAt),
    update: (workspace, id, change) => {
      const key = keyOf(workspace, name, id);
      return context.alone(key, () => update(context, key, (doc) => parse(workspace, id, doc), change));
    },
    delete: (workspace, id) => remove(context, keyOf(workspace, name, id)),
    list: async (workspace) => {
      const prefix = `${part(workspace)}/${part(name)}/`;
      return readAll(workspace, await backend.range(prefix));
    },
    latest: async (workspace, limit, upTo) => {
      const prefix = `${part(workspace)}/${part(name)}/`;
      const last = upTo === undefined ? undefined : keyOf(workspace, name, upTo);
      return readAll(workspace, await backend.rangeEnd(prefix, limit, last));
    },
  };
}

function telling(backend: Backend): Backend {
  return {
    ...backend,
    read: (key) => asking(backend.read(key)),
    insert: (key, text, expires) => asking(backend.insert(key, text, expires)),
    replace: (key, from, to, expires) => asking(backend.replace(key, from, to, expires)),
    remove: (key, from) => asking(backend.remove(key, from)),
    range: (prefix) => asking(backend.range(prefix)),
    rangeEnd: (prefix, limit, upTo) => asking(backend.rangeEnd(prefix, limit, upTo)),
    deleteRange: (prefix) => asking(backend.deleteRange(prefix)),
  };
}

interface Row {
  key: string;
  value: string;
}

/** Nothing where the document ended, or cannot be read. */
async function readRow<T>(
  { backend, clock }: Context,
  { key, value }: Row,
  parse: (id: string, doc: unknown) => Promise<T>,
  prefix: string,
): Promise<Array<{ id: string; doc: T }>> {
  const id = key.slice(prefix.length);
  try {
    const envelope = await decode(backend, value);
    if (!isAlive(envelope, clock)) return [];
    return [{ id, doc: await parse(id, envelope.doc) }];
  } catch (error) {
    if (error instanceof DocumentUnreadable) return [];
    throw error;
  }
}

async function put(
  { backend, clock }: Context,
  key: string,
  doc: unknown,
  expiresAt?: number,
): Promise<void> {
  if (expiresAt !== undefined && expiresAt <= clock.now()) {
    await asking(backend.keyv.delete(key));
    return;
  }
  const ttl = expiresAt === undefined ? undefined : expiresAt - clock.now();
  const stored = await asking(backend.keyv.set(key, wrap(doc, expiresAt), ttl));
  if (!stored) throw new StoreError('The database did not take a document');
}

async function create(context: Context, key: string, doc: unknown, expiresAt?: number): Promise<boolean> {
  const { backend, clock } = context;
  const expires = expiryOfRow(clock, expiresAt);
  const text = await encode(backend, wrap(doc, expiresAt), expires);
  if (await backend.insert(key, text, expires)) return true;
  const standing = await backend.read(key);
  if (standing === undefined) return backend.insert(key, text, expires);
  // A row that ended by our clock but not yet by the database's may be taken over, by one of us.
  return isAlive(await decode(backend, standing), clock)
    ? false
    : backend.replace(key, standing, text, expires);
}

async function update<T>(
  context: Context,
  key: string,
  parse: (doc: unknown) => Promise<T>,
  change: (current: T | undefined) => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  const { backend, clock } = context;
  for (let tries = 0; tries < MOST_RETRIES; tries += 1) {
    const from = await backend.read(key);
    const envelope = from === undefined ? undefined : await decode(backend, from);
    const current = envelope && isAlive(envelope, clock) ? envelope : undefined;
    const doc = await change(current === undefined ? undefined : await parse(current.doc));
    const expires = expiryOfRow(clock, current?.expiresAt);
    const to = doc === undefined ? undefined : await encode(backend, wrap(doc, current?.expiresAt), expires);
    if (await swap(backend, key, from, to, expires)) return doc;
  }
  throw new StoreError('A document changed too often to be updated');
}

async function swap(
  backend: Backend,
  key: string,
  from: string | undefined,
  to: string | undefined,
  expires: number | undefined,
): Promise<boolean> {
  if (from === undefined) return to === undefined || backend.insert(key, to, expires);
  return to === undefined ? backend.remove(key, from) : backend.replace(key, from, to, expires);
}

async function remove({ backend, clock }: Context, key: string): Promise<boolean> {
  const standing = await backend.read(key);
  if (standing === undefined) return false;
  const wasThere = await asking(backend.keyv.delete(key));
  return wasThere && isAlive(await decode(backend, standing), clock);
}

function wrap(doc: unknown, expiresAt: number | undefined): Envelope {
  return expiresAt === undefined ? { doc } : { doc, expiresAt };
}

function isAlive(envelope: Envelope, clock: Clock): boolean {
  return envelope.expiresAt === undefined || envelope.expiresAt > clock.now();
}

/** The database reclaims rows by its own clock, which a test's clock may be far from. */
function expiryOfRow(clock: Clock, expiresAt: number | undefined): number | undefined {
  return expiresAt === undefined ? undefined : Date.now() + (expiresAt - clock.now());
}

async function encode(backend: Backend, value: Envelope, expires: number | undefined): Promise<string> {
  const row = expires === undefined ? { value } : { value, expires };
  return String(await backend.keyv.encode(row));
}

/** A row that is no envelope has no document that any schema reads. */
async function decode(backend: Backend, text: string): Promise<Envelope> {
  try {
    const row = await backend.keyv.decode<Envelope>(text);
    return typeof row?.value === 'object' && row.value !== null ? row.value : { doc: undefined };
  } catch {
    return { doc: undefined };
  }
}

function parserOf<T>(
  { backend, clock, onQuarantined }: Context,
  collection: string,
  schema: z.ZodType<T>,
): Parse<T> {
  const encodeMark = (mark: object): Promise<string> => encode(backend, wrap(mark, undefined), undefined);
  const options = { backend, encode: encodeMark, now: clock.now, onQuarantined };
  return async (workspace, id, doc) => {
    const parsed = schema.safeParse(doc);
    if (parsed.success) return parsed.data;
    await quarantine(options, { workspace, collection, id }, doc);
    throw new DocumentUnreadable(collection, { cause: parsed.error });
  };
}

function keyOf(workspace: string, collection: string, id: string): string {
  const key = `${part(workspace)}/${part(collection)}/${id}`;
  if (id === '' || Buffer.byteLength(key) > LONGEST_KEY)
    throw new StoreError(`An id of ${collection} is empty or too long`);
  return key;
}

/** A workspace or collection with a slash in its name would reach into another's range. */
function part(name: string): string {
  if (name === '' || name.includes('/')) throw new StoreError('A workspace or collection name is malformed');
  return name;
}
