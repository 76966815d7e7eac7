import { type Clock as BossClock, type Db, PgBoss, type Queue } from 'pg-boss';

/**
 * A replica shows every 5 s that its jobs are alive. After 15 s without that they are open to others, which is
 * looked after every 3 s, and fetched every 2 s: so a killed replica's jobs run elsewhere within 20 s.
 */
export const LEASE = { pollMs: 2_000, beatMs: 5_000, leaseMs: 15_000 };
const SUPERVISE_SECONDS = 3;

const MOST_CONNECTIONS = 6;
const DAY_SECONDS = 86_400;

/** pg-boss, not started, as the keeper of jobs alone: what runs them and when is ours. */
export function createBoss(url: string, clock?: BossClock | undefined): PgBoss {
  return new PgBoss({
    connectionString: url,
    application_name: 'deckhand engine',
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: 15_000,
    schedule: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    flowIntervalSeconds: DAY_SECONDS,
    warningQueueSize: 1_000_000,
    ...(clock === undefined ? {} : { clock }),
  });
}

/** Unique keys, and leases. */
export const QUEUE_OPTIONS: Omit<Queue, 'name'> = {
  policy: 'exclusive',
  heartbeatSeconds: LEASE.leaseMs / 1_000,
  // Failures are counted and timed by us; pg-boss's retries are our releases and take-overs from dead replicas.
  retryLimit: 1_000_000,
  retryDelay: 0,
  expireInSeconds: DAY_SECONDS,
  retentionSeconds: 365 * DAY_SECONDS,
  // Of what was set aside; nothing stays of other jobs.
  deleteAfterSeconds: 365 * DAY_SECONDS,
};

export async function beginTransaction(boss: PgBoss) {
  const transaction = await boss.getDb().beginTransaction?.();
  if (transaction === undefined) throw new Error('pg-boss was not given a pool of its own');
  return transaction;
}

export async function inTransaction<T>(boss: PgBoss, work: (db: Db) => Promise<T>): Promise<T> {
  const transaction = await beginTransaction(boss);
  try {
    const result = await work(transaction.db);
    await transaction.commit();
    return result;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}
