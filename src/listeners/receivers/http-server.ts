import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../../observability/log.ts';
import { PAGE_STYLE } from '../../views/public/pages.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void> | void;

/** Handlers by `METHOD /path`; `*` as the last segment matches any. */
export type Routes = Record<string, Handler>;

/** Answers HEAD as well, which monitors use; Node leaves the body out. For routes that change nothing. */
export function withHead(routes: Routes): Routes {
  const heads = Object.entries(routes).map(([route, handler]) => [route.replace('GET', 'HEAD'), handler]);
  return { ...routes, ...Object.fromEntries(heads) };
}

/** Answers under the path of the public address as well, because some proxies pass it on, and with a slash at the end. */
export function withBasePath(routes: Routes, basePath: string): Routes {
  const all = Object.entries(routes).flatMap(([route, handler]) => {
    const [method, path = ''] = route.split(' ');
    const paths = [path, `${basePath}${path}`].map((each) => each.replace(/\/$/, ''));
    return paths.flatMap((each) => [each || '/', `${each}/`].map((name) => [`${method} ${name}`, handler]));
  });
  return Object.fromEntries(all);
}

/** Longest body; a view of Slack may have 250 kB, and travels URL-encoded. */
const MAX_BODY_BYTES = 1_000_000;
/** Longest total of all bodies that are being read, whose senders are unknown. */
const MAX_UNVERIFIED_BYTES = 32_000_000;

/** Thrown to refuse a request: the server answers with the status and logs the reason. */
export class Refused extends Error {
  readonly status: 400 | 401 | 408 | 413 | 503;
  /** More for the log, as a sentence. */
  readonly detail: string | undefined;

  constructor(status: Refused['status'], reason: string, detail?: string) {
    super(reason);
    this.status = status;
    this.detail = detail;
  }
}

/** Reads the body of a request that anybody may have sent. @throws Refused */
export type ReadBody = (request: IncomingMessage) => Promise<string>;

/** Limits the memory of all bodies of the process together: the slowest sender makes room for the others. */
export function createBodyReader(): ReadBody {
  /** Ends each read in progress; the oldest comes first. */
  const reading = new Set<() => void>();
  let totalSize = 0;

  return (request) => {
    if (Number(request.headers['content-length']) > MAX_BODY_BYTES)
      return Promise.reject(new Refused(413, 'too_large'));
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const chunks: Buffer[] = [];
    let size = 0;
    const addChunk = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      totalSize += chunk.length;
      if (size > MAX_BODY_BYTES) refuse(new Refused(413, 'too_large'));
      for (const giveUp of reading) {
        if (totalSize <= MAX_UNVERIFIED_BYTES) break;
        giveUp();
      }
    };
    /** Stops reading. Returns false if it has stopped already. */
    const end = (): boolean => {
      if (!reading.delete(giveUp)) return false;
      totalSize -= size;
      request.off('data', addChunk);
      return true;
    };
    const refuse = (refused: Refused): void => void (end() && reject(refused));
    const giveUp = (): void => refuse(new Refused(503, 'too_much_at_once'));
    reading.add(giveUp);
    request.on('data', addChunk);
    request.once('end', () => end() && resolve(Buffer.concat(chunks).toString('utf8')));
    request.once('error', reject);
    request.once('close', giveUp);
    return promise;
  };
}

const STYLE_DIGEST = hash('sha256', PAGE_STYLE, 'base64');

