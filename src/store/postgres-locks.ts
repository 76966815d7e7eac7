import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createKeyedLock } from '../core/locks.ts';
import { asking } from './store.ts';

export type Locks = ReturnType<typeof openLocks>;

/** Between two tries for a lock that another replica holds, in milliseconds; doubled up to the second. */
const FIRST_RETRY_MS = 5;
const LONGEST_RETRY_MS = 250;

const TRY_LOCK = 'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken';
const UNLOCK = 'SELECT pg_advisory_unlock(hashtextextended($1, 0))';

/**
 * Locks across replicas, all held by one connection: a lock that held a connection of a pool for as long as
 * its work runs could use up the pool that this work needs. The database frees them when the process dies. If
 * the connection breaks while work runs, another replica may begin.
 */
export function openLocks(url: string, timeoutMs: number, onError: (error: Error) => void) {
  const alone = createKeyedLock();
  /** The driver wants one statement at a time on a connection. */
  const inTurn = createKeyedLock();
  let session: Promise<pg.Client> | undefined;

  function connected(): Promise<pg.Client> {
    if (session !== undefined) return session;
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
      application_name: 'deckhand locks',
    });
    const opening = client.connect().then(() => client);
    const forget = (): void => {
      if (session === opening) session = undefined;
    };
    // A broken connection says so before it ends, and must not be used in between.
    client.on('error', (error) => {
      forget();
      onError(error);
    });
    client.on('end', forget);
    opening.catch(forget);
    session = opening;
    return opening;
  }

  /** A session that the database ends, or the network cuts, while it opens is followed by one other. */
  function opened(): Promise<pg.Client> {
    return connected().catch((error: unknown) => {
      if (!wasCut(error)) throw error;
      return connected();
    });
  }

  /** Undefined where there is none, or it could not be opened. */
  async function standing(): Promise<pg.Client | undefined> {
    return session?.catch(() => undefined);
  }

  async function acquire(key: string): Promise<pg.Client> {
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)) {
      const client = await opened();
      if (await isTaken(client, key)) return client;
      await wait(retryMs * (0.5 + Math.random() / 2));
    }
  }

  /** A session that breaks over the question never had the lock: the next try asks on a new one. */
  async function isTaken(client: pg.Client, key: string): Promise<boolean> {
    try {
      const { rows } = await inTurn('session', () => client.query<{ taken: boolean }>(TRY_LOCK, [key]));
      return rows[0]?.taken === true;
    } catch (error) {
      if ((await standing()) !== client) return false;
      if (!isEndOfSession(error)) throw error;
      session = undefined;
      return false;
    }
  }

  async function release(client: pg.Client, key: string): Promise<void> {
    try {
      await inTurn('session', () => client.query(UNLOCK, [key]));
    } catch (error) {
      // The work is done. Without its session the lock is gone anyway, so the session goes too.
      onError(error instanceof Error ? error : new Error('a lock was not released', { cause: error }));
      if ((await standing()) === client) session = undefined;
      client.end().catch(onError);
    }
  }

  return {
    exclusive: <T>(key: string, work: () => Promise<T>): Promise<T> =>
      alone(key, async () => {
        const client = await asking(acquire(`deckhand ${key}`));
        try {
          return await work();
        } finally {
          await release(client, `deckhand ${key}`);
        }
      }),
    async close(): Promise<void> {
      const client = await standing();
      await client?.end();
    },
  };
}

/** True of an end from outside, which says nothing of the next session; unlike a refusal, or a database that is away. */
function wasCut(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'ECONNRESET' || error.code === ADMIN_SHUTDOWN;
}

const ADMIN_SHUTDOWN = '57P01';

/** What a statement that is under way meets before the connection says that it ends. */
function isEndOfSession(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'FATAL';
}
