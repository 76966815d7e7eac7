import type { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../core/clock.ts';
import type { JobsTable } from '../jobs/jobs-table.ts';
import { sqliteJobsTable } from '../jobs/sqlite-jobs-table.ts';
import { storeFault } from '../store/database-fault.ts';
import { type DocumentsTable, postgresDocuments, sqliteDocuments } from '../store/documents-table.ts';
import { openStore } from '../store/open-store.ts';
import { expectReadable } from '../store/origin.ts';
import type { Store } from '../store/store.ts';
import { readVersion } from '../version.ts';

/** A store in one transaction, from which everything is read, or into which everything is written. */
export interface Side {
  url: string;
  /** For single documents, beside the transaction on Postgres. */
  store: Store;
  documents: DocumentsTable;
  jobs: JobsTable;
  commit(): Promise<void>;
  /** Nothing that was not committed stays. */
  close(): Promise<void>;
}

export interface SideOptions {
  mode: 'read' | 'write';
  /** Refuse an SQLite file that a Deckhand runs on. */
  alone: boolean;
}

/** @throws StoreError saying what to do, also where a newer release wrote the store */
export async function openSide(url: string, { mode, alone }: SideOptions): Promise<Side> {
  const store = await openStore(url, { clock: systemClock, alone });
  try {
    await expectReadable(store, readVersion());
    const { sqlite } = store;
    return sqlite === undefined
      ? await postgresSide(store, url, mode)
      : sqliteSide(store, url, sqlite.database, mode);
  } catch (error) {
    await store.close();
    throw storeFault(url, error) ?? error;
  }
}

/** Nobody else writes the file: it is a copy, or open for this process alone. */
function sqliteSide(store: Store, url: string, database: DatabaseSync, mode: SideOptions['mode']): Side {
  const jobs = sqliteJobsTable(database);
  const documents = sqliteDocuments(database);
  if (mode === 'write') database.exec('BEGIN IMMEDIATE');
  return {
    url,
    store,
    documents,
    jobs,
    commit: async () => database.exec('COMMIT'),
    close: async () => {
      if (database.isTransaction) database.exec('ROLLBACK');
      await store.close();
    },
  };
}

async function postgresSide(store: Store, url: string, mode: SideOptions['mode']): Promise<Side> {
  const { openPostgresTransaction } = await import('../jobs/pg-boss-jobs-table.ts');
  const transaction = await openPostgresTransaction(url, mode);
  const { jobs, sql, commit } = transaction;
  // Whoever writes meanwhile waits, and finds the store filled.
  if (mode === 'write') await sql('LOCK TABLE keyv, deckhand_schedules IN EXCLUSIVE MODE');
  return {
    url,
    store,
    documents: postgresDocuments(sql),
    jobs,
    commit,
    close: async () => {
      await transaction.close();
      await store.close();
    },
  };
}
