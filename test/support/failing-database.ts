import { DatabaseSync } from 'node:sqlite';
import type { TestWorld } from './test-world.ts';

/** Rows that the database of the world refuses, as a full disk would. */
export interface FailingDatabase {
  /** New rows of a table; of documents those alone whose key holds the words. */
  refuse(table: 'keyv' | 'deckhand_jobs', words?: string): void;
  accept(): void;
}

/** On SQLite. */
export function failingDatabase({ config }: Pick<TestWorld, 'config'>): FailingDatabase {
  const path = config.STORE_URL.slice('sqlite://'.length);
  function execute(sql: string): void {
    const database = new DatabaseSync(path, { timeout: 5_000 });
    database.exec(sql);
    database.close();
  }
  return {
    refuse(table, words) {
      const when =
        words === undefined ? '' : `WHEN NEW.${table === 'keyv' ? 'key' : 'queue'} LIKE '%${words}%'`;
      execute(`CREATE TRIGGER refused BEFORE INSERT ON ${table} ${when}
        BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`);
    },
    accept: () => execute('DROP TRIGGER IF EXISTS refused'),
  };
}
