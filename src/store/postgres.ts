import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { KeyvPostgres } from '@keyv/postgres';
import { Keyv } from 'keyv';
import pg from 'pg';
import { inBatches } from '../core/batches.ts';
import { type Backend, endOfRange, type Row, type StoredRow } from './backend.ts';
import { databaseFault } from './database-fault.ts';
import { type Locks, openLocks } from './postgres-locks.ts';
import { StoreError, StoreUnavailable, type Tenancy } from './store.ts';

/** A statement, and the wait for a connection, end after this; the caller then learns of it. */
const TIMEOUT_MS = 15_000;
const MOST_CONNECTIONS = 10;
/** In characters, so it takes every key that the store lets through. */
const KEY_LENGTH = 1_000;

/** One table in a database that any number of replicas share. */
export async function openPostgres(url: string, onError: (error: Error) => void): Promise<Backend> {
  const pool = new pg.Pool({
    connectionString: url,
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    keepAlive: true,
    application_name: 'deckhand store',
  });
  // A connection that ends while idle is replaced; without a listener it would end the process.
  pool.on('error', onError);
  const locks = openLocks(url, TIMEOUT_MS, onError);
  try {
    const adapter = await locks.exclusive('deckhand schema', () => prepare(pool));
    return createBackend(pool, adapter, locks);
  } catch (cause) {
    await Promise.allSettled([locks.close(), pool.end()]);
    const { message } = cause instanceof StoreUnavailable ? cause : new StoreUnavailable(cause);
    throw databaseFault(url, cause) ?? new StoreError(`${message}. Check STORE_URL.`, { cause });
  }
}

/** Creates the table and its indexes. One replica at a time, because concurrent ones fail each other. */
async function prepare(pool: pg.Pool): Promise<KeyvPostgres> {
  const adapter = adapterOn(pool);
  await adapter.has('schema');
  // Byte order, whatever the database's collation, so that a prefix is a range of the index.
  await pool.query('CREATE INDEX IF NOT EXISTS keyv_prefix_idx ON keyv (key COLLATE "C")');
  return adapter;
}

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

function createBackend(pool: pg.Pool, adapter: KeyvPostgres, locks: Locks): Backend {
  const changes = async (sql: string, ...values: unknown[]): Promise<boolean> =>
    ((await pool.query(sql, values)).rowCount ?? 0) > 0;
  const rows = async (sql: string, ...values: unknown[]): Promise<StoredRow[]> =>
    (await pool.query<StoredRow>(sql, values)).rows;
  const readMany = async (keys: readonly string[]): Promise<Map<string, string>> =>
    new Map((await rows(READ, keys, Date.now())).map(({ key, value }) => [key, value]));
  const insert = inBatches((rows: Insert[]) => insertEach(pool, rows));
  let isOpen = true;
  return {
    keyv: new Keyv({ store: adapter }),
    read: async (key) => (await readMany([key])).get(key),
    readMany: async (keys) => {
      const found = await readMany(keys);
      return keys.map((key) => found.get(key));
    },
    put: ({ key, text, expires }, during) => changes(PUT, ...standing(during), key, text, expires ?? null),
    insert: async (row, during) => {
      const outcome = await insert({ row, during });
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    },
    replace: (from, { key, text, expires }, during) =>
      changes(REPLACE, ...standing(during), text, expires ?? null, key, from),
    remove: (key, from, during) => changes(REMOVE, ...standing(during), key, from),
    range: (prefix) => rows(RANGE, prefix, endOfRange(prefix)),
    rangeEnd: (prefix, limit, upTo = endOfRange(prefix)) => rows(RANGE_END, prefix, upTo, limit),
    deleteRange: async (prefix) => void (await pool.query(DELETE_RANGE, [prefix, endOfRange(prefix)])),
    // Dead rows are the database's to reclaim, by its own vacuum.
    scrub: async () => undefined,
    exclusive: locks.exclusive,
    sweep: () => adapter.clearExpired(),
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      await adapter.disconnect();
      await Promise.all([locks.close(), pool.end()]);
    },
  };
}

