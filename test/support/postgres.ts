import { shared } from './shared.ts';

/** The `STORE_URL` of a fresh database with Deckhand's tables and nothing in them, on the one server of this run. */
export function freshDatabase(): Promise<string> {
  return shared('database');
}

/** One without any table, as operators give it to a new Deckhand. */
export function emptyDatabase(): Promise<string> {
  return shared('empty-database');
}
