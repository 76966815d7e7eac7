import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { ACCOUNT, type Account, DAY_MS, OTHERS, type Subject } from './subject.ts';

/** Prepared statements of Node's own driver on plain tables, with the same promises to the disk. */
export function openSqliteByHand(url: string): Subject {
  const db = new DatabaseSync(url.slice('sqlite://'.length), { timeout: 5_000 });
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON');
  db.exec('CREATE TABLE IF NOT EXISTS docs (key TEXT PRIMARY KEY, value TEXT NOT NULL)');
  db.exec(
    'CREATE TABLE IF NOT EXISTS jobs (id INTEGER PRIMARY KEY, due INTEGER NOT NULL, data TEXT NOT NULL)',
  );
  db.exec('CREATE INDEX IF NOT EXISTS due ON jobs (due)');
  const read = db.prepare('SELECT value FROM docs WHERE key = ?');
  const write = db.prepare(
    'INSERT INTO docs VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  );
  const insert = db.prepare('INSERT INTO jobs (due, data) VALUES (?, ?)');
  const take = db.prepare(
    'DELETE FROM jobs WHERE id = (SELECT id FROM jobs WHERE due <= ? ORDER BY due LIMIT 1) RETURNING data',
  );
  let isOpen = true;
  let working: Promise<void> | undefined;

  function get(workspace: string): Account {
    const row = read.get(`${workspace}/acme`) as { value: string } | undefined;
    return row === undefined ? ACCOUNT : (JSON.parse(row.value) as Account);
  }

  return {
    async fill(workspaces) {
      for (const workspace of workspaces) {
        write.run(`${workspace}/acme`, JSON.stringify(ACCOUNT));
        for (let at = 0; at < OTHERS; at += 1) write.run(`${workspace}/${at}`, JSON.stringify(ACCOUNT));
        insert.run(Date.now() + DAY_MS, JSON.stringify({ workspace }));
      }
    },
    get: async (workspace) => get(workspace),
    put: async (workspace) => write.run(`${workspace}/acme`, JSON.stringify(ACCOUNT)),
    async update(workspace) {
      db.exec('BEGIN IMMEDIATE');
      const account = get(workspace);
      write.run(`${workspace}/acme`, JSON.stringify({ ...account, uses: account.uses + 1 }));
      db.exec('COMMIT');
    },
    send: async (workspace) => insert.run(Date.now(), JSON.stringify({ workspace })),
    async work(onHandled) {
      working = (async () => {
        while (isOpen) {
          if (take.get(Date.now()) === undefined) await turn();
          else onHandled();
        }
      })();
    },
    async close() {
      isOpen = false;
      await working;
      db.close();
    },
  };
}
