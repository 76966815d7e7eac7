import pg from 'pg';

/** Slots fall due, and leases end, by the database's clock, which is asked through these two functions alone. */
export async function setDatabaseClock(url: string, aheadMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const name of ['pgboss.job_now', 'deckhand_now'])
    await client.query(`CREATE OR REPLACE FUNCTION ${name}() RETURNS timestamptz LANGUAGE sql STABLE
      AS $$ SELECT now() + interval '${aheadMs} milliseconds' $$`);
  await client.end();
}
