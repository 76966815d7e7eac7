import { DatabaseSync } from 'node:sqlite';
import type { TestWorld } from './test-world.ts';

/** Has the world's SQLite refuse rows, as a full disk would. */
export function failingDatabase({ config }: Pick<TestWorld, 'config'>) {
  const path = config.STORE_URL.slice('sqlite://'.length);
  function execute(sql: string): void {
    const database = new DatabaseSync(path, { timeout: 5_000 });
    database.exec(sql);
    database.close();
  }
  return {
    /** New rows of a table; of documents those alone whose key holds the words. */
    refuse(table: 'keyv' | 'deckhand_jobs', words?: string): void {
      const when =
        words === undefined ? '' : `WHEN NEW.${table === 'keyv' ? 'key' : 'queue'} LIKE '%${words}%'`;
      execute(`CREATE TRIGGER refused BEFORE INSERT ON ${table} ${when}
        BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`);
    },
    accept: () => execute('DROP TRIGGER IF EXISTS refused'),
  };
}
