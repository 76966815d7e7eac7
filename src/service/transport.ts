import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { type AnswerFault, ServiceError } from '../core/errors.ts';
import {
  type HttpAnswer,
  type HttpRequest,
  isLocalName,
  openConnections,
  type Proxies,
  sendRequest,
} from '../core/http.ts';
import { backoff, repeat } from '../core/retry.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Address, Call } from './call.ts';
import { classifyFailure } from './classify.ts';

/** A longer error does not come from the service. */
const ERROR_BYTES = 64 * 1024;

/** Maximum number of agents. The least recently used is closed first. */
const MAX_AGENTS = 1_000;

/** One agent for each account, so that hanging calls of one account take no connections from the others. */
export type Agents = ReturnType<typeof openAgents>;

interface AgentOptions {
  /** Limit for each account and origin. Further calls wait. */
  connections: number;
  /** Limit for opening a connection, in milliseconds. */
  timeoutMs: number;
  proxies?: Proxies | undefined;
}

export function openAgents(options: AgentOptions) {
  const common = openAgent(options);
  const agents = new Map<string, Dispatcher>();
  return {
    /** @param authorization identifies the account. Undefined for calls without one */
    of(authorization: string | undefined): Dispatcher {
      if (authorization === undefined) return common;
      const agent = agents.get(authorization) ?? openAgent(options);
      agents.delete(authorization);
      const [oldest] = agents.size >= MAX_AGENTS ? agents : [];
      if (oldest !== undefined && agents.delete(oldest[0])) void oldest[1].close();
      agents.set(authorization, agent);
      return agent;
    },
    /** Resolves when the running calls have ended. */
    async close(): Promise<void> {
      await Promise.all([common, ...agents.values()].map((agent) => agent.close()));
    },
  };
}

/** Enough for the polls of a test. An account that is polled each minute holds no connection in between: each takes 30 kB. */
const MAX_KEEP_ALIVE_MS = 10_000;

/** Uses HTTP/1.1 with one request a connection, so that the number of connections limits the load. */
function openAgent({ connections, timeoutMs, proxies }: AgentOptions): Dispatcher {
  // `send` has one time-out for the whole attempt. undici's timers are off.
  const timeouts = { headersTimeout: 0, bodyTimeout: 0, keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS };
  const options = { connections, pipelining: 1, allowH2: false, ...timeouts };
  return openConnections(options, { timeout: timeoutMs, lookup: lookUp }, proxies);
}

/**
 * Sends a request and reads its whole answer. Rejects with the signal's reason, or a ServiceError.
 * @param timeoutMs limit from now to the last byte, including the wait for a connection
 */
export async function send(
  agent: Dispatcher,
  operation: string,
  request: HttpRequest,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal | undefined },
): Promise<HttpAnswer> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await sendRequest(agent, request, signal ? AbortSignal.any([signal, timeout]) : timeout);
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted)
      throw new ServiceError('unreachable', operation, { detail: 'it timed out', cause: timeout.reason });
    throw classifyFailure(operation, error);
  }
}

/** Resolves names under `localhost` to this machine, because http is allowed for them. */
const lookUp: LookupFunction = (hostname, options, done) =>
  lookup(isLocalName(hostname) ? 'localhost' : hostname, options, done);

const FIRST_BACKOFF_MS = 250;

/** A person waits for the call. If the service asks for a longer wait, the call fails as busy. */
const MAX_WAIT_MS = 5000;

/** The part of a back-off that is not random. */
const FIXED = 0.5;

export interface RetryRules {
  method: string;
  retries: number;
  /** No repetition starts later than this after the first attempt. */
  budgetMs: number;
  clock: Clock;
  random: () => number;
  signal: AbortSignal | undefined;
}

/**
 * Repeats `send` as the rules allow, then throws the last failure. undici's RetryAgent does not know which orders the service
 * certainly did not carry out.
 */
