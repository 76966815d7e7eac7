import pg from 'pg';
import { ACCOUNT, type Account, OTHERS, type Subject } from './subject.ts';
import { openPgBossByHand } from './subject-pg-boss.ts';

/** Queries of the driver on a plain table, and jobs by pg-boss's own calls. */
export async function openPostgresByHand(url: string): Promise<Subject> {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  await pool.query('CREATE TABLE IF NOT EXISTS docs (key text PRIMARY KEY, value jsonb NOT NULL)');
  const jobs = await openPgBossByHand(url);
  const write = (db: pg.Pool | pg.PoolClient, key: string, account: Account) =>
    db.query('INSERT INTO docs VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value', [
      key,
      JSON.stringify(account),
    ]);

  return {
    async fill(workspaces) {
      for (const workspace of workspaces) {
        await write(pool, `${workspace}/acme`, ACCOUNT);
        for (let at = 0; at < OTHERS; at += 1) await write(pool, `${workspace}/${at}`, ACCOUNT);
      }
      await jobs.fill(workspaces);
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
    send: jobs.send,
    work: jobs.work,
    async close() {
      await jobs.close();
      await pool.end();
    },
  };
}
