import { once } from 'node:events';
import { createServer } from 'node:net';

/** The preferred port where it is free, else any other. */
export async function freePort(preferred: number): Promise<number> {
  const server = createServer();
  server.listen(preferred, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if (preferred !== 0 && error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
      return freePort(0);
    throw error;
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : preferred;
}
