import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { ServiceError } from '../../src/core/errors.ts';
import type { Clock } from '../../src/core/time/clock.ts';
import { createService, type ServiceOptions } from '../../src/service/client.ts';
import { listenHere } from '../support/free-port.ts';

/** An answer: a value to be sent as JSON with 200, a whole reply, or whatever a function does. */
export type Reply =
  | { status?: number; headers?: Record<string, string>; json?: unknown; raw?: string | Buffer }
  | ((request: IncomingMessage, response: ServerResponse) => void);

/**
 * A server that answers only what it was told to, in order, and fails the test on anything else.
 *
 * @param script by method and url, the replies in order; the test fails if one is left over
 */
export async function startWire(script: Record<string, Reply[]>) {
  const left = new Map(Object.entries(script).map(([key, replies]) => [key, [...replies]]));
  const surprises: string[] = [];
  const requests: Array<{ method: string; url: string; headers: IncomingMessage['headers']; body: string }> =
    [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const reply = left.get(`${method} ${url}`)?.shift();
    requests.push({ method, url, headers, body: await text(request) });
    if (reply === undefined) surprises.push(`${method} ${url}`);
    answer(request, response, reply ?? { status: 599 });
  });
  server.on('connection', () => {
    connections += 1;
  });
  return {
    origin: `http://${await listenHere(server)}`,
    requests,
    /** How many connections were opened. */
    connections: () => connections,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      const unused = [...left].flatMap(([key, replies]) => replies.map(() => key));
      if (surprises.length > 0) throw new Error(`unexpected requests: ${surprises.join(', ')}`);
      if (unused.length > 0) throw new Error(`requests that never came: ${unused.join(', ')}`);
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  if (typeof reply === 'function') {
    reply(request, response);
    return;
  }
  const body = reply.raw ?? JSON.stringify(reply.json ?? null);
  const type = reply.raw === undefined ? 'application/json' : 'text/html';
  response.writeHead(reply.status ?? 200, { 'content-type': type, ...reply.headers }).end(body);
}

/** A clock that stands still but for its sleeps, which it records and passes at once. */
export function startTestClock(now = Date.UTC(2026, 0, 5, 12)): Clock & { slept: number[] } {
  const slept: number[] = [];
  let time = now;
  const sleep: Clock['sleep'] = async (ms, signal) => {
    signal?.throwIfAborted();
    slept.push(ms);
    time += ms;
  };
  return { slept, now: () => time, sleep };
}

export const KEY = 'k'.repeat(40);

/** An account called `acme` with its address in the path of `origin`. */
export function openAccount(origin: string, options: Partial<ServiceOptions> = {}) {
  const clock = startTestClock();
  const base = { baseUrl: `${origin}/{account}`, version: '1.2.3', clock, random: () => 0.5 };
  const service = createService({ ...base, ...options });
  const account = service.account({ account: 'acme', email: 'ada@example.com', apiKey: KEY });
  return { account, clock, [Symbol.asyncDispose]: () => service.close() };
}

/** Such an account at a server of its own. */
export async function openWire(script: Record<string, Reply[]>, options?: Partial<ServiceOptions>) {
  const wire = await startWire(script);
  const { account, clock, [Symbol.asyncDispose]: close } = openAccount(wire.origin, options);
  return {
    ...wire,
    account,
    clock,
    [Symbol.asyncDispose]: () => close().then(() => wire[Symbol.asyncDispose]()),
  };
}

/** The ServiceError that a call rejects with. */
export async function failure(call: Promise<unknown>): Promise<ServiceError> {
  const error = await call.then(
    () => new Error('the call succeeded'),
    (reason: unknown) => reason,
  );
  if (error instanceof ServiceError) return error;
  throw error;
}
