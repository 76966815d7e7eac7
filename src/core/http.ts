import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';

export interface HttpRequest {
  origin: string;
  /** Already encoded. */
  path: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  /** Maximum size of an answer with this status. */
  maxBytes(status: number): number;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** True if the body was too long; `body` is then empty. */
  tooLarge: boolean;
}

/** Proxies for outgoing requests: HTTPS_PROXY, HTTP_PROXY and NO_PROXY; empty for none. */
export interface Proxies {
  httpsProxy: string;
  httpProxy: string;
  noProxy: string;
}

/** Opens connections, through a proxy if one is configured. @param connect options of one connection */
export function openConnections(
  options: Agent.Options,
  connect: { timeout: number; lookup?: LookupFunction },
  proxies: Proxies | undefined,
): Dispatcher {
  if (proxies === undefined) return new Agent({ ...options, connect });
  return new EnvHttpProxyAgent({
    ...options,
    ...proxies,
    connect,
    connectTimeout: connect.timeout,
    proxyTls: { allowH2: false },
    // Otherwise a proxy that does not answer CONNECT holds its connection for five minutes.
    clientFactory: (origin, pool) => new Pool(origin, { ...pool, headersTimeout: connect.timeout }),
  });
}

/**
 * Sends a request and reads the whole answer; follows no redirect, decodes nothing.
 * @param signal ends the request at any stage, from the wait for a connection to the last byte
 * @throws the signal's reason, or undici's error
 */
export async function sendRequest(
  dispatcher: Dispatcher,
  { maxBytes, ...request }: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { statusCode: status, headers, body } = await dispatcher.request({ ...request, signal });
  const bytes = await readAtMost(body, maxBytes(status));
  return { status, headers, body: bytes ?? Buffer.alloc(0), tooLarge: bytes === undefined };
}

/** Returns undefined if there is more data, and closes the connection. */
async function readAtMost(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const CONNECTING: ReadonlySet<unknown> = new Set(['getaddrinfo', 'connect']);
/** Error codes that name no system call, because several addresses were tried or undici itself failed. */
const NOT_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Undici's message if a proxy refuses to open a tunnel. It contains the proxy's status. */
const PROXY_REFUSAL = /Proxy response \((\d+)\)|Proxy Authentication Required \((407)\)/;

/** True if there was no connection, so that no part of the request can have arrived. */
export function wasNeverSent(error: unknown): boolean {
  if (error instanceof Error && PROXY_REFUSAL.test(error.message)) return true;
  const { code, syscall }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  return syscall === undefined ? NOT_CONNECTED.has(code) : CONNECTING.has(syscall);
}

/** Reasons by the code of an error; the first match counts. */
const REASONS: ReadonlyArray<[RegExp, string]> = [
  [/^(?:ENOTFOUND|EAI_)/, 'its name was not found'],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for another name'],
  [/CERT|^UNABLE_TO_/, 'its certificate is not trusted'],
  [/^(?:ERR_SSL_|EPROTO)/, 'it does not speak TLS as expected'],
  [/^ECONNREFUSED$/, 'the connection was refused'],
  [/^(?:ETIMEDOUT|TimeoutError|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/, 'it timed out'],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'there is no route to it'],
  [/^UND_ERR_(?:PRX|SOCKS5)/, 'the proxy opened no connection'],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'the connection was dropped'],
];
/** Libraries nest fewer causes. */
const MAX_CAUSES = 6;

/**
 * Says why something could not be reached, as a clause: "its name was not found". Searches the error's
 * causes; returns undefined if none gives a reason. The text holds no part of an address.
 */
export function describeUnreached(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > MAX_CAUSES) return undefined;
  const [, tunnel, forward] = PROXY_REFUSAL.exec(error.message) ?? [];
  const status = tunnel ?? forward;
  if (status !== undefined) return `the proxy refused with ${status}`;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const reason = REASONS.find(([pattern]) => pattern.test(code))?.[1];
  const [first] = error instanceof AggregateError ? error.errors : [];
  return reason ?? describeUnreached(error.cause ?? first, depth + 1);
}

/** An address or path without slashes at its end. */
export function trimSlashes(address: string): string {
  return address.replace(/(?<!\/)\/+$/, '');
}

/** True if a URL's host is this machine. Such URLs may use http. */
export function isThisMachine(hostname: string): boolean {
  return hostname === '[::1]' || isLocalName(hostname) || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** `localhost` and the names under it, which RFC 6761 keeps on this machine. */
export function isLocalName(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}
