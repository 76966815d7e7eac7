import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { createControl } from './control.ts';
import { serveSockets } from './deliver/socket-mode.ts';
import { explainFault, ownSiteOnly } from './guard.ts';
import { createHandle } from './handle.ts';
import { createHttp } from './http.ts';
import type { LocalSlack, LocalSlackOptions } from './local-slack.ts';
import { createPageApi } from './page-api.ts';
import { createPageFiles } from './page-files.ts';
import { createWorld, type World } from './world.ts';

/**
 * Reads a request to its end before it is dealt with: Slack carries out what reached it, also where its sender has died
 * since.
 */
function takeWhole(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  listener: ReturnType<typeof getRequestListener>,
): void {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('error', () => incoming.destroy());
  incoming.once('end', () => {
    // The adapter takes a body that was read already by this name.
    void listener(Object.assign(incoming, { rawBody: Buffer.concat(chunks) }), outgoing);
  });
}

/** Routes are compiled once for all local Slacks of a process. */
const http = createHttp();

/** Starts a Slack of one's own, with no workspace in it yet. */
export async function startLocalSlack(options: LocalSlackOptions = {}): Promise<LocalSlack> {
  const world = createWorld(options);
  const listener = getRequestListener(
    (request, connection) => http.fetch(request, { ...connection, world, ownPages }),
    { overrideGlobalObjects: false },
  );
  const server = createServer((incoming, outgoing) => takeWhole(incoming, outgoing, listener));
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  world.origin = `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`;
  const slack = createHandle(world, () => stop(world, server));
  serveSockets(world, server);
  let pages: Hono | undefined;
  /** Made where something asks for them. */
  function ownPages(): Hono {
    pages ??= createOwnPages(world, slack, options.pageDir);
    return pages;
  }
  return slack;
}

function createOwnPages(world: World, slack: LocalSlack, pageDir?: string): Hono {
  const guarded = (routes: Hono): Hono =>
    new Hono().use(ownSiteOnly).onError(explainFault).route('/', routes);
  const pages = new Hono();
  pages.route('/page', guarded(createPageApi(world)));
  pages.route('/_control', guarded(createControl(slack)));
  if (pageDir) pages.route('/', createPageFiles(pageDir));
  return pages;
}

async function stop(world: World, server: Server): Promise<void> {
  world.stopping.abort(new Error('the local workspace stops'));
  for (const { socket } of world.sockets) socket.terminate();
  server.closeAllConnections();
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
  });
  await Promise.allSettled(world.background);
}
