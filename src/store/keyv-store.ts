import { randomUUID } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { InstallationEnded } from '../core/errors.ts';
import { createKeyedLock } from '../core/keyed-lock.ts';
import {
  type Backend,
  decode,
  type Envelope,
  type GuardedBackend,
  guardBackend,
  isAlive,
  keyOf,
  part,
  type Row,
  rowOf,
  type StoredRow,
  swap,
} from './backend.ts';
import { DocumentUnreadable, type QuarantinedRecord, quarantine } from './quarantine.ts';
import {
  type AskTenancy,
  asking,
  type Collection,
  DATA_KEYS,
  GLOBAL,
  parseVersion,
  type Shape,
  type Store,
  StoreError,
  TENANCIES,
  type Tenancy,
  versionOf,
} from './store.ts';

const MOST_RETRIES = 100;

interface Context {
  backend: GuardedBackend;
  clock: Clock;
  /** One writer at a time within the process, so that a retry is only ever another replica's doing. */
  alone: <T>(key: string, work: () => Promise<T>) => Promise<T>;
  onQuarantined: ((record: QuarantinedRecord) => void) | undefined;
}

/** Where the writes of a collection go. */
interface Writer {
  context: Context;
  /** What the writes belong to; undefined where they belong to no workspace. */
  during: Tenancy | undefined;
  /** Of the documents that are written. */
  version: number;
}

/** Parses a stored document. @throws DocumentUnreadable, reported before */
type Parse<T> = (workspace: string, id: string, envelope: Envelope) => Promise<T>;

/** Rejects with `StoreUnavailable` where the database fails. */
export function createKeyvStore(
  opened: Backend,
  clock: Clock,
  onQuarantined?: (record: QuarantinedRecord) => void,
): Store {
  const backend = guardBackend(opened);
  const context: Context = { backend, clock, alone: createKeyedLock(), onQuarantined };
  const plain: Writer = { context, during: undefined, version: 1 };
  return {
    collection: (name, shape, during) => createCollection(context, name, shape, during),
    tenancy: (workspace) => readTenancy(backend, workspace),
    beginTenancy: async (workspace) => {
      const id = { id: randomUUID() };
      await create(plain, keyOf(GLOBAL, TENANCIES, workspace), id);
      const begun = await readTenancy(backend, workspace);
      if (begun === undefined) throw new InstallationEnded();
      return begun;
    },
    exclusive: (key, work) => backend.exclusive(key, work),
    erase: async (workspace) => {
      // First, so that what is under way writes nothing behind the sweep.
      await asking(backend.keyv.delete(keyOf(GLOBAL, TENANCIES, workspace)));
      // Then the key: should the process die in between, what is sealed stays shut.
      await asking(backend.keyv.delete(keyOf(GLOBAL, DATA_KEYS, workspace)));
      await backend.deleteRange(`${part(workspace)}/`);
      await backend.scrub();
    },
    ping: () => put(plain, keyOf(GLOBAL, 'pings', 'last'), { at: clock.now() }),
    close: () => backend.close(),
  };
}

async function readTenancy(backend: Backend, workspace: string): Promise<Tenancy | undefined> {
  const key = keyOf(GLOBAL, TENANCIES, workspace);
  const text = await backend.read(key);
  return text === undefined ? undefined : { key, text };
}

