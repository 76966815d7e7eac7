import { type PostgresServer, startPostgres } from './postgres-server.ts';

let running: Promise<PostgresServer> | undefined;

/**
 * The `STORE_URL` of a fresh, empty database. The server is started with the first one and shared by all files of
 * this worker; it ends with the worker.
 */
export async function freshDatabase(): Promise<string> {
  running ??= startPostgres();
  return (await running).createDatabase();
}