/** A row that is stored if its key is free. */
interface Insert {
  row: Row;
  during: Tenancy | undefined;
}

/** What the database refuses because of one row is tried row by row. */
async function insertEach(
  pool: pg.Pool,
  inserts: readonly Insert[],
): Promise<Array<PromiseSettledResult<boolean>>> {
  try {
    return await Promise.allSettled(await insertAll(pool, inserts));
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const alone = inserts.map(async (insert) => (await insertAll(pool, [insert])).includes(true));
    return Promise.allSettled(alone);
  }
}

/** In one statement. */
async function insertAll(pool: pg.Pool, inserts: readonly Insert[]): Promise<boolean[]> {
  // Of one key the first; one statement cannot store another, and for the others it is taken.
  const first = new Map(inserts.toReversed().map((insert) => [insert.row.key, insert]));
  const rows = [...first.values()];
  const columns = [
    rows.map(({ row }) => row.key),
    rows.map(({ row }) => row.text),
    rows.map(({ row }) => row.expires ?? null),
    rows.map(({ during }) => during?.key ?? null),
    rows.map(({ during }) => during?.text ?? null),
  ];
  const stored = await pool.query<{ key: string }>(INSERT_ALL, [...columns, Date.now()]);
  const keys = new Set(stored.rows.map(({ key }) => key));
  return inserts.map((insert) => first.get(insert.row.key) === insert && keys.has(insert.row.key));
}

/** The values of `STANDS`. */
function standing(during: Tenancy | undefined): Array<string | null> {
  return [during?.key ?? null, during?.text ?? null];
}

/** Holds the row until the write is committed, so that who ends the tenancy waits for it and finds what was written. */
const STANDS = `($1::text IS NULL OR EXISTS (SELECT 1 FROM keyv AS t
  WHERE t.key = $1 AND COALESCE(t.namespace, '') = '' AND t.value = $2 FOR KEY SHARE))`;
const PUT = `INSERT INTO keyv (key, value, expires) SELECT $3::text, $4::text, $5::bigint WHERE ${STANDS}
  ON CONFLICT (key, COALESCE(namespace, '')) DO UPDATE SET value = excluded.value, expires = excluded.expires`;
/** In the order of the keys, so that two writers never wait for each other. */
const INSERT_ALL = `INSERT INTO keyv (key, value, expires) SELECT r.key, r.text, r.expires
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[]) AS r (key, text, expires, during, standing)
  WHERE r.during IS NULL OR EXISTS (SELECT 1 FROM keyv AS t
    WHERE t.key = r.during AND COALESCE(t.namespace, '') = '' AND t.value = r.standing FOR KEY SHARE)
  ORDER BY r.key COLLATE "C"
  ON CONFLICT (key, COALESCE(namespace, '')) DO UPDATE SET value = excluded.value, expires = excluded.expires
    WHERE keyv.expires <= $6
  RETURNING key`;
const READ = `SELECT key, value FROM keyv
  WHERE key = ANY($1::text[]) AND COALESCE(namespace, '') = '' AND (expires IS NULL OR expires > $2)`;
const REPLACE = `UPDATE keyv SET value = $3, expires = $4
  WHERE key = $5 AND COALESCE(namespace, '') = '' AND value = $6 AND ${STANDS}`;
const REMOVE = `DELETE FROM keyv WHERE key = $3 AND COALESCE(namespace, '') = '' AND value = $4 AND ${STANDS}`;
const IN_RANGE = `key COLLATE "C" >= $1 AND key COLLATE "C" < $2`;
const RANGE = `SELECT key, value FROM keyv WHERE ${IN_RANGE} ORDER BY key COLLATE "C"`;
const RANGE_END = `SELECT key, value FROM keyv
  WHERE key COLLATE "C" >= $1 AND key COLLATE "C" <= $2 ORDER BY key COLLATE "C" DESC LIMIT $3`;
const DELETE_RANGE = `DELETE FROM keyv WHERE ${IN_RANGE}`;
