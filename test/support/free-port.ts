import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** Below what systems hand out to those who ask for any port, so that no such server takes it before its user does. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** A port of this machine that is free, for what must know its port before it listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) return port;
  }
}

let ofPages = 0;

/**
 * Where this worker serves the local workspace, one after the other: a browser's page of one is at home in the next, and
 * need not be loaded again.
 */
export async function portOfPages(): Promise<number> {
  if (ofPages === 0 || !(await isFree(ofPages))) ofPages = await freePort();
  return ofPages;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Has the server listen on this machine, at a port that the system chooses. @returns `127.0.0.1:<port>` */
export async function listenHere(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