function createCollection<T>(
  context: Context,
  name: string,
  shape: Shape<T>,
  ask: AskTenancy | undefined,
): Collection<T> {
  const { backend } = context;
  const version = versionOf(shape);
  const writer = async (): Promise<Writer> => ({ context, during: await ask?.(), version });
  const parse = parserOf(context, name, shape);
  const prefixOf = (workspace: string): string => `${part(workspace)}/${part(name)}/`;
  const readText = async (
    workspace: string,
    id: string,
    text: string | undefined,
  ): Promise<T | undefined> => {
    const envelope = text === undefined ? undefined : await decode(backend, text);
    return envelope && isAlive(envelope, context.clock) ? parse(workspace, id, envelope) : undefined;
  };
  const readAll = async (
    workspace: string,
    rows: readonly StoredRow[],
  ): Promise<Array<{ id: string; doc: T }>> => {
    const read = (id: string, envelope: Envelope): Promise<T> => parse(workspace, id, envelope);
    return (await Promise.all(rows.map((row) => readRow(context, row, read, prefixOf(workspace))))).flat();
  };
  return {
    get: async (workspace, id) => readText(workspace, id, await backend.read(keyOf(workspace, name, id))),
    first: async (workspace, ids) => {
      const texts = await Promise.all(ids.map((id) => backend.read(keyOf(workspace, name, id))));
      for (const [at, id] of ids.entries()) {
        const found = await readText(workspace, id, texts[at]);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    put: async (workspace, id, doc, expiresAt) =>
      put(await writer(), keyOf(workspace, name, id), doc, expiresAt),
    create: async (workspace, id, doc, expiresAt) =>
      create(await writer(), keyOf(workspace, name, id), doc, expiresAt),
    update: (workspace, id, change) => {
      const key = keyOf(workspace, name, id);
      const read = (envelope: Envelope): Promise<T> => parse(workspace, id, envelope);
      return context.alone(key, async () => update(await writer(), key, read, change));
    },
    delete: async (workspace, id) => remove(await writer(), keyOf(workspace, name, id)),
    list: async (workspace) => readAll(workspace, await backend.range(prefixOf(workspace))),
    latest: async (workspace, limit, upTo) => {
      const last = upTo === undefined ? undefined : keyOf(workspace, name, upTo);
      return readAll(workspace, await backend.rangeEnd(prefixOf(workspace), limit, last));
    },
  };
}

/** Nothing where the document ended, or cannot be read. */
async function readRow<T>(
  { backend, clock }: Context,
  { key, value }: StoredRow,
  parse: (id: string, envelope: Envelope) => Promise<T>,
  prefix: string,
): Promise<Array<{ id: string; doc: T }>> {
  const id = key.slice(prefix.length);
  try {
    const envelope = await decode(backend, value);
    if (!isAlive(envelope, clock)) return [];
    return [{ id, doc: await parse(id, envelope) }];
  } catch (error) {
    if (error instanceof DocumentUnreadable) return [];
    throw error;
  }
}

async function put(
  { context: { backend, clock }, during, version }: Writer,
  key: string,
  doc: unknown,
  expiresAt?: number,
): Promise<void> {
  const row = await rowOf(backend, clock, key, doc, expiresAt, version);
  // One that has ended already is stored so that what stood there is gone, and swept later.
  if (!(await backend.put(row, during))) throw new StoreError('The database did not take a document');
}

async function create(
  { context: { backend, clock }, during, version }: Writer,
  key: string,
  doc: unknown,
  expiresAt?: number,
): Promise<boolean> {
  const row = await rowOf(backend, clock, key, doc, expiresAt, version);
  if (await backend.insert(row, during)) return true;
  const standing = await backend.read(key);
  if (standing === undefined) return backend.insert(row, during);
  // A row that ended by our clock but not yet by the database's may be taken over, by one of us.
  return isAlive(await decode(backend, standing), clock) ? false : backend.replace(standing, row, during);
}

async function update<T>(
  writer: Writer,
  key: string,
  parse: (envelope: Envelope) => Promise<T>,
  change: (current: T | undefined) => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  const { backend, clock } = writer.context;

  async function changed(from: string | undefined): Promise<{ doc: T | undefined; row: Row | undefined }> {
    const envelope = from === undefined ? undefined : await decode(backend, from);
    const current = envelope && isAlive(envelope, clock) ? envelope : undefined;
    const doc = await change(current === undefined ? undefined : await parse(current));
    if (doc === undefined) return { doc, row: undefined };
    return { doc, row: await rowOf(backend, clock, key, doc, current?.expiresAt, writer.version) };
  }

  for (let tries = 0; tries < MOST_RETRIES; tries += 1) {
    const written = tries === 0 ? backend.lastWritten(key) : undefined;
    const from = written ?? (await backend.read(key));
    const next = await changed(from).catch((error: unknown) => {
      // Another replica may have changed it since: what stands now decides.
      if (written !== undefined) return undefined;
      throw error;
    });
    if (next !== undefined && (await swap(backend, key, from, next.row, writer.during))) return next.doc;
  }
  throw new StoreError('A document changed too often to be updated');
}

async function remove({ context: { backend, clock }, during }: Writer, key: string): Promise<boolean> {
  for (let tries = 0; tries < MOST_RETRIES; tries += 1) {
    const standing = await backend.read(key);
    if (standing === undefined) return false;
    if (await backend.remove(key, standing, during)) return isAlive(await decode(backend, standing), clock);
  }
  throw new StoreError('A document changed too often to be deleted');
}

function parserOf<T>(
  { backend, clock, onQuarantined }: Context,
  collection: string,
  shape: Shape<T>,
): Parse<T> {
  const rowOfMark = (key: string, mark: object): Promise<Row> => rowOf(backend, clock, key, mark, undefined);
  const options = { backend, rowOf: rowOfMark, now: clock.now, onQuarantined };
  return async (workspace, id, { doc, version = 1 }) => {
    const parsed = parseVersion(shape, doc, version);
    if (parsed.success) return parsed.data;
    await quarantine(options, { workspace, collection, id }, doc);
    throw new DocumentUnreadable(collection, { cause: parsed.error });
  };
}
