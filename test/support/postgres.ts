import { afterAll } from 'vitest';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

let running: Promise<PostgresServer> | undefined;

afterAll(async () => {
  await (await running)?.stop();
});

/** The `STORE_URL` of a fresh, empty database; the server of this test file is started with the first one. */
export async function freshDatabase(): Promise<string> {
  running ??= startPostgres();
  return (await running).createDatabase();
}
