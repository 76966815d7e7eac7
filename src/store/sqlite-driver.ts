import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { SqliteDriver } from '@keyv/sqlite';
import { createGroupCommit } from '../core/group-commit.ts';
import { whenFree } from '../core/when-free.ts';

/** Far more than there are; a statement for a list of unusual length is not kept. */
const MOST_KEPT = 200;

/** Runs a statement that writes, together with what else is written meanwhile, and resolves with its rows. */
export type Write = (sql: string, ...values: SQLInputValue[]) => Promise<unknown[]>;

/** keyv on our own connection, with statements kept: preparing one anew takes longer than running it. */
export function createDriver(db: DatabaseSync): { driver: SqliteDriver; together: Write } {
  const commit = createGroupCommit(db);
  const kept = new Map<string, StatementSync>();

  function prepare(sql: string): StatementSync {
    const known = kept.get(sql);
    if (known !== undefined) return known;
    if (kept.size >= MOST_KEPT) kept.clear();
    const statement = db.prepare(sql);
    kept.set(sql, statement);
    return statement;
  }

  const driver: SqliteDriver = {
    name: 'custom',
    connect: async () => ({
      query: (sql, ...values) => whenFree(() => prepare(sql).all(...(values as SQLInputValue[]))),
      close: async () => db.close(),
    }),
  };
  return { driver, together: (sql, ...values) => commit(() => prepare(sql).all(...values)) };
}
