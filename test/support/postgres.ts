import { shared } from './shared.ts';

/** The `STORE_URL` of a fresh, empty database, on the one server of this run. */
export function freshDatabase(): Promise<string> {
  return shared('database');
}
