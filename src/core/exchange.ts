import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

export interface HttpRequest {
  origin: string;
  /** Encoded already; sent as it is. */
  path: string;
  method: 'GET' | 'POST' | 'PATCH';
  headers: Record<string, string>;
  body: string | Uint8Array | null;
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

/** Whether a URL's host is this machine, where http is allowed. */
export function isThisMachine(hostname: string): boolean {
  return hostname === '[::1]' || isLocalName(hostname) || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** `localhost` and the names under it, which RFC 6761 keeps on this machine. */
export function isLocalName(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

const NOTHING = Buffer.alloc(0);

/** The exchange took longer than its `timeoutMs`. */
export class TimeoutError extends Error {
  readonly code = 'timeout';
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

export interface ExchangeOptions {
  /** From now to the last byte. */
  timeoutMs: number;
  /** Ends it early. */
  signal?: AbortSignal | undefined;
  /** Calls `begin` when it may begin. What it returns is called at the end, also where it had not begun. */
  enter?: (begin: () => void) => () => void;
}

/**
 * Sends a request and reads its whole answer; follows no redirect, decodes nothing. Rejects with the signal's reason, a
 * `TimeoutError`, or undici's error. Not undici's `request`: its answer is a stream, which costs as much as all checks of
 * the service's client.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: HttpRequest,
  options: ExchangeOptions,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    new Exchange(request, options, resolve, reject).enter(dispatcher);
  });
}

/** One object and no signal of its own, since there are thousands a second. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest;
  readonly #options: ExchangeOptions;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #leave: (() => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #size = 0;
  readonly #chunks: Buffer[] = [];

  constructor(
    request: HttpRequest,
    options: ExchangeOptions,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.#stop(new TimeoutError('no answer in time')), options.timeoutMs);
    options.signal?.addEventListener('abort', this);
  }

  enter(dispatcher: Dispatcher): void {
    const { signal, enter } = this.#options;
    if (signal?.aborted) {
      this.#stop(signal.reason);
      return;
    }
    const begin = (): void => {
      if (!this.#isOver) dispatcher.dispatch(this.#request, this);
    };
    if (enter === undefined) {
      begin();
      return;
    }
    const leave = enter(begin);
    // A request that cannot be written is over before `enter` returns.
    if (this.#isOver) leave();
    else this.#leave = leave;
  }

  /** The caller's signal has aborted. */
  handleEvent(): void {
    this.#stop(this.#options.signal?.reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('the request is no longer wanted'));
  }

  onRequestSent(): void {
    this.#request.onSent?.();
  }

  /** Also for each answer that only announces another. */
  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size <= this.#request.mostBytes(this.#status)) return void this.#chunks.push(chunk);
    this.#answer(NOTHING, true);
    // Ends the connection: nothing more is received.
    controller.abort(new Error('the answer is too large'));
  }

  onResponseEnd(): void {
    const [first = NOTHING] = this.#chunks;
    this.#answer(this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first, false);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    this.#reject(error);
  }

  #answer(body: Buffer, tooLarge: boolean): void {
    this.#end();
    this.#resolve({ status: this.#status, headers: this.#headers, body, tooLarge });
  }

  #stop(reason: unknown): void {
    this.#end();
    this.#reject(reason);
    this.#controller?.abort(reason instanceof Error ? reason : new Error('the request was ended'));
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener('abort', this);
    this.#leave?.();
  }
}
