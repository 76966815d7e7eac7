import pg from 'pg';

/** Slots fall due, and leases end, by the database's clock, which pg-boss asks through this function alone. */
export async function setDatabaseClock(url: string, aheadMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE OR REPLACE FUNCTION pgboss.job_now() RETURNS timestamptz LANGUAGE sql STABLE
    AS $$ SELECT now() + interval '${aheadMs} milliseconds' $$`);
  await client.end();
}
