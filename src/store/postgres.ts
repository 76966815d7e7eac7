import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { KeyvPostgres } from '@keyv/postgres';
import { Keyv } from 'keyv';
import pg from 'pg';
import { createKeyedLock } from '../core/concurrency.ts';
import { StoreError, StoreUnavailable } from '../core/errors.ts';
import { CONNECTION_NAMES, openAs } from '../core/postgres-url.ts';
import { explainStoreFault } from './database-fault.ts';
import { type Database, type Envelope, type Range, SERIALIZATION, type StoredRow } from './documents.ts';
import type { Access } from './sqlite.ts';
import { mapDatabaseErrors } from './store.ts';

/** Time-out of a statement, and of the wait for a connection. It ends silent connections. */
const TIMEOUT_MS = 5_000;
const MAX_CONNECTIONS = 10;
/** In characters. Every key of the store fits. */
const KEY_LENGTH = 1_000;

/**
 * keyv's table of documents, with an index that makes a prefix a range in any collation; and the replicas'
 * table of locks, which need not survive a crash of the database.
 */
export const POSTGRES_SCHEMA = `CREATE TABLE IF NOT EXISTS public.keyv (
  key VARCHAR(${KEY_LENGTH}) NOT NULL, value TEXT, namespace VARCHAR(255) DEFAULT NULL, expires BIGINT DEFAULT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS keyv_key_namespace_idx ON public.keyv (key, COALESCE(namespace, ''));
CREATE INDEX IF NOT EXISTS keyv_expires_idx ON public.keyv (expires) WHERE expires IS NOT NULL;
CREATE INDEX IF NOT EXISTS keyv_prefix_idx ON public.keyv (key COLLATE "C");
CREATE UNLOGGED TABLE IF NOT EXISTS public.deckhand_leases (
  key TEXT PRIMARY KEY, holder UUID NOT NULL, until TIMESTAMPTZ NOT NULL);
`;

/** Opens the two tables, which any number of replicas share. */
export async function openPostgres(
  url: string,
  access: Access,
  onError: (error: Error) => void,
): Promise<Database> {
  const pool = new pg.Pool({
    ...openAs(url, CONNECTION_NAMES.store),
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    keepAlive: true,
  });
  // Without a listener, an idle connection that ends would end the process.
  pool.on('error', onError);
  try {
    if (access !== 'read') await expectSettings(pool, url);
    if (access !== 'read') await makeTables(pool);
    else if (await isMissing(pool)) throw new StoreError('There is no store of Deckhand in this database.');
    // The adapter creates the same table, which fails if another role owns it.
    const adapter = adapterOn(pool);
    await adapter.has('schema');
    return createPostgresDatabase(pool, adapter, onError);
  } catch (cause) {
    await pool.end();
    const { message } = cause instanceof StoreUnavailable ? cause : new StoreUnavailable(cause);
    throw explainStoreFault(url, cause) ?? new StoreError(`${message}. Check STORE_URL.`, { cause });
  }
}

const SETTINGS = `SELECT current_setting('server_encoding') AS encoding, current_setting('standard_conforming_strings') AS strings`;
/** The second converts nothing, so that it holds every letter too. */
const ENCODINGS: ReadonlySet<unknown> = new Set(['UTF8', 'SQL_ASCII']);

/** @throws StoreError if the database cannot store every text */
async function expectSettings(pool: pg.Pool, url: string): Promise<void> {
  const { rows } = await pool.query<Record<'encoding' | 'strings', string>>(SETTINGS);
  const { encoding, strings } = rows[0] ?? {};
  const database = decodeURIComponent(new URL(url).pathname.slice(1));
  if (!ENCODINGS.has(encoding))
    throw new StoreError(
      `The database ${database} is encoded in ${encoding}, which lacks letters that people use. Create one with ENCODING 'UTF8' TEMPLATE template0, and give STORE_URL that.`,
    );
  if (strings !== 'on')
    throw new StoreError(
      `The database ${database} has standard_conforming_strings off. Switch it on for the user of STORE_URL: ALTER ROLE … SET standard_conforming_strings = on.`,
    );
}

