import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { createKeyedLock } from '../core/locks.ts';
import { mapDatabaseErrors } from './store.ts';

/** Between two tries for a lock that another replica holds, in milliseconds; doubled up to the last. */
const FIRST_RETRY_MS = 5;
const MAX_RETRY_MS = 250;

/** After a replica was killed, others wait for what it held for so long. */
const LEASE_MS = 6_000;
const RENEW_MS = LEASE_MS / 3;

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
export function createLeases(pool: pg.Pool, onError: (error: Error) => void) {
  const alone = createKeyedLock();

  async function take(key: string, holder: string): Promise<void> {
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, MAX_RETRY_MS)) {
      const { rowCount } = await mapDatabaseErrors(pool.query(TAKE, [key, holder]));
      if (rowCount === 1) return;
      await wait(retryMs * (0.5 + Math.random() / 2));
    }
  }

  return <T>(key: string, work: () => Promise<T>): Promise<T> =>
    alone(key, async () => {
      const holder = randomUUID();
      await take(key, holder);
      const renewing = setInterval(() => pool.query(RENEW, [key, holder]).catch(onError), RENEW_MS);
      try {
        return await work();
      } finally {
        clearInterval(renewing);
        // Where this fails, the lease ends by itself.
        await pool.query(RELEASE, [key, holder]).catch(onError);
      }
    });
}
