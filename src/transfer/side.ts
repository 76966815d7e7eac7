import { readVersion } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import { count } from '../core/mrkdwn.ts';
import type { JobsBackend } from '../jobs/jobs.ts';
import { createSqliteJobs } from '../jobs/sqlite-jobs.ts';
import { storeFault } from '../store/database-fault.ts';
import { pagesOf } from '../store/documents.ts';
import type { EncryptionKeys } from '../store/encryption-keys.ts';
import { expectReadable, type OpenStore, openStore } from '../store/open-store.ts';
import type { Access } from '../store/sqlite.ts';
import { SealCheck } from './seals.ts';

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
