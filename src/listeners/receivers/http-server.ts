import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../../observability/log.ts';
import { PAGE_STYLE } from '../../views/public/pages.ts';
import { Refused } from './signed-body.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void> | void;

/** Handlers by `METHOD /path`. */
export type Routes = Record<string, Handler>;

/** Answers HEAD as well, by which monitors ask; Node leaves the body out. For routes that change nothing. */
export function withHead(routes: Routes): Routes {
  const heads = Object.entries(routes).map(([route, handler]) => [route.replace('GET', 'HEAD'), handler]);
  return { ...routes, ...Object.fromEntries(heads) };
}

/** Answers under the path of the public address as well, which a proxy may pass on or not, and with a slash at the end. */
export function withBasePath(routes: Routes, basePath: string): Routes {
  const all = Object.entries(routes).flatMap(([route, handler]) => {
    const [method, path = ''] = route.split(' ');
    const paths = [path, `${basePath}${path}`].map((each) => each.replace(/\/$/, ''));
    return paths.flatMap((each) => [each || '/', `${each}/`].map((name) => [`${method} ${name}`, handler]));
  });
  return Object.fromEntries(all);
}

const STYLE_DIGEST = hash('sha256', PAGE_STYLE, 'base64');

/** Every page and answer: nothing is cached, framed, guessed at or loaded from elsewhere. */
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
  /** From now on each connection ends with its answer, so that a proxy opens the next one elsewhere. */
  drain(): void;
  /** Stops accepting, lets requests in flight end, then closes what is idle. */
  close(): Promise<void>;
}

/** The port cannot be listened on; `message` says what to do. */
export class ListenError extends Error {
  readonly code = 'listen_error';
  /** The same may succeed later, without any change of the configuration. */
  readonly isTemporary: boolean;

  constructor({ host, port, variable = 'PORT' }: ListenOptions, cause: NodeJS.ErrnoException) {
    super(sentenceOf(cause, host, port, variable), { cause });
    this.name = 'ListenError';
    this.isTemporary = cause.code === 'EADDRINUSE';
  }
}

function sentenceOf({ code }: NodeJS.ErrnoException, host: string, port: number, variable: string): string {
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

/** How long a client may take for its headers and for the whole request, in milliseconds. */
const SLOWEST = { headersMs: 10_000, requestMs: 15_000 };

export interface ListenOptions {
  host: string;
  port: number;
  /** The variable that the port is from; `PORT` if left out. */
  variable?: 'PORT' | 'METRICS_PORT';
  log: Logger;
  /** Told why a request was refused. */
  onRefused?: (reason: string) => void;
  slowest?: typeof SLOWEST;
}

/** Listens on `host:port`; slow clients are cut, and a handler that throws answers 500 with a reference in the log. */
export async function listen(routes: Routes, options: ListenOptions): Promise<Listener> {
  const { headersMs, requestMs } = options.slowest ?? SLOWEST;
  let isDraining = false;
  const server = createServer({ connectionsCheckingInterval: headersMs / 10 }, (request, response) => {
    if (isDraining) response.setHeader('connection', 'close');
    void answer(routes, request, response, options);
  });
  server.headersTimeout = headersMs;
  server.requestTimeout = requestMs;
  server.keepAliveTimeout = 65_000;
  server.maxHeadersCount = 100;
  server.listen({ host: options.host, port: options.port });
  await once(server, 'listening').catch((cause) => {
    throw new ListenError(options, cause);
  });
  return {
    port: (server.address() as AddressInfo).port,
    drain() {
      isDraining = true;
    },
    close: () => close(server),
  };
}

export function sendText(response: ServerResponse, status: number, text: string, type = 'text/plain'): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(text);
}

async function answer(
  routes: Routes,
  request: IncomingMessage,
  response: ServerResponse,
  options: ListenOptions,
): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'http://localhost');
  // Slack is no browser that these headers would protect.
  if (url?.pathname !== '/slack/events')
    for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
  if (url === null || !isAsWritten(url, request.url ?? '/')) return sendText(response, 400, 'bad request');
  const handler = routes[`${request.method} ${url.pathname}`];
  if (handler === undefined) return refuse(routes, url.pathname, response);
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
    log.warn({ event: 'request_refused', status, reason }, `A request was refused${more}`);
    onRefused?.(reason);
    // The body may not have been read, so the connection cannot be used again.
    response.writeHead(status, { connection: 'close' }).end();
  } else if (request.errored !== null)
    log.warn({ event: 'request_refused', reason: 'cut_off' }, 'a request ended before all of it was there');
  else {
    log.error({ event: 'http_handler_failed', err: error }, 'a request could not be answered');
    if (!response.headersSent) sendText(response, 500, 'something went wrong');
    else response.destroy();
  }
}

/** A proxy decides by the path as it was sent: `/slack/..\metrics` is under `/slack/` there, and must be no other here. */
function isAsWritten({ origin, pathname }: URL, target: string): boolean {
  const [written] = target.split('?', 1);
  return written === pathname || written === `${origin}${pathname}`;
}

function refuse(routes: Routes, path: string, response: ServerResponse): void {
  const methods = Object.keys(routes)
    .filter((route) => route.endsWith(` ${path}`))
    .map((route) => route.split(' ')[0]);
  if (methods.length > 0) response.setHeader('allow', methods.join(', '));
  if (methods.length > 0) sendText(response, 405, 'method not allowed');
  else sendText(response, 404, 'not found');
}

/** Longer than the answer to a form takes: what is still open then is a client that does not read or write. */
const CLOSE_GRACE_MS = 3_000;

async function close(server: Server): Promise<void> {
  const closing = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
  const closed = once(server, 'close');
  server.close();
  await closed.finally(() => clearTimeout(closing));
}
