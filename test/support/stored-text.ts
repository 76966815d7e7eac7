import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { isPostgres } from '../../src/store/open-store.ts';

/** All that a database holds, as anybody reads it who has its files or a login. */
export async function storedText(url: string): Promise<string> {
  if (isPostgres(url)) return dump(url);
  const folder = dirname(url.slice('sqlite://'.length));
  const files = await readdir(folder);
  return (await Promise.all(files.map((file) => readFile(join(folder, file), 'latin1')))).join('\n');
}

async function dump(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const tables = await client.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const rows: string[] = [];
  for (const { name } of tables.rows)
    rows.push(
      ...(await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)).rows.map(
        ({ row }) => row,
      ),
    );
  await client.end();
  return rows.join('\n');
}

/** The rows that a database holds. */
export async function storedRows(url: string): Promise<string> {
  if (isPostgres(url)) return dump(url);
  const db = new DatabaseSync(url.slice('sqlite://'.length), { readOnly: true });
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  const rows = tables.flatMap(({ name }) => db.prepare(`SELECT * FROM "${name}"`).all());
  db.close();
  return rows.map((row) => JSON.stringify(row)).join('\n');
}
