import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { ACCOUNT, type Account, AT_ONCE, DAY_MS, OTHERS, type Subject } from './subject.ts';

/** How long a worker that found nothing waits, in milliseconds. */
const IDLE_MS = 5;

/** Queries of the driver on plain tables; jobs by `SKIP LOCKED`, which is how one is written by hand. */
export async function openPostgresByHand(url: string): Promise<Subject> {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  await pool.query(`CREATE TABLE IF NOT EXISTS docs (key text PRIMARY KEY, value jsonb NOT NULL);
    CREATE TABLE IF NOT EXISTS jobs (id bigserial PRIMARY KEY, due bigint NOT NULL, data jsonb NOT NULL);
    CREATE INDEX IF NOT EXISTS due ON jobs (due)`);
  const write = (db: pg.Pool | pg.PoolClient, key: string, account: Account) =>
    db.query('INSERT INTO docs VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value', [
      key,
      JSON.stringify(account),
    ]);
  const insert = (due: number, workspace: string) =>
    pool.query('INSERT INTO jobs (due, data) VALUES ($1, $2)', [due, JSON.stringify({ workspace })]);
  let isOpen = true;
  const workers: Promise<void>[] = [];

  async function handle(onHandled: () => void): Promise<void> {
    while (isOpen) {
      const { rowCount } = await pool.query(
        `DELETE FROM jobs WHERE id = (SELECT id FROM jobs WHERE due <= $1 ORDER BY due LIMIT 1
          FOR UPDATE SKIP LOCKED) RETURNING data`,
        [Date.now()],
      );
      if (rowCount === 0) await pause(IDLE_MS);
      else onHandled();
    }
  }

  return {
    async fill(workspaces) {
      for (const workspace of workspaces) {
        await write(pool, `${workspace}/acme`, ACCOUNT);
        for (let at = 0; at < OTHERS; at += 1) await write(pool, `${workspace}/${at}`, ACCOUNT);
        await insert(Date.now() + DAY_MS, workspace);
      }
    },
    get: (workspace) => pool.query('SELECT value FROM docs WHERE key = $1', [`${workspace}/acme`]),
    put: (workspace) => write(pool, `${workspace}/acme`, ACCOUNT),
    async update(workspace) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        const found = await client.query<{ value: Account }>(
          'SELECT value FROM docs WHERE key = $1 FOR UPDATE',
          [`${workspace}/acme`],
        );
        const account = found.rows[0]?.value ?? ACCOUNT;
        await write(client, `${workspace}/acme`, { ...account, uses: account.uses + 1 });
        await client.query('COMMIT');
      } finally {
        client.release();
      }
    },
    send: (workspace) => insert(Date.now(), workspace),
    async work(onHandled) {
      for (let at = 0; at < AT_ONCE; at += 1) workers.push(handle(onHandled));
    },
    async close() {
      isOpen = false;
      await Promise.all(workers);
      await pool.end();
    },
  };
}