/** Headers of every page and answer: nothing is cached, framed, sniffed or loaded from elsewhere. */
const SECURITY_HEADERS: ReadonlyArray<[string, string]> = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  [
    'content-security-policy',
    `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  ],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['strict-transport-security', 'max-age=31536000'],
];

export interface Listener {
  port: number;
  /** Closes each connection after its next answer, so that a proxy opens the next one elsewhere. */
  drain(): void;
  /** Stops accepting, waits for requests in flight, then closes idle connections. */
  close(): Promise<void>;
}

/** Thrown if the server cannot listen on the port; `message` says what to do. */
export class ListenError extends Error {
  readonly code = 'listen_error';
  /** True if the same configuration may succeed later. */
  readonly isTemporary: boolean;

  constructor(host: string, { port, variable = 'PORT' }: ListenOptions, cause: NodeJS.ErrnoException) {
    super(describeListenFault(cause, host, port, variable), { cause });
    this.name = 'ListenError';
    this.isTemporary = cause.code === 'EADDRINUSE';
  }
}

function describeListenFault(
  { code }: NodeJS.ErrnoException,
  host: string,
  port: number,
  variable: string,
): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use. Stop what listens there, or set ${variable} to another port.`;
    case 'EACCES':
    case 'EPERM':
      return `This user may not listen on port ${port}. Set ${variable} to a port from 1024 on.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `This machine has no address ${host}. Set HOST to one that it has, or to 0.0.0.0.`;
    default:
      return `Port ${port} on ${host} cannot be listened on (${code}). Check HOST and ${variable}.`;
  }
}

/** Longest time a client may take for its headers and for the whole request. */
const SLOWEST = { headersMs: 10_000, requestMs: 15_000 };

export interface ListenOptions {
  /** The first that the machine has. */
  hosts: readonly [string, ...string[]];
  port: number;
  /** Variable that sets the port; `PORT` by default. */
  variable?: 'PORT' | 'METRICS_PORT';
  log: Logger;
  /** Called with the reason of each refused request. */
  onRefused?: (reason: string) => void;
  slowest?: typeof SLOWEST;
}

/** Listens on `host:port`. Slow clients are cut off; a handler that throws answers 500. */
export async function listen(routes: Routes, options: ListenOptions): Promise<Listener> {
  const { headersMs, requestMs } = options.slowest ?? SLOWEST;
  let isDraining = false;
  const server = createServer({ connectionsCheckingInterval: headersMs / 10 }, (request, response) => {
    if (isDraining) response.setHeader('connection', 'close');
    void answerRequest(routes, request, response, options);
  });
  server.headersTimeout = headersMs;
  server.requestTimeout = requestMs;
  server.keepAliveTimeout = 65_000;
  server.maxHeadersCount = 100;
  await bind(server, options, ...options.hosts);
  return {
    port: (server.address() as AddressInfo).port,
    drain() {
      isDraining = true;
    },
    close: () => closeServer(server),
  };
}

/** Without IPv6 a machine has no `::`. */
const NO_SUCH_ADDRESS: ReadonlySet<unknown> = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);

/** @throws ListenError */
async function bind(
  server: Server,
  options: ListenOptions,
  host: string,
  ...others: string[]
): Promise<void> {
  try {
    server.listen({ host, port: options.port });
    await once(server, 'listening');
  } catch (cause) {
    const [next, ...rest] = others;
    const fault = cause as NodeJS.ErrnoException;
    if (next === undefined || !NO_SUCH_ADDRESS.has(fault.code)) throw new ListenError(host, options, fault);
    await bind(server, options, next, ...rest);
  }
}

export function sendText(response: ServerResponse, status: number, text: string, type = 'text/plain'): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(text);
}

/** No route has a longer path, with the path of the public address before it. */
const MAX_PATH = 200;

async function answerRequest(
  routes: Routes,
  request: IncomingMessage,
  response: ServerResponse,
  options: ListenOptions,
): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'http://localhost');
  // Slack is not a browser, so these headers would protect nothing.
  if (url?.pathname !== '/slack/events')
    for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
  if (url === null || !isAsWritten(url, request.url ?? '/')) return sendText(response, 400, 'bad request');
  const { pathname } = url;
  if (pathname.length > MAX_PATH) return sendText(response, 404, 'not found');
  const anyLast = pathname.replace(/(?<=\/)[^/]+(\/?)$/, '*$1');
  const handler = routes[`${request.method} ${pathname}`] ?? routes[`${request.method} ${anyLast}`];
  if (handler === undefined) return refuseRoute(routes, pathname, response);
  try {
    await handler(request, response, url);
  } catch (error) {
    answerFailure(error, request, response, options);
  }
}

function answerFailure(
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  { log, onRefused }: ListenOptions,
): void {
  if (error instanceof Refused) {
    const { status, message: reason, detail } = error;
    const more = detail === undefined ? '' : `: ${detail}`;
    log.warn({ event: 'request_refused', status, reason }, `Request refused${more}`);
    onRefused?.(reason);
    // The body may not have been read, so the connection cannot be used again.
    response.writeHead(status, { connection: 'close', 'content-length': 0 });
    // A client is cut off if there is no room for its body.
    if (status === 413) endAfterBody(request, response);
    else response.end();
  } else if (request.errored !== null)
    log.warn({ event: 'request_refused', reason: 'cut_off' }, 'Request ended before its body was complete');
  else {
    log.error({ event: 'http_handler_failed', err: error }, 'HTTP handler failed');
    if (!response.headersSent) sendText(response, 500, 'something went wrong');
    else response.destroy();
  }
}

/** Time in which the rest of a refused body may arrive. */
const LINGER_MS = 1_000;

/** Ends a complete answer. A client that is cut off while it sends its body does not read the answer. */
function endAfterBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || request.destroyed) return void response.end();
  response.flushHeaders();
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.once('end', end).once('close', end).resume();
}

/** A proxy routes by the path as sent: it sees `/slack/..\metrics` under `/slack/`, so a path that Node rewrites is refused. */
function isAsWritten({ origin, pathname }: URL, target: string): boolean {
  const [written] = target.split('?', 1);
  return written === pathname || written === `${origin}${pathname}`;
}

function refuseRoute(routes: Routes, path: string, response: ServerResponse): void {
  const methods = Object.keys(routes)
    .filter((route) => route.endsWith(` ${path}`))
    .map((route) => route.split(' ')[0]);
  if (methods.length > 0) response.setHeader('allow', methods.join(', '));
  if (methods.length > 0) sendText(response, 405, 'method not allowed');
  else sendText(response, 404, 'not found');
}

/** Longer than the answer to a form takes; connections still open then belong to clients that do not read or write. */
const CLOSE_GRACE_MS = 3_000;

async function closeServer(server: Server): Promise<void> {
  const closing = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
  const closed = once(server, 'close');
  server.close();
  await closed.finally(() => clearTimeout(closing));
}
