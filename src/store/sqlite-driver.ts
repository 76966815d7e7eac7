import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { SqliteDriver } from '@keyv/sqlite';
import { whenFree } from '../core/when-free.ts';

/** Far more than there are; a statement for a list of unusual length is not kept. */
const MOST_KEPT = 200;

/** keyv on our own connection, with statements kept: preparing one anew takes longer than running it. */
export function createDriver(db: DatabaseSync): SqliteDriver {
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
    name: 'custom',
    connect: async () => ({
      query: (sql, ...values) => whenFree(() => prepare(sql).all(...(values as SQLInputValue[]))),
      close: async () => db.close(),
    }),
  };
}
