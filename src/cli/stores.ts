import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { readVersion } from '../config.ts';
import { StoreError } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import { count } from '../core/mrkdwn.ts';
import { CONNECTION_NAMES, openAs } from '../core/postgres-url.ts';
import { systemClock } from '../core/time/clock.ts';
import type { JobsBackend } from '../jobs/jobs.ts';
import { createSqliteJobs } from '../jobs/sqlite-jobs.ts';
import { type DataKey, SealError, unwrap, WrappedKey } from '../store/data-keys.ts';
import { explainDatabaseFault, explainStoreFault } from '../store/database-fault.ts';
import { pagesOf } from '../store/documents.ts';
import type { EncryptionKeys } from '../store/encryption-keys.ts';
import { expectReadable, isPostgres, type OpenStore, openStore } from '../store/open-store.ts';
import { type Field, openSealed } from '../store/sealer.ts';
import { type Access, realFile } from '../store/sqlite.ts';
import { DATA_KEYS, GLOBAL } from '../store/store.ts';
import type { Environment } from './program.ts';

/** A store with its jobs. */
export interface Side {
  url: string;
  store: OpenStore;
  jobs: JobsBackend;
}

/** Opens a store without its jobs. @throws StoreError saying what to do, also if a newer release wrote the store */
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
    throw explainStoreFault(url, error) ?? error;
  } finally {
    await store.close();
  }
}

/** Opens a store with its jobs, none of which begins. @throws StoreError as `withStore` */
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

/** The contents of a store. */
export interface Contents {
  documents: number;
  /** Jobs that wait or run. */
  jobs: number;
  /** Number of sealed values that were opened. */
  opened: number;
  /** Records whose sealed value does not open with their workspace's key, as `workspace record`. */
  shut: string[];
}

/** Counts everything in a store and opens every sealed value. @throws SealError if a key is missing */
export async function readBack({ store, jobs }: Side, keys: EncryptionKeys): Promise<Contents> {
  const dataKeys = new Map<string, DataKey>();
  const contents: Contents = { documents: 0, jobs: await countJobs(jobs), opened: 0, shut: [] };
  function openRecord(record: StoredRecord): void {
    const { workspace, collection, id, fields } = record;
    if (workspace === GLOBAL && collection === DATA_KEYS) {
      const wrapped = WrappedKey.safeParse(fields).data;
      if (wrapped !== undefined) dataKeys.set(id, unwrap(keys, id, wrapped));
    }
    const seal = findSeal(record);
    if (seal === undefined) return;
    if (opens(dataKeys.get(seal.workspace), seal)) contents.opened += 1;
    else contents.shut.push(`${seal.workspace} ${seal.field.record}`);
  }
  // Rows come in the order of their keys: the data keys before everything else.
  for await (const rows of pagesOf(store.database, ALL)) {
    contents.documents += rows.length;
    for (const { key, value } of rows) openRecord(readRecord(key, value));
  }
  return contents;
}

interface StoredRecord {
  workspace: string;
  collection: string;
  id: string;
  /** Empty if the document cannot be read. */
  fields: Record<string, unknown>;
}

function readRecord(key: string, value: string): StoredRecord {
  const [workspace = '', collection = '', ...id] = key.split('/');
  const fields = Row.safeParse(parseJson(value)).data?.value.doc ?? {};
  return { workspace, collection, id: id.join('/'), fields };
}

const Row = z.object({ value: z.object({ doc: z.record(z.string(), z.unknown()) }) });

/** Collections with a sealed value: the key that holds it, and the field name that it is bound to. */
const SEALED: Readonly<Record<string, { key: string; field: string }>> = {
  accounts: { key: 'sealedKey', field: 'apiKey' },
  forms: { key: 'sealed', field: 'state' },
  installations: { key: 'sealed', field: 'installation' },
  'link-states': { key: 'sealedVerifier', field: 'verifier' },
};

