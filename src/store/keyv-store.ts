import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { InstallationEnded } from '../core/errors.ts';
import { createKeyedLock } from '../core/locks.ts';
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
import { DocumentUnreadable, ownerOf, quarantine } from './quarantine.ts';
import {
  type AskTenancy,
  asking,
  type Change,
  type Collection,
  DATA_KEYS,
  GLOBAL,
  parseVersion,
  type QuarantinedRecord,
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

/** Rejects with `StoreUnavailable` where the database fails. */
export function createKeyvStore(
  opened: Backend,
  clock: Clock,
  onQuarantined?: (record: QuarantinedRecord) => void,
): Store {
  const backend = guardBackend(opened);
  const context: Context = { backend, clock, alone: createKeyedLock(), onQuarantined };
  const globalOf = (name: string): Collection<unknown> =>
    new KeyvCollection(context, GLOBAL, name, z.unknown());
  return {
    of: (workspace, during) => ({
      collection: (name, shape) => new KeyvCollection(context, workspace, name, shape, during),
      exclusive: (key, work) => backend.exclusive(`${workspace} ${key}`, work),
    }),
    tenancy: (workspace) => readTenancy(backend, workspace),
    beginTenancy: async (workspace) => {
      await globalOf(TENANCIES).create(workspace, { id: randomUUID() });
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
    quarantine: (record) => quarantine(context, record),
    ping: () => globalOf('pings').put('last', { at: clock.now() }),
    close: () => backend.close(),
  };
}

async function readTenancy(backend: Backend, workspace: string): Promise<Tenancy | undefined> {
  const key = keyOf(GLOBAL, TENANCIES, workspace);
  const text = await backend.read(key);
  return text === undefined ? undefined : { key, text };
}

type Found<T> = Array<{ id: string; doc: T }>;

/** An object of few fields rather than closures: each workspace that is open has some twenty of them. */
class KeyvCollection<T> implements Collection<T> {
  readonly #context: Context;
  readonly #workspace: string;
  readonly #name: string;
  readonly #shape: Shape<T>;
  readonly #ask: AskTenancy | undefined;

  /** @param ask for what the writes belong to; undefined where they belong to no workspace */
  constructor(context: Context, workspace: string, name: string, shape: Shape<T>, ask?: AskTenancy) {
    this.#context = context;
    this.#workspace = workspace;
    this.#name = name;
    this.#shape = shape;
    this.#ask = ask;
  }

  async get(id: string): Promise<T | undefined> {
    return this.#read(id, await this.#context.backend.read(this.#keyOf(id)));
  }

  async first(ids: readonly string[]): Promise<T | undefined> {
    const { backend } = this.#context;
    const texts = await Promise.all(ids.map((id) => backend.read(this.#keyOf(id))));
    for (const [at, id] of ids.entries()) {
      const found = await this.#read(id, texts[at]);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async put(id: string, doc: T, expiresAt?: number): Promise<void> {
    const during = await this.#ask?.();
    const row = this.#rowOf(this.#keyOf(id), doc, expiresAt);
    // One that has ended already is stored so that what stood there is gone, and swept later.
    if (!(await this.#context.backend.put(row, during)))
      throw new StoreError('The database did not take a document');
  }

  async create(id: string, doc: T, expiresAt?: number): Promise<boolean> {
    const { backend, clock } = this.#context;
    const during = await this.#ask?.();
    const row = this.#rowOf(this.#keyOf(id), doc, expiresAt);
    if (await backend.insert(row, during)) return true;
    const standing = await backend.read(row.key);
    if (standing === undefined) return backend.insert(row, during);
    // A row that ended by our clock but not yet by the database's may be taken over, by one of us.
    return isAlive(decode(standing), clock) ? false : backend.replace(standing, row, during);
  }

  update(id: string, change: Change<T>): Promise<T | undefined> {
    return this.#context.alone(this.#keyOf(id), () => this.#updateAlone(id, change));
  }

  async delete(id: string): Promise<boolean> {
    const { backend, clock } = this.#context;
    const during = await this.#ask?.();
    const key = this.#keyOf(id);
    for (let tries = 0; tries < MOST_RETRIES; tries += 1) {
      const standing = await backend.read(key);
      if (standing === undefined) return false;
      if (await backend.remove(key, standing, during)) return isAlive(decode(standing), clock);
    }
    throw new StoreError('A document changed too often to be deleted');
  }

  async list(): Promise<Found<T>> {
    return this.#readAll(await this.#context.backend.range(this.#prefixOf()));
  }

  async latest(limit: number, upTo?: string): Promise<Found<T>> {
    const last = upTo === undefined ? undefined : this.#keyOf(upTo);
    const rows = await this.#context.backend.rangeEnd(this.#prefixOf(), limit, last);
    return this.#readAll(rows);
  }

  async #updateAlone(id: string, change: Change<T>): Promise<T | undefined> {
    const { backend } = this.#context;
    const during = await this.#ask?.();
    const key = this.#keyOf(id);
    for (let tries = 0; tries < MOST_RETRIES; tries += 1) {
      const known = tries === 0 ? backend.lastKnown(key) : undefined;
      const from = known ?? (await backend.read(key));
      const next = await this.#changed(id, from, change).catch((error: unknown) => {
        // Another replica may have changed it since: what stands now decides.
        if (known !== undefined) return undefined;
        throw error;
      });
      if (next !== undefined && (await swap(backend, key, from, next.row, during))) return next.doc;
    }
    throw new StoreError('A document changed too often to be updated');
  }

  async #changed(
    id: string,
    from: string | undefined,
    change: Change<T>,
  ): Promise<{ doc: T | undefined; row: Row | undefined }> {
    const current = this.#decode(from);
    const doc = await change(current && (await this.#parse(id, current)));
    const key = this.#keyOf(id);
    return { doc, row: doc === undefined ? undefined : this.#rowOf(key, doc, current?.expiresAt) };
  }

  #keyOf(id: string): string {
    return keyOf(this.#workspace, this.#name, id);
  }

  #prefixOf(): string {
    return `${part(this.#workspace)}/${part(this.#name)}/`;
  }

  #rowOf(key: string, doc: T, expiresAt: number | undefined): Row {
    return rowOf(this.#context.clock, key, doc, expiresAt, versionOf(this.#shape));
  }

  /** Undefined for a document that has ended. */
  #decode(text: string | undefined): Envelope | undefined {
    const envelope = text === undefined ? undefined : decode(text);
    return envelope && isAlive(envelope, this.#context.clock) ? envelope : undefined;
  }

  async #read(id: string, text: string | undefined): Promise<T | undefined> {
    const envelope = this.#decode(text);
    return envelope && this.#parse(id, envelope);
  }

  async #readAll(rows: readonly StoredRow[]): Promise<Found<T>> {
    const { length } = this.#prefixOf();
    const found = rows.map(({ key, value }) => this.#readRow(key.slice(length), value));
    return (await Promise.all(found)).flat();
  }

  /** Nothing where the document ended, or cannot be read. */
  async #readRow(id: string, text: string): Promise<Found<T>> {
    try {
      const envelope = this.#decode(text);
      return envelope === undefined ? [] : [{ id, doc: await this.#parse(id, envelope) }];
    } catch (error) {
      if (error instanceof DocumentUnreadable) return [];
      throw error;
    }
  }

  /** @throws DocumentUnreadable, reported before */
  async #parse(id: string, { doc, version = 1 }: Envelope): Promise<T> {
    const parsed = parseVersion(this.#shape, doc, version);
    if (parsed.success) return parsed.data;
    const of = { workspace: this.#workspace, collection: this.#name, id };
    await quarantine(this.#context, { kind: 'document', ...of, owner: ownerOf(doc) });
    throw new DocumentUnreadable(this.#name, { cause: parsed.error });
  }
}
