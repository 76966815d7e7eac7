import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net';

/** Where a server listens. */
export interface ListeningSockets {
  port: number;
  /** Stops accepting. Resolves when every connection has ended. */
  close(): Promise<void>;
}

/**
 * Has `server` accept from so many sockets of one port; from one where the system cannot share a port. The event loop
 * takes one new connection a turn from each socket, and in a burst a turn takes tens of milliseconds: on one socket, the
 * last of 500 connections would be accepted seconds late.
 * @throws what `listen` fails with, also where another process listens there and would share the port
 */
export async function openSockets(
  server: Server,
  { host, port, sockets }: { host: string; port: number; sockets: number },
): Promise<ListeningSockets> {
  const isShared = sockets > 1 && (await canShare(host, port));
  await listenOn(server, { host, port, reusePort: isShared });
  const at = server.address() as AddressInfo;
  const others = Array.from({ length: isShared ? sockets - 1 : 0 }, () => acceptFor(server));
  const shared = { host: at.address, port: at.port, reusePort: true };
  await Promise.all(others.map((other) => listenOn(other, shared)));
  return { port: at.port, close: async () => void (await Promise.all([server, ...others].map(close))) };
}

/**
 * Whether the system lets sockets share a port. Tried first with a socket that shares nothing: where another process
 * listens, that alone is refused.
 */
async function canShare(host: string, port: number): Promise<boolean> {
  const probe = createServer();
  await listenOn(probe, { host, port });
  await close(probe);
  try {
    await listenOn(probe, { host, port: 0, reusePort: true });
    await close(probe);
    return true;
  } catch (error) {
    // macOS and Windows.
    if (error instanceof Error && 'code' in error && error.code === 'ENOTSUP') return false;
    throw error;
  }
}

/** With the options that `http.Server` gives to its own socket. */
function acceptFor(server: Server): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
}

function listenOn(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
  });
}