interface Seal {
  workspace: string;
  field: Field;
  sealed: string;
}

function findSeal({ workspace, collection, id, fields }: StoredRecord): Seal | undefined {
  const place = SEALED[collection];
  const sealed = place && fields[place.key];
  if (place === undefined || typeof sealed !== 'string') return undefined;
  const owner = workspace === GLOBAL ? String(fields.workspace) : workspace;
  return { workspace: owner, field: { record: `${collection}/${id}`, field: place.field }, sealed };
}

function opens(dataKey: DataKey | undefined, { workspace, field, sealed }: Seal): boolean {
  try {
    openSealed(dataKey, workspace, field, sealed);
    return true;
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}

export async function countJobs(jobs: JobsBackend): Promise<number> {
  let amount = 0;
  for await (const _ of jobs.all()) amount += 1;
  return amount;
}

/** Describes a store for the operator, in a line or two. */
export function describeContents(name: string, { documents, jobs, opened, shut }: Contents): string {
  const lines = [
    `${name} has ${count(documents, 'document')} and ${count(jobs, 'job')}; sealed values opened there: ${opened}.`,
  ];
  if (shut.length > 0) lines.push(`${shut.length} sealed values do not open: ${shut.join(', ')}.`);
  return lines.join('\n');
}

const SQLITE = 'sqlite://';

/** The address in STORE_URL, or the default one. */
export function storeUrl({ STORE_URL }: Environment): string {
  return STORE_URL || `${SQLITE}data/deckhand.sqlite`;
}

/** The same, for programs that take no store. @throws StoreError if it names a file that does not exist */
export function existingStore(env: Environment): string {
  const url = storeUrl(env);
  expectThere(url, 'Start Deckhand once to make it, or correct STORE_URL');
  return url;
}

/** The file of an SQLite address. Undefined for Postgres. @throws StoreError for anything else */
export function findFile(url: string): string | undefined {
  if (url.startsWith(SQLITE) && url.length > SQLITE.length) return realFile(url.slice(SQLITE.length));
  if (isPostgres(url) && URL.canParse(url)) return undefined;
  throw new StoreError('A store is sqlite://path or postgres://user:password@host/database.');
}

/** The address without the password. */
export function describeStore(url: string): string {
  const file = findFile(url);
  if (file !== undefined) return `${SQLITE}${file}`;
  const { hostname, port, pathname } = new URL(url);
  return `postgres://${hostname || 'localhost'}:${port || 5432}${pathname}`;
}

/** Opening an SQLite file that does not exist would create it. @throws StoreError */
export function expectThere(url: string, next: string): void {
  const file = findFile(url);
  if (file !== undefined && !existsSync(file)) throw new StoreError(`There is no ${file}. ${next}.`);
}

/** A pooler may append the address of the client. */
const RUNNING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
  AND application_name LIKE ANY ('{${Object.values(CONNECTION_NAMES).join('%,')}%}') LIMIT 1`;

/** Postgres may list a Deckhand for a moment after it stopped. */
const TRIES = 10;
const RETRY_MS = 300;

/** Checks Postgres alone: an SQLite file in use cannot be opened. @throws StoreError if a Deckhand is connected */
export async function expectStopped(url: string): Promise<void> {
  if (findFile(url) !== undefined) return;
  const client = new pg.Client({ ...openAs(url, 'deckhand transfer'), connectionTimeoutMillis: 15_000 });
  try {
    await client.connect();
    for (let tries = 0; tries < TRIES; tries += 1) {
      if ((await client.query(RUNNING)).rows.length === 0) return;
      await wait(RETRY_MS);
    }
  } catch (cause) {
    throw explainDatabaseFault(url, cause) ?? cause;
  } finally {
    await client.end();
  }
  throw new StoreError(`A Deckhand runs on ${describeStore(url)}. Stop it first, all replicas of it.`, {
    isTemporary: true,
  });
}
