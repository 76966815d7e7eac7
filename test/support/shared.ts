import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { bundle } from './bundle.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

/** What all workers of a run share. Each is made when it is asked for first. */
type Shared = 'bundle' | 'database';

/** Vitest calls this once a run, before it starts its workers. */
export async function setup(): Promise<() => Promise<void>> {
  let bundled: Promise<string> | undefined;
  let postgres: Promise<PostgresServer> | undefined;
  const make: Record<Shared, () => Promise<string>> = {
    bundle() {
      bundled ??= bundle();
      return bundled;
    },
    async database() {
      postgres ??= startPostgres();
      return (await postgres).createDatabase();
    },
  };
  const server = createServer(async ({ url = '' }, response) => {
    try {
      response.end(await make[url.slice(1) as Shared]());
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.env.DECKHAND_TEST_SHARED = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    server.close();
    server.closeAllConnections();
    await (await postgres)?.stop();
  };
}

/** @returns the bundle's folder, or the address of a database that is empty and nobody else's */
export async function shared(what: Shared): Promise<string> {
  const answer = await fetch(`${process.env.DECKHAND_TEST_SHARED}/${what}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}
