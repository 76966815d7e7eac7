import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

export interface HttpRequest {
  origin: string;
  /** Encoded already; sent as it is. */
  path: string;
  method: 'GET' | 'POST' | 'PATCH';
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  /** How many bytes are received of an answer with this status. */
  maxBytes(status: number): number;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** True if the body was longer than allowed; `body` is empty then. */
  tooLarge: boolean;
}

/**
 * Sends a request and reads its whole answer; follows no redirect, decodes nothing.
 * @param signal ends it, wherever it is: while it waits for a connection, or for the last byte
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

/** Undefined where there is more; then nothing more is received, and the connection ends. */
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
/** Of failures that name no system call: of several addresses tried, or undici's own. */
const NOT_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** True where there was no connection, so that nothing of the request can have arrived. */
export function wasNeverSent(error: unknown): boolean {
  const { code, syscall }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  return syscall === undefined ? NOT_CONNECTED.has(code) : CONNECTING.has(syscall);
}

/** Whether a URL's host is this machine, where http is allowed. */
export function isThisMachine(hostname: string): boolean {
  return hostname === '[::1]' || isLocalName(hostname) || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** `localhost` and the names under it, which RFC 6761 keeps on this machine. */
export function isLocalName(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}
