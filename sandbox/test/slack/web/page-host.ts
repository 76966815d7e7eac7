import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { json } from 'node:stream/consumers';
import { portOfPages } from '../../../../test/support/free-port.ts';
import { cacheControl, PAGE_POLICY } from '../../../slack/page-files.ts';
import { buildPage } from '../../../slack/web/build.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

type Body = Record<string, unknown>;
type Answer = Body | ((body: Body) => Body | Promise<Body>);

export interface PageHost {
  url: string;
  /** Every POST of the page, in order. */
  posts: { path: string; body: Body }[];
  /** Resolves with the body of the next POST to this path. */
  nextPost(path: string): Promise<Body>;
  /** Sets what a path under /page/ answers. */
  answer(path: string, answer: Answer): void;
  /** Sends an event to every open page. */
  push(event: Body): void;
  /** How many pages listen. */
  streams(): number;
  /** Cuts every stream, and refuses new ones until `allow`. */
  cutStreams(): void;
  allowStreams(): void;
  /** Serves these bytes as a file. */
  addFile(id: string, mimetype: string, bytes: Uint8Array): void;
  stop(): Promise<void>;
}

/** Serves the built page under a strict policy, and answers what it asks as a test says. Unexpected asks get 404. */
export async function hostPage(): Promise<PageHost> {
  const folder = await buildPage();
  const posts: PageHost['posts'] = [];
  const answers = new Map<string, Answer>();
  const files = new Map<string, { mimetype: string; bytes: Uint8Array }>();
  const waiting: { path: string; resolve: (body: Body) => void }[] = [];
  const streams = new Set<ServerResponse>();
  let streaming = true;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://page');
    if (!pathname.startsWith('/page/')) return serveStatic(folder, pathname, response);
    const path = pathname.slice('/page/'.length);
    if (path === 'stream') return openStream(response);
    if (path.startsWith('files/')) return serveFile(path.slice('files/'.length), response);
    const body = request.method === 'POST' ? ((await json(request)) as Body) : {};
    if (request.method === 'POST') note(path, body);
    const answer = answers.get(path);
    const said =
      typeof answer === 'function' ? await answer(body) : (answer ?? { ok: request.method === 'POST' });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  }

  function note(path: string, body: Body): void {
    posts.push({ path, body });
    const at = waiting.findIndex((one) => one.path === path);
    if (at >= 0) waiting.splice(at, 1)[0]?.resolve(body);
  }

  function openStream(response: ServerResponse): void {
    if (!streaming) {
      response.writeHead(503).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(':\n\n');
    streams.add(response);
    response.on('close', () => streams.delete(response));
  }

  function serveFile(id: string, response: ServerResponse): void {
    const file = files.get(id);
    if (file === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': file.mimetype }).end(file.bytes);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(await portOfPages(), '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    posts,
    nextPost: (path) => new Promise((resolve) => waiting.push({ path, resolve })),
    answer: (path, answer) => answers.set(path, answer),
    push: (event) => {
      for (const stream of streams) stream.write(`data: ${JSON.stringify(event)}\n\n`);
    },
    streams: () => streams.size,
    cutStreams: () => {
      streaming = false;
      for (const stream of streams) stream.destroy();
    },
    allowStreams: () => {
      streaming = true;
    },
    addFile: (id, mimetype, bytes) => files.set(id, { mimetype, bytes }),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serveStatic(folder: string, pathname: string, response: ServerResponse): Promise<void> {
  const path = normalize(pathname === '/' ? '/index.html' : pathname);
  const bytes = await readFile(join(folder, path)).catch(() => undefined);
  if (bytes === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {
    'content-type': types[extname(path)] ?? 'application/octet-stream',
    'content-security-policy': PAGE_POLICY,
    'x-content-type-options': 'nosniff',
    'cache-control': cacheControl(pathname),
  });
  response.end(bytes);
}
