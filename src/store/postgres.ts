import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { KeyvPostgres } from '@keyv/postgres';
import { Keyv } from 'keyv';
import pg from 'pg';
import { createKeyedLock } from '../core/concurrency.ts';
import { StoreError, StoreUnavailable } from '../core/errors.ts';
import { storeFault } from './database-fault.ts';
import { type Database, type Envelope, type Range, SERIALIZATION, type StoredRow } from './documents.ts';
import type { Access } from './sqlite.ts';
import { mapDatabaseErrors } from './store.ts';

/** A statement, and the wait for a connection, fail after this. Connections that went silent are found by it. */
const TIMEOUT_MS = 5_000;
const MAX_CONNECTIONS = 10;
/** In characters, so it takes every key that the store lets through. */
const KEY_LENGTH = 1_000;

/**
 * The tables of the documents: keyv's own, with an index that makes a prefix a range whatever the database's collation, and
 * the locks among replicas, which need not survive a crash of the database.
 */
export const POSTGRES_SCHEMA = `CREATE TABLE IF NOT EXISTS public.keyv (
  key VARCHAR(${KEY_LENGTH}) NOT NULL, value TEXT, namespace VARCHAR(255) DEFAULT NULL, expires BIGINT DEFAULT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS keyv_key_namespace_idx ON public.keyv (key, COALESCE(namespace, ''));
CREATE INDEX IF NOT EXISTS keyv_expires_idx ON public.keyv (expires) WHERE expires IS NOT NULL;
CREATE INDEX IF NOT EXISTS keyv_prefix_idx ON public.keyv (key COLLATE "C");
CREATE UNLOGGED TABLE IF NOT EXISTS public.deckhand_leases (
  key TEXT PRIMARY KEY, holder UUID NOT NULL, until TIMESTAMPTZ NOT NULL);
`;

/** Two tables in a database that any number of replicas share. */
export async function openPostgres(
  url: string,
  access: Access,
  onError: (error: Error) => void,
): Promise<Database> {
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
    if (access !== 'read') await makeTables(pool);
    else if (await isMissing(pool)) throw new StoreError('There is no store of Deckhand in this database.');
    // It makes the same table by itself, which one whose owner is another role refuses it.
    const adapter = adapterOn(pool);
    await adapter.has('schema');
    return createDatabase(pool, adapter, onError);
  } catch (cause) {
    await pool.end();
    const { message } = cause instanceof StoreUnavailable ? cause : new StoreUnavailable(cause);
    throw storeFault(url, cause) ?? new StoreError(`${message}. Check STORE_URL.`, { cause });
  }
}

const MISSING = `SELECT to_regclass('public.keyv') IS NULL OR to_regclass('public.deckhand_leases') IS NULL AS missing`;
const SCHEMA_LOCK = 1_145_393_995;

async function isMissing(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ missing: boolean }>(MISSING);
  return rows[0]?.missing !== false;
}

