import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { listenHere } from './free-port.ts';

export type DatabaseProxy = Awaited<ReturnType<typeof openDatabaseProxy>>;

/** Stands between Deckhand and its Postgres, and fails as networks and failovers do. */
export async function openDatabaseProxy(target: string) {
  const { hostname, port } = new URL(target);
  const clients = new Set<Socket>();
  const dead = new Set<Socket>();
  let mode: 'open' | 'silent' | 'refusing' = 'open';
  let delayMs = 0;
  let sentBytes = 0;

  const server = createServer((client) => {
    if (mode === 'refusing') return void client.resetAndDestroy();
    const backend = connect(Number(port), hostname);
    clients.add(client);
    if (mode === 'silent') dead.add(client);
    const pass = (to: Socket, bytes: Buffer): void => {
      if (!dead.has(client) && !to.destroyed) to.write(bytes);
    };
    client.on('data', (bytes) => {
      if (delayMs === 0) pass(backend, bytes);
      else void wait(delayMs).then(() => pass(backend, bytes));
    });
    backend.on('data', (bytes) => {
      sentBytes += bytes.length;
      pass(client, bytes);
    });
    for (const [one, other] of [
      [client, backend],
      [backend, client],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => {
        if (one === client || !dead.has(client)) other.destroy();
      });
    }
    client.on('close', () => clients.delete(client));
  });
  const url = new URL(target);
  url.host = await listenHere(server);

  return {
    /** The `STORE_URL` through it. */
    url: url.href,
    /** How much the database has sent. */
    get sentBytes(): number {
      return sentBytes;
    },
    /** Neither open nor new connections carry anything any more, and none is closed. */
    silence(): void {
      mode = 'silent';
      for (const client of clients) dead.add(client);
    },
    /** New connections work again; those of the silence are dead for ever, as after a failover. */
    recover(): void {
      mode = 'open';
    },
    /** Delays all that is sent to the database. */
    slow(ms: number): void {
      delayMs = ms;
    },
    /** Resets all connections, and refuses new ones for so long. */
    async failOver(downMs: number): Promise<void> {
      mode = 'refusing';
      for (const client of clients) client.resetAndDestroy();
      await wait(downMs);
      mode = 'open';
    },
    async close(): Promise<void> {
      for (const client of clients) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
