import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { isPostgres } from '../../src/store/open-store.ts';

/** Matches the data of a job that carries out a form. */
const FORM = '%"kind":"form"%';

/** Whether a form is stored that was not carried out to its end. */
export async function hasFormsLeft(url: string): Promise<boolean> {
  return isPostgres(url) ? hasRowsInPostgres(url) : hasRowsInSqlite(url);
}

async function hasRowsInPostgres(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query(
    `SELECT 1 FROM pgboss.job WHERE name = 'requests' AND data->>'data' LIKE '${FORM}' AND state < 'completed'`,
  );
  await client.end();
  return rows.length > 0;
}

function hasRowsInSqlite(url: string): boolean {
  const db = new DatabaseSync(url.slice('sqlite://'.length), { readOnly: true });
  const row = db
    .prepare(`SELECT 1 FROM deckhand_jobs WHERE queue = 'requests' AND data LIKE '${FORM}' AND state < 2`)
    .get();
  db.close();
  return row !== undefined;
}
