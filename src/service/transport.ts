import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import process from 'node:process';
import { Agent } from 'undici';
import type { Clock } from '../core/clock.ts';
import { type AnswerFault, ServiceError } from '../core/errors.ts';
import { exchange, type HttpAnswer, type HttpRequest, isLocalName, TimeoutError } from '../core/exchange.ts';
import { backoff } from '../core/retry.ts';
import { FairGate } from '../core/shares.ts';
import type { Address, Call } from './call.ts';
import { classifyFailure } from './classify.ts';

/** Longer error bodies are not the service's own. */
const ERROR_BYTES = 64 * 1024;

/** Whose call it is, and how long it may take. */
interface Caller {
  operation: string;
  /** Each has its own share of the connections. */
  caller: string;
  /** For the whole exchange, from the wait for a connection to the last byte. */
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** How many callers at their limit an origin's pool has room for, before they share it. */
const FULL_CALLERS = 4;

export interface Pools {
  agent: Agent;
  /** Calls `begin` when one of the origin's connections is free; returns what gives it back, or waits no longer. */
  enter(origin: string, caller: string, begin: () => void): () => void;
}

/**
 * A pool of connections an origin, opened when first used and dropped when its last connection closes. No
 * redirects, no decoding. HTTP/1.1 only: with one request a connection, its count bounds the load.
 * @param connections most of one caller
 */
export function openPools(connections: number, connectTimeoutMs: number): Pools {
  const gates = new Map<string, FairGate>();
  const most = connections * FULL_CALLERS;
  return {
    agent: openAgent(most, connectTimeoutMs),
    enter(origin, caller, begin) {
      const gate = gates.get(origin) ?? new FairGate({ most, mostOfKey: connections });
      gates.set(origin, gate);
      const leave = gate.enter(caller, begin);
      const leaveGate = (): void => {
        leave();
        if (gate.isEmpty) gates.delete(origin);
      };
      // By then undici counts the connection as free, and opens no other: it sets an immediate for that after the answer.
      return () => process.nextTick(setImmediate, leaveGate);
    },
  };
}

function openAgent(connections: number, connectTimeoutMs: number): Agent {
  return new Agent({
    connections,
    pipelining: 1,
    allowH2: false,
    // `send` has one time-out for everything; undici's coarse timers must not end it earlier.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectTimeoutMs, lookup: lookUp },
  });
}

/** Sends a request and reads its whole answer. Rejects or throws with the signal's reason, or a ServiceError. */
export function send(
  pools: Pools,
  request: HttpRequest,
  { operation, caller, timeoutMs, signal }: Caller,
): Promise<HttpAnswer> {
  signal?.throwIfAborted();
  const enter = (begin: () => void) => pools.enter(request.origin, caller, begin);
  return exchange(pools.agent, request, { timeoutMs, signal, enter }).catch((error: unknown) => {
    throw signal?.aborted ? error : failureOf(operation, error);
  });
}

/** The error of an exchange that brought no answer. */
function failureOf(operation: string, error: unknown): ServiceError {
  if (!(error instanceof TimeoutError)) return classifyFailure(operation, error);
  return new ServiceError('unreachable', operation, { detail: error.message });
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Names under `localhost` are this machine whatever the resolver says, since http is allowed for them. */
function lookUp(hostname: string, options: LookupOptions, done: LookupCallback): void {
  lookup(isLocalName(hostname) ? 'localhost' : hostname, options, done);
}

const FIRST_BACKOFF_MS = 250;

/** A person is waiting: a service that asks for a longer wait is reported as busy instead. */
const LONGEST_WAIT_MS = 5000;

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
      const wait = retryDelay(rules.method, error, attempt, now, rules.random());
      if (wait === undefined || now + wait - start > rules.budgetMs) throw error;
      await rules.clock.sleep(wait, rules.signal);
    }
  }
}

/**
 * Milliseconds to wait before sending again after failure number `attempt`; undefined if it must not be sent
 * again. `random` is in [0, 1).
 */
function retryDelay(
  method: string,
  error: ServiceError,
  attempt: number,
  now: number,
  random: number,
): number | undefined {
  if (!isRetryable(method, error)) return undefined;
  if (error.retryAt === undefined) return backoff(FIRST_BACKOFF_MS, attempt, random, { spread: [FIXED, 1] });
  const asked = Math.max(0, error.retryAt - now);
  if (asked > LONGEST_WAIT_MS) return undefined;
  return asked + backoff(FIRST_BACKOFF_MS, attempt, random, { spread: [0, 1 - FIXED] });
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
  {
    version,
    authorization,
    maxBytes,
  }: { version: string; authorization?: string | undefined; maxBytes: number },
): HttpRequest {
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
    mostBytes: (status) => (status >= 200 && status < 300 ? maxBytes : Math.min(maxBytes, ERROR_BYTES)),
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
