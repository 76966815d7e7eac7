import { freshDatabase } from '../support/postgres.ts';
import { temporarySqlite } from '../support/temporary.ts';

/** Every kind of database the store must behave the same on. */
export const DATABASES: ReadonlyArray<{ name: string; fresh: () => Promise<string> }> = [
  { name: 'sqlite', fresh: temporarySqlite },
  { name: 'postgres', fresh: freshDatabase },
];