/** Where they are missing: who owns them may be another role, which made them by `deckhand schema`. */
async function makeTables(pool: pg.Pool): Promise<void> {
  if (!(await isMissing(pool))) return expectRights(pool);
  // One replica at a time, because concurrent ones fail each other. Statements that are sent together are one transaction,
  // and the lock ends with it.
  await pool.query(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK}); ${POSTGRES_SCHEMA}`);
}

const LACKING = `SELECT privilege || ' on ' || oid::regclass AS right
  FROM pg_class CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
  WHERE NOT has_table_privilege(oid, privilege) AND relkind IN ('r', 'p') AND (relnamespace = to_regnamespace('pgboss')
    OR oid IN (to_regclass('public.keyv'), to_regclass('public.deckhand_leases'))) LIMIT 1`;

/** @throws what Postgres itself would throw at the first use of a right that was not granted */
async function expectRights(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ right: string }>(LACKING);
  if (rows[0] !== undefined)
    throw Object.assign(new Error(`${rows[0].right} is not granted`), { code: '42501' });
}

/**
 * keyv's adapter makes a pool of its own that cannot be reached, where a connection that is lost while idle would end
 * the process. So the clients of that pool, which can be chosen, hand everything to ours.
 */
function adapterOn(pool: pg.Pool): KeyvPostgres {
  class PooledClient extends EventEmitter {
    connect = (done: () => void): void => done();
    end = (done: () => void): void => done();
    query = (sql: string, values: unknown[], done: (error: Error, result: pg.QueryResult) => void): void =>
      pool.query(sql, values, done);
  }
  // Pools are shared by address and settings; this one is not to be shared.
  const options: object = { uri: `deckhand:${randomUUID()}`, keyLength: KEY_LENGTH, Client: PooledClient };
  return new KeyvPostgres(options);
}

function createDatabase(pool: pg.Pool, adapter: KeyvPostgres, onError: (error: Error) => void): Database {
  let isOpen = true;
  return {
    keyv: new Keyv<Envelope>({ store: adapter, serialization: SERIALIZATION }),
    range: async ({ from, to, limit, offset = 0, isDescending }: Range) => {
      const sql = isDescending ? RANGE_DESCENDING : RANGE;
      return (await pool.query<StoredRow>(sql, [from, to, limit ?? null, offset])).rows;
    },
    exclusive: createLeases(pool, onError),
    sweep: async () => {
      await adapter.clearExpired();
      // What a killed replica held names workspaces too.
      await pool.query('DELETE FROM public.deckhand_leases WHERE until < now()');
    },
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      await adapter.disconnect();
      await pool.end();
    },
  };
}

const RANGE = `SELECT key, value FROM public.keyv
  WHERE COALESCE(namespace, '') = '' AND key COLLATE "C" >= $1 AND key COLLATE "C" < $2
  ORDER BY key COLLATE "C" LIMIT $3 OFFSET $4`;
const RANGE_DESCENDING = RANGE.replace('LIMIT', 'DESC LIMIT');

/** Between two tries for a lock that another replica holds, in milliseconds; doubled up to the last. */
const FIRST_RETRY_MS = 5;
const MAX_RETRY_MS = 250;
/** After a replica was killed, others wait for what it held for so long. */
const LEASE_MS = 6_000;

const UNTIL = `now() + interval '${LEASE_MS} milliseconds'`;
const TAKE = `INSERT INTO public.deckhand_leases AS lease (key, holder, until) VALUES ($1, $2, ${UNTIL})
  ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE lease.until < now()`;
const RENEW = `UPDATE public.deckhand_leases SET until = ${UNTIL} WHERE key = $1 AND holder = $2`;
const RELEASE = 'DELETE FROM public.deckhand_leases WHERE key = $1 AND holder = $2';

/**
 * Locks across replicas, each a row that ends by the database's clock unless it is renewed. It holds no connection while its
 * work runs, so that a pool of any size will do, and a pooler that gives each transaction another session. A replica that
 * cannot reach the database for longer than a lease goes on with its work, and another may begin.
 */
function createLeases(pool: pg.Pool, onError: (error: Error) => void): Database['exclusive'] {
  const alone = createKeyedLock();

  async function take(key: string, holder: string): Promise<void> {
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, MAX_RETRY_MS)) {
      const { rowCount } = await mapDatabaseErrors(pool.query(TAKE, [key, holder]));
      if (rowCount === 1) return;
      await wait(retryMs * (0.5 + Math.random() / 2));
    }
  }

  return (key, work) =>
    alone(key, async () => {
      const holder = randomUUID();
      await take(key, holder);
      const renewing = setInterval(() => pool.query(RENEW, [key, holder]).catch(onError), LEASE_MS / 3);
      // If this fails, the lease ends by itself.
      const release = (): Promise<unknown> => {
        clearInterval(renewing);
        return pool.query(RELEASE, [key, holder]).catch(onError);
      };
      try {
        const result = await work();
        await release();
        return result;
      } catch (error) {
        // A database that is away would keep the caller waiting for a second time-out.
        void release();
        throw error;
      }
    });
}
