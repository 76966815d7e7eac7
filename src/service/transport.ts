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
import { backoff } from '../core/retry.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Address, Call } from './call.ts';
import { classifyFailure } from './classify.ts';

/** Longer error bodies are not the service's own. */
const ERROR_BYTES = 64 * 1024;

/** Accounts whose connections are kept; those of the one that was used longest ago are closed first. */
const MAX_AGENTS = 1_000;

/** An agent an account, so that one whose calls hang leaves the others their connections. */
export type Agents = ReturnType<typeof openAgents>;

/** How the connections of an account are opened. */
interface AgentOptions {
  /** At most so many for each account and origin; what exceeds them waits its turn. */
  connections: number;
  /** Of one connection, in milliseconds. */
  timeoutMs: number;
  proxies?: Proxies | undefined;
}

export function openAgents(options: AgentOptions) {
  const common = openAgent(options);
  const agents = new Map<string, Dispatcher>();
  return {
    /** @param authorization whose calls they are; undefined where they belong to no account */
    of(authorization: string | undefined): Dispatcher {
      if (authorization === undefined) return common;
      const agent = agents.get(authorization) ?? openAgent(options);
      agents.delete(authorization);
      const [oldest] = agents.size >= MAX_AGENTS ? agents : [];
      if (oldest !== undefined && agents.delete(oldest[0])) void oldest[1].close();
      agents.set(authorization, agent);
      return agent;
    },
    /** Resolves when the calls in flight have ended. */
    async close(): Promise<void> {
      await Promise.all([common, ...agents.values()].map((agent) => agent.close()));
    },
  };
}

/** No redirects, no decoding. HTTP/1.1 only: with one request a connection, their number bounds the load. */
function openAgent({ connections, timeoutMs, proxies }: AgentOptions): Dispatcher {
  // `sendRequest` has one time-out for everything; undici's coarse timers must not end it earlier.
  const options = { connections, pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  return openConnections(options, { timeout: timeoutMs, lookup: lookUp }, proxies);
}

/**
 * Sends a request and reads its whole answer. Rejects with the signal's reason, or a ServiceError.
 * @param timeoutMs from now to the last byte, with the wait for a connection
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

/** Names under `localhost` are this machine whatever the resolver says, since http is allowed for them. */
const lookUp: LookupFunction = (hostname, options, done) =>
  lookup(isLocalName(hostname) ? 'localhost' : hostname, options, done);

const FIRST_BACKOFF_MS = 250;

/** A person is waiting: a service that asks for a longer wait is reported as busy instead. */
const MAX_WAIT_MS = 5000;

/** The part of a back-off that is not left to chance. */
const FIXED = 0.5;

export interface RetryRules {
  method: string;
  /** How often a request may be sent again. */
  retries: number;
  /** No repetition starts later than this after the first request. */
  budgetMs: number;
  clock: Clock;
  random: () => number;
  signal: AbortSignal | undefined;
}

/**
 * Runs `send` until it succeeds, its failure is final, or the rules end it; then throws the last failure. Not undici's
 * RetryAgent, which keeps real time and knows nothing of what the service certainly did not carry out.
 */
export async function withRetries<T>(send: (attempt: number) => Promise<T>, rules: RetryRules): Promise<T> {
  const start = rules.clock.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send(attempt);
    } catch (error) {
      if (!(error instanceof ServiceError) || attempt > rules.retries) throw error;
      const now = rules.clock.now();
      const wait = retryDelay(rules, error, attempt, now);
      if (wait === undefined || now + wait - start > rules.budgetMs) throw error;
      await rules.clock.sleep(wait, rules.signal);
    }
  }
}

/** Milliseconds to wait before sending again after failure number `attempt`; undefined if it must not be sent again. */
function retryDelay(
  rules: RetryRules,
  error: ServiceError,
  attempt: number,
  now: number,
): number | undefined {
  if (!isRetryable(rules.method, error)) return undefined;
  const random = rules.random();
  if (error.retryAt === undefined) return backoff(FIRST_BACKOFF_MS, attempt, random, { spread: [FIXED, 1] });
  const waitMs = Math.max(0, error.retryAt - now);
  if (waitMs > MAX_WAIT_MS) return undefined;
  return waitMs + backoff(FIRST_BACKOFF_MS, attempt, random, { spread: [0, 1 - FIXED] });
}

function isRetryable(method: string, error: ServiceError): boolean {
  const passing = error.kind === 'busy' || error.kind === 'unreachable';
  if (method !== 'GET') return passing && error.certainlyNotDone;
  // A broken answer with a good status would come again, so it is not asked for again.
  return passing || (error.kind === 'unexpected' && (error.status ?? 0) >= 500);
}

/** Throws a ServiceError for a name or address that must not be requested. */
export function requestOf(
  call: Call<unknown>,
  address: Address,
  sender: { version: string; authorization?: string | undefined; maxBytes: number },
): HttpRequest {
  const { version, authorization, maxBytes } = sender;
  return {
    origin: address.origin,
    path: pathOf(call, address),
    method: call.method,
    // Both JSON headers on every request; only a PDF is accepted as something else. API 1 (docs/service-api.md).
    headers: {
      accept: call.pdf ? 'application/pdf' : 'application/json',
      'content-type': 'application/json',
      // An encoded body could grow past the size limit only after it was received.
      'accept-encoding': 'identity',
      'user-agent': `deckhand/${version}`,
      ...(authorization === undefined ? {} : { authorization }),
    },
    body: call.body === undefined ? null : JSON.stringify(call.body),
    maxBytes: (status) => (status >= 200 && status < 300 ? maxBytes : Math.min(maxBytes, ERROR_BYTES)),
  };
}

/** Path and query of a call, encoded. */
function pathOf(call: Call<unknown>, address: Address): string {
  if (call.path instanceof URL) return ownPath(call.path, address, call.operation);
  const segments = call.path.map((segment) => encodeSegment(segment, call.operation));
  const path = [address.path, ...segments].join('/');
  const query = new URLSearchParams(call.query).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** Where accounts differ by their path, another account's path is as foreign as another host. */
function ownPath(url: URL, { origin, path }: Address, operation: string): string {
  const isPlain = url.username === '' && url.password === '';
  const isOwn = isPlain && url.origin === origin && url.pathname.startsWith(`${path}/`);
  if (isOwn) return `${url.pathname}${url.search}`;
  throw refusedAddress(operation, 'foreign_address', "an address that is not on the account's own host");
}

/** The address was not requested. */
export function refusedAddress(operation: string, fault: AnswerFault, detail: string): ServiceError {
  return new ServiceError('unexpected', operation, { detail, fault, certainlyNotDone: true });
}

/** A segment names one record. Anything that a server could take for another path names none. */
function encodeSegment(segment: string, operation: string): string {
  const isName = segment !== '' && segment !== '.' && segment !== '..' && segment.length <= 255;
  if (isName && segment.isWellFormed()) return encodeURIComponent(segment);
  throw new ServiceError('record_not_found', operation, { detail: 'not a name', certainlyNotDone: true });
}
