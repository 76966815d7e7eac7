import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { readVersion } from '../config.ts';
import { StoreError } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import { count } from '../core/mrkdwn.ts';
import { systemClock } from '../core/time/clock.ts';
import type { JobsBackend } from '../jobs/jobs.ts';
import { createSqliteJobs } from '../jobs/sqlite-jobs.ts';
import { databaseFault, storeFault } from '../store/database-fault.ts';
import { pagesOf } from '../store/documents.ts';
import { expectReadable, isPostgres, type OpenStore, openStore } from '../store/open-store.ts';
import {
  type DataKey,
  type EncryptionKeys,
  type Field,
  openSealed,
  SealError,
  unwrap,
  WrappedKey,
} from '../store/sealer.ts';
import { type Access, realFile } from '../store/sqlite.ts';
import { DATA_KEYS, GLOBAL } from '../store/store.ts';

/** A store with its jobs. */
export interface Side {
  url: string;
  store: OpenStore;
  jobs: JobsBackend;
}

/** Opens a store for some work, without its jobs. @throws StoreError saying what to do, also if a newer release wrote the store */
export async function withStore<T>(
  url: string,
  access: Access,
  work: (store: OpenStore) => Promise<T>,
): Promise<T> {
  const store = await openStore(url, { access });
  try {
    await expectReadable(store, readVersion());
    return await work(store);
  } catch (error) {
    throw storeFault(url, error) ?? error;
  } finally {
    await store.close();
  }
}

/** Opens a store for some work, with its jobs, none of which begins. @throws StoreError as `withStore` */
export function withSide<T>(url: string, access: Access, work: (side: Side) => Promise<T>): Promise<T> {
  return withStore(url, access, async (store) => {
    const jobs = await openJobs(url, store);
    return await work({ url, store, jobs }).finally(jobs.close);
  });
}

async function openJobs(url: string, { sqlite }: OpenStore): Promise<JobsBackend> {
  if (sqlite !== undefined) return createSqliteJobs(sqlite, systemClock);
  const { createPgBossJobs } = await import('../jobs/pg-boss-jobs.ts');
  return createPgBossJobs({ url, clock: systemClock });
}

/** All documents. */
export const ALL = { from: '', to: '\x7f' };

/** Counts everything, and opens every seal where it is. @throws SealError where a key is missing */
export async function readBack({ store, jobs }: Side, keys: EncryptionKeys) {
  const seals = new SealCheck(keys);
  let documents = 0;
  for await (const rows of pagesOf(store.database, ALL)) {
    documents += rows.length;
    for (const row of rows) seals.addDocument(row);
  }
  return { counts: { documents, jobs: await countJobs(jobs) }, seals };
}

