import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

export interface HttpRequest {
  origin: string;
  /** Encoded already; sent as it is. */
  path: string;
  method: 'GET' | 'POST' | 'PATCH';
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
  /** Most bytes that are received of an answer with this status. */
  mostBytes(status: number): number;
  /** Called once all of it has left. */
  onSent?: (() => void) | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** True if the body was longer than allowed; `body` is empty then. */
  tooLarge: boolean;
}

const THIS_MACHINE: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Whether a URL's host is this machine, where http is allowed. */
export function isThisMachine(hostname: string): boolean {
  return THIS_MACHINE.has(hostname);
}

const NOTHING = Buffer.alloc(0);

/**
 * Sends a request and reads its whole answer; follows no redirect, decodes nothing. Rejects with the signal's reason, or
 * with undici's error. Not undici's `request`: its answer is a stream, which costs as much as all checks of the service's
 * client.
 */
export function exchange(
  dispatcher: Dispatcher,
  { mostBytes, body, onSent, ...request }: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  let sent: Dispatcher.DispatchController | undefined;
  let head = { status: 0, headers: {} };
  let most = 0;
  let size = 0;
  const chunks: Buffer[] = [];
  const stop = (): void => {
    reject(signal.reason);
    sent?.abort(signal.reason);
  };
  signal.addEventListener('abort', stop, { once: true });
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      sent = controller;
      if (signal.aborted) stop();
    },
    onRequestSent: () => onSent?.(),
    // Also for each answer that only announces another.
    onResponseStart(_, status, headers) {
      head = { status, headers };
      most = mostBytes(status);
    },
    onResponseData(controller, chunk) {
      size += chunk.length;
      if (size <= most) return void chunks.push(chunk);
      resolve({ ...head, body: NOTHING, tooLarge: true });
      // Ends the connection: nothing more is received.
      controller.abort(new Error('the answer is too large'));
    },
    onResponseEnd: () => resolve({ ...head, body: Buffer.concat(chunks), tooLarge: false }),
    onResponseError: (_, error) => reject(error),
  };
  dispatcher.dispatch({ ...request, body: body ?? null }, handler);
  return promise.finally(() => signal.removeEventListener('abort', stop));
}

/** The same within a time. */
export async function exchangeWithin(
  timeoutMs: number,
  dispatcher: Dispatcher,
  request: HttpRequest,
): Promise<HttpAnswer> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new Error('there was no answer in time')), timeoutMs);
  try {
    return await exchange(dispatcher, request, stop.signal);
  } finally {
    clearTimeout(timer);
  }
}
