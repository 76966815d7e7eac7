import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { KeyvPostgres } from '@keyv/postgres';
import { Keyv } from 'keyv';
import pg from 'pg';
import { databaseFault } from './database-fault.ts';
import { type Database, type Envelope, type Range, SERIALIZATION, type StoredRow } from './documents.ts';
import { createLeases } from './leases.ts';
import { POSTGRES_SCHEMA } from './postgres-schema.ts';
import { StoreError, StoreUnavailable } from './store.ts';

/** A statement, and the wait for a connection, end after this; the caller then learns of it. */
const TIMEOUT_MS = 15_000;
const MAX_CONNECTIONS = 10;
/** In characters, so it takes every key that the store lets through. */
const KEY_LENGTH = 1_000;

/** Two tables in a database that any number of replicas share. */
export async function openPostgres(url: string, onError: (error: Error) => void): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    keepAlive: true,
    application_name: 'deckhand store',
  });
  // A connection that ends while idle is replaced; without a listener it would end the process.
  pool.on('error', onError);
  try {
    await makeTables(pool);
    // It makes the same table by itself, which one whose owner is another role refuses it.
    const adapter = adapterOn(pool);
    await adapter.has('schema');
    return createDatabase(pool, adapter, onError);
  } catch (cause) {
    await pool.end();
    const { message } = cause instanceof StoreUnavailable ? cause : new StoreUnavailable(cause);
    throw databaseFault(url, cause) ?? new StoreError(`${message}. Check STORE_URL.`, { cause });
  }
}

const MISSING = `SELECT to_regclass('public.keyv') IS NULL OR to_regclass('public.deckhand_leases') IS NULL AS missing`;

/** Where they are missing: who owns them may be another role, which made them by `deckhand schema`. */
async function makeTables(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ missing: boolean }>(MISSING);
  if (rows[0]?.missing === false) return;
  // One replica at a time, because concurrent ones fail each other. Statements that are sent together are one transaction,
  // and the lock ends with it.
  await pool.query(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK}); ${POSTGRES_SCHEMA}`);
}

const SCHEMA_LOCK = 1_145_393_995;

/**
 * keyv's adapter makes a pool of its own that cannot be reached, where a connection that is lost while idle would end
 * the process. So the clients of that pool, which can be chosen, hand everything to ours.
 */
function adapterOn(pool: pg.Pool): KeyvPostgres {
  class ForwardingClient extends EventEmitter {
    connect(done: () => void): void {
      done();
    }
    query(sql: string, values: unknown[], done: (error: unknown, result?: pg.QueryResult) => void): void {
      pool.query(sql, values).then((result) => done(null, result), done);
    }
    end(done: () => void): void {
      done();
    }
  }
  // Pools are shared by address and settings; this one is not to be shared.
  const options: object = {
    uri: `deckhand:${randomUUID()}`,
    keyLength: KEY_LENGTH,
    Client: ForwardingClient,
  };
  return new KeyvPostgres(options);
}

function createDatabase(pool: pg.Pool, adapter: KeyvPostgres, onError: (error: Error) => void): Database {
  let isOpen = true;
  return {
    keyv: new Keyv<Envelope>({ store: adapter, serialization: SERIALIZATION }),
    range: async ({ from, to, limit = null, isDescending }: RangeOrAll) =>
      (await pool.query<StoredRow>(isDescending ? RANGE_DESCENDING : RANGE, [from, to, limit])).rows,
    exclusive: createLeases(pool, onError),
    sweep: () => adapter.clearExpired(),
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      await adapter.disconnect();
      await pool.end();
    },
  };
}

type RangeOrAll = Omit<Range, 'limit'> & { limit?: number | null };

const RANGE = `SELECT key, value FROM public.keyv
  WHERE COALESCE(namespace, '') = '' AND key COLLATE "C" >= $1 AND key COLLATE "C" < $2
  ORDER BY key COLLATE "C" LIMIT $3`;
const RANGE_DESCENDING = RANGE.replace('LIMIT', 'DESC LIMIT');
