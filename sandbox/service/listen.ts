import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server that listens, and the origin to reach it by. */
export interface Listening {
  server: Server;
  origin: string;
}

/** Listens; 0 picks a free port. */
export async function listen(host: string, port: number): Promise<Listening> {
  const server = createServer();
  server.listen(port, host);
  await once(server, 'listening');
  return { server, origin: originOf(server, host) };
}

function originOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** Drops what is open. */
export async function close({ server }: Listening): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
