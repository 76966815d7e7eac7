import { byLength } from '../support/length.ts';
import { freshDatabase } from '../support/postgres.ts';
import { temporarySqlite } from '../support/temporary.ts';

/** Every kind of database the store must behave the same on. */
export const DATABASES: ReadonlyArray<{ name: string; fresh: () => Promise<string> }> = [
  { name: 'sqlite', fresh: temporarySqlite },
  { name: 'postgres', fresh: freshDatabase },
];

/** For what goes through the store as everything does: the short form tries it on one of them. */
export const TRIED = DATABASES.slice(0, byLength(1, DATABASES.length));