const MISSING = `SELECT to_regclass('public.keyv') IS NULL OR to_regclass('public.deckhand_leases') IS NULL AS missing`;
const SCHEMA_LOCK = 1_145_393_995;

async function isMissing(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ missing: boolean }>(MISSING);
  return rows[0]?.missing !== false;
}

/** Creates missing tables. Another role may own them, and have created them with `deckhand schema`. */
async function makeTables(pool: pg.Pool): Promise<void> {
  if (!(await isMissing(pool))) return expectRights(pool);
  // A lock, because simultaneous replicas would fail. The statements of one query are one transaction, which ends the lock.
  await pool.query(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK}); ${POSTGRES_SCHEMA}`);
}

const LACKING = `SELECT privilege || ' on ' || oid::regclass AS right
  FROM pg_class CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
  WHERE NOT has_table_privilege(oid, privilege) AND relkind IN ('r', 'p') AND (relnamespace = to_regnamespace('pgboss')
    OR oid IN (to_regclass('public.keyv'), to_regclass('public.deckhand_leases'))) LIMIT 1`;

/** @throws the error of Postgres for a missing right */
async function expectRights(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ right: string }>(LACKING);
  if (rows[0] !== undefined)
    throw Object.assign(new Error(`${rows[0].right} is not granted`), { code: '42501' });
}

/**
 * keyv's adapter creates a private pool, whose lost idle connections would end the process. Its clients can
 * be replaced, so these pass everything on to Deckhand's pool.
 */
function adapterOn(pool: pg.Pool): KeyvPostgres {
  class PooledClient extends EventEmitter {
    connect = (done: () => void): void => done();
    end = (done: () => void): void => done();
    query = (sql: string, values: unknown[], done: (error: Error, result: pg.QueryResult) => void): void =>
      pool.query(sql, values, done);
  }
  // keyv shares pools by address and settings. A random address keeps this one apart.
  const options: object = { uri: `deckhand:${randomUUID()}`, keyLength: KEY_LENGTH, Client: PooledClient };
  return new KeyvPostgres(options);
}

function createPostgresDatabase(
  pool: pg.Pool,
  adapter: KeyvPostgres,
  onError: (error: Error) => void,
): Database {
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
      // Leases of a killed replica name workspaces too.
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

/** First pause between two tries for another replica's lock; doubled up to the maximum. */
const FIRST_RETRY_MS = 5;
const MAX_RETRY_MS = 250;
/** Lease time: how long others wait after a replica dies. */
const LEASE_MS = 6_000;

const UNTIL = `now() + interval '${LEASE_MS} milliseconds'`;
const TAKE = `INSERT INTO public.deckhand_leases AS lease (key, holder, until) VALUES ($1, $2, ${UNTIL})
  ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE lease.until < now()`;
const RENEW = `UPDATE public.deckhand_leases SET until = ${UNTIL} WHERE key = $1 AND holder = $2`;
const RELEASE = 'DELETE FROM public.deckhand_leases WHERE key = $1 AND holder = $2';

/**
 * Locks across replicas. Each is a row that expires by the database's clock unless its replica renews it. It
 * holds no connection, so it works with a small pool, and with a pooler that changes sessions. If a replica
 * cannot reach the database for longer than a lease, its work continues, and another replica may begin.
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
      // If this fails, the lease expires by itself.
      const release = (): Promise<unknown> => {
        clearInterval(renewing);
        return pool.query(RELEASE, [key, holder]).catch(onError);
      };
      try {
        const result = await work();
        await release();
        return result;
      } catch (error) {
        // Not awaited: without a database the caller would wait for a second time-out.
        void release();
        throw error;
      }
    });
}
