import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { SqliteDriver } from '@keyv/sqlite';

/** Far more than there are; a statement for a list of unusual length must not stay for ever. */
const MOST_KEPT = 200;

/** `node:sqlite`, with statements kept: preparing one anew takes longer than running it. */
export const keepingDriver: SqliteDriver = {
  name: 'node:sqlite',
  async connect({ filename, busyTimeout = 0, wal }) {
    const db = new DatabaseSync(filename, { timeout: busyTimeout });
    if (wal) db.exec('PRAGMA journal_mode = WAL');
    const kept = new Map<string, StatementSync>();

    function prepare(sql: string): StatementSync {
      const known = kept.get(sql);
      if (known !== undefined) return known;
      if (kept.size >= MOST_KEPT) kept.clear();
      const statement = db.prepare(sql);
      kept.set(sql, statement);
      return statement;
    }

    return {
      query: async (sql, ...values) => prepare(sql).all(...(values as SQLInputValue[])),
      close: async () => {
        kept.clear();
        db.close();
      },
    };
  },
};
