import { createServer } from 'node:net';

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

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