export async function countJobs(jobs: JobsBackend): Promise<number> {
  return (await collect(jobs.all())).length;
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** What the operator reads at the end. */
export function describeContents(
  name: string,
  { counts, seals }: Awaited<ReturnType<typeof readBack>>,
): string {
  const { documents, jobs } = counts;
  const held = `${count(documents, 'document')} and ${count(jobs, 'job')}`;
  const lines = [`${name} has ${held}; sealed values opened there: ${seals.opened}.`];
  if (seals.shut.length > 0)
    lines.push(`${seals.shut.length} sealed values do not open: ${seals.shut.join(', ')}.`);
  return lines.join('\n');
}

/** Where the documents of a collection have their sealed value, and the field that it is bound to. */
const SEALED: Readonly<Record<string, { key: string; field: string }>> = {
  accounts: { key: 'sealedKey', field: 'apiKey' },
  forms: { key: 'sealed', field: 'state' },
  installations: { key: 'sealed', field: 'installation' },
  links: { key: 'sealedTokens', field: 'tokens' },
  'link-states': { key: 'sealedVerifier', field: 'verifier' },
};

const Fields = z.record(z.string(), z.unknown());
interface SealedValue {
  workspace: string;
  field: Field;
  sealed: string;
}

/** The sealed value of a stored document, where it has one. */
function sealedIn(workspace: string, collection: string, id: string, doc: unknown): SealedValue | undefined {
  const at = SEALED[collection];
  const fields = Fields.safeParse(doc).data;
  const sealed = at && fields?.[at.key];
  if (at === undefined || fields === undefined || typeof sealed !== 'string') return undefined;
  const owner = workspace === GLOBAL ? String(fields.workspace) : workspace;
  return { workspace: owner, field: { record: `${collection}/${id}`, field: at.field }, sealed };
}

const Envelope = z.object({ value: z.object({ doc: z.unknown() }) });

/** Opens every sealed value of what passes; the data keys pass first. */
export class SealCheck {
  readonly #keys: EncryptionKeys;
  readonly #dataKeys = new Map<string, DataKey>();
  opened = 0;
  /** What does not open although its workspace's key does, as `workspace record`. */
  readonly shut: string[] = [];

  constructor(keys: EncryptionKeys) {
    this.#keys = keys;
  }

  /** @throws SealError where `ENCRYPTION_KEYS` does not open a workspace's data key */
  addDocument({ key, value }: { key: string; value: string }): void {
    const [workspace = '', collection = '', ...rest] = key.split('/');
    const id = rest.join('/');
    const doc = Envelope.safeParse(parseJson(value)).data?.value.doc;
    if (workspace === GLOBAL && collection === DATA_KEYS) {
      const wrapped = WrappedKey.safeParse(doc).data;
      if (wrapped !== undefined) this.#dataKeys.set(id, unwrap(this.#keys, id, wrapped));
      return;
    }
    this.#open(sealedIn(workspace, collection, id, doc));
  }

  #open(found: SealedValue | undefined): void {
    if (found === undefined) return;
    const { workspace, field, sealed } = found;
    try {
      openSealed(this.#dataKeys.get(workspace), workspace, field, sealed);
      this.opened += 1;
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      this.shut.push(`${workspace} ${field.record}`);
    }
  }
}

const SQLITE = 'sqlite://';
/** Where STORE_URL names none. */
export const DEFAULT_STORE = 'sqlite://data/deckhand.sqlite';

/** The file of an SQLite address; undefined for Postgres. @throws StoreError for anything else */
export function fileOf(url: string): string | undefined {
  if (url.startsWith(SQLITE) && url.length > SQLITE.length) return realFile(url.slice(SQLITE.length));
  if (isPostgres(url) && URL.canParse(url)) return undefined;
  throw new StoreError('A store is sqlite://path or postgres://user:password@host/database.');
}

/** For sentences: never with the password. */
export function describeStore(url: string): string {
  const file = fileOf(url);
  if (file !== undefined) return `${SQLITE}${file}`;
  const { hostname, port, pathname } = new URL(url);
  return `postgres://${hostname || 'localhost'}:${port || 5432}${pathname}`;
}

/** An SQLite file that is not there would be made, and a backup of nothing is none. */
export function expectThere(url: string): void {
  const file = fileOf(url);
  if (file !== undefined && !existsSync(file))
    throw new StoreError(`There is no ${file}. Give the file of a store.`);
}

const RUNNING = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND application_name IN ('deckhand store', 'deckhand engine') LIMIT 1`;

/** One that was stopped a moment ago may still be listed. */
const TRIES = 10;
const RETRY_MS = 300;

/** On SQLite the file itself says so when it is opened. @throws StoreError where a Deckhand is connected */
export async function expectStopped(url: string): Promise<void> {
  if (fileOf(url) !== undefined) return;
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 15_000,
    application_name: 'deckhand transfer',
  });
  try {
    await client.connect();
    for (let tries = 0; tries < TRIES; tries += 1) {
      if ((await client.query(RUNNING)).rows.length === 0) return;
      await wait(RETRY_MS);
    }
  } catch (cause) {
    throw databaseFault(url, cause) ?? cause;
  } finally {
    await client.end();
  }
  throw new StoreError(`A Deckhand runs on ${describeStore(url)}. Stop it first, all replicas of it.`, {
    isTemporary: true,
  });
}