export function withRetries<T>(send: (attempt: number) => Promise<T>, rules: RetryRules): Promise<T> {
  const { method, retries, budgetMs, clock, random } = rules;
  const start = clock.now();
  return repeat(rules, send, (error, failures) => {
    if (!(error instanceof ServiceError) || failures > retries || !isRetryable(method, error))
      return undefined;
    const now = clock.now();
    const wait = retryDelay(error, failures, now, random());
    return wait === undefined || now + wait - start > budgetMs ? undefined : wait;
  });
}

function retryDelay(
  { retryAt }: ServiceError,
  failures: number,
  now: number,
  random: number,
): number | undefined {
  if (retryAt === undefined) return backoff(FIRST_BACKOFF_MS, failures, random, { spread: [FIXED, 1] });
  const waitMs = Math.max(0, retryAt - now);
  if (waitMs > MAX_WAIT_MS) return undefined;
  return waitMs + backoff(FIRST_BACKOFF_MS, failures, random, { spread: [0, 1 - FIXED] });
}

function isRetryable(method: string, error: ServiceError): boolean {
  const isTemporary = error.kind === 'busy' || error.kind === 'unreachable';
  if (method !== 'GET') return isTemporary && error.certainlyNotDone;
  // A repeat would get the same broken answer with a good status.
  return isTemporary || (error.kind === 'unexpected' && (error.status ?? 0) >= 500);
}

/** @throws ServiceError for a name or address that must not be requested */
export function createRequest(
  call: Call<unknown>,
  address: Address,
  sender: { version: string; authorization?: string | undefined; maxBytes: number },
): HttpRequest {
  const { version, authorization, maxBytes } = sender;
  return {
    origin: address.origin,
    path: createPath(call, address),
    method: call.method,
    // Every request needs both headers. API 1 (docs/service-api.md).
    headers: {
      accept: call.pdf ? 'application/pdf' : 'application/json',
      'content-type': 'application/json',
      // The size limit counts received bytes, and an encoded body would grow later.
      'accept-encoding': 'identity',
      'user-agent': `deckhand/${version}`,
      ...(authorization === undefined ? {} : { authorization }),
    },
    body: createBody(call),
    maxBytes: (status) => (status >= 200 && status < 300 ? maxBytes : Math.min(maxBytes, ERROR_BYTES)),
  };
}

/** Many servers reject an empty body whose type is JSON. API 1 (docs/service-api.md), convention 3. */
function createBody({ method, body }: Call<unknown>): string | null {
  const isWrite = method === 'POST' || method === 'PATCH';
  return body === undefined && !isWrite ? null : JSON.stringify(body ?? {});
}

function createPath(call: Call<unknown>, address: Address): string {
  if (call.path instanceof URL) return readOwnPath(call.path, address, call.operation);
  const segments = call.path.map((segment) => encodeSegment(segment, call.operation));
  const path = [address.path, ...segments].join('/');
  const query = new URLSearchParams(call.query).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** If accounts differ by path, another account's path is as foreign as another host. */
function readOwnPath(url: URL, { origin, path }: Address, operation: string): string {
  const isPlain = url.username === '' && url.password === '';
  const isOwn = isPlain && url.origin === origin && url.pathname.startsWith(`${path}/`);
  if (isOwn) return `${url.pathname}${url.search}`;
  throw refusedAddress(operation, 'foreign_address', "an address that is not on the account's own host");
}

/** Makes the error of an address that Deckhand does not request. */
export function refusedAddress(operation: string, fault: AnswerFault, detail: string): ServiceError {
  return new ServiceError('unexpected', operation, { detail, fault, certainlyNotDone: true });
}

/** Rejects a segment that a server could take for another path. */
function encodeSegment(segment: string, operation: string): string {
  const isName = segment !== '' && segment !== '.' && segment !== '..' && segment.length <= 255;
  if (isName && segment.isWellFormed()) return encodeURIComponent(segment);
  throw new ServiceError('record_not_found', operation, { detail: 'not a name', certainlyNotDone: true });
}
