import { hash } from 'node:crypto';
import { Agent, type Dispatcher } from 'undici';
import type { Clock } from '../core/clock.ts';
import { exchange, type HttpAnswer, isThisMachine } from '../core/exchange.ts';
import { createKeyedLock, type KeyedLock } from '../core/locks.ts';
import type { Message } from '../core/message.ts';
import { inert } from '../core/mrkdwn.ts';
import { parseRetryAfter } from '../core/retry.ts';
import type { Logger } from '../observability/log.ts';
import { failureNamed, SlackFailure } from './failure.ts';
import type { AnswerOf, ArgumentsOf } from './sdk.ts';

/** Slack's Web API under one address, over one pool of connections. */
export interface Web {
  /**
   * Calls a method once. Not by Slack's own client, which copies each message four times for a log that is off, and is
   * an object of 60 kB for each token; the types are its own.
   * @param token left out where the method takes none
   * @param intend stores that the call is about to leave
   * @throws SlackFailure; after `close`, the client's own error, which is not retried
   */
  call<Method extends string>(
    method: Method,
    args: ArgumentsOf<Method>,
    token?: string,
    intend?: () => Promise<void>,
  ): Promise<AnswerOf<Method>>;
  /** For what Slack names by an address of its own. */
  readonly agent: Dispatcher;
  /** Where the Web API is: scheme, host and port. */
  readonly origin: string;
  /**
   * Posts a file's bytes, without any token and through no redirect. The caller has checked the address.
   * @returns the HTTP status; rejects where there is no answer
   */
  sendBytes(url: URL, bytes: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 10_000;
/** Slack asks for whole seconds. */
const SHORTEST_PAUSE_MS = 1_000;
const UPLOAD_TIMEOUT_MS = 60_000;

/** Retries and rate limits are in `rate-limit.ts`: here, a call is made once. */
export function createWeb(apiUrl: string, clock: Pick<Clock, 'now'>): Web {
  const agent = new Agent({ connections: 64, keepAliveTimeout: 30_000, allowH2: false });
  const alone = createKeyedLock();
  const { origin, pathname } = new URL(apiUrl.endsWith('/') ? apiUrl : `${apiUrl}/`);

  function send(
    method: string,
    body: string,
    token: string | undefined,
    intend: (() => Promise<void>) | undefined,
  ): Promise<HttpAnswer> {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      // An encoded body would have to be decoded.
      'accept-encoding': 'identity',
      'user-agent': 'deckhand',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const request = {
      origin,
      path: `${pathname}${method}`,
      method: 'POST',
      headers,
      body,
      mostBytes: () => Number.POSITIVE_INFINITY,
    } as const;
    const start = (onSent?: () => void): Promise<HttpAnswer> =>
      exchange(agent, { ...request, onSent }, { timeoutMs: TIMEOUT_MS });
    return intend === undefined ? start() : sendStored(alone, intend, start);
  }

  return {
    async call(method, args, token, intend) {
      const answer = await send(method, formOf(args), token, intend).catch((cause: unknown) => {
        // A call that comes after the end must not be repeated.
        if (agent.closed || agent.destroyed) throw cause;
        throw new SlackFailure(method, 'unreachable', 'request_failed', { cause });
      });
      return readAnswer(method, answer, clock.now());
    },
    agent,
    origin,
    sendBytes: (url, bytes) => sendBytes(agent, url, bytes),
    close: () => agent.close(),
  };
}

/** The same UUID for the same parts, in the form of Slack's `client_msg_id`. */
export function postId(...parts: string[]): string {
  const hex = hash('sha256', JSON.stringify(parts));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Stores a post's intent, then sends it. Only one of the process is between the two, so that a killed process leaves at
 * most one intent that Slack never saw, however many channels it posts in.
 */
async function sendStored<T>(
  alone: KeyedLock,
  intend: () => Promise<void>,
  start: (onSent: () => void) => Promise<T>,
): Promise<T> {
  const { answer } = await alone('post', async () => {
    await intend();
    const { promise: hasLeft, resolve: leave } = Promise.withResolvers<unknown>();
    const begun = start(() => leave(undefined));
    begun.then(leave, leave);
    await hasLeft;
    return { answer: begun };
  });
  return answer;
}

/** What is no plain value is JSON in a field of the form. `node:querystring` makes the same of it in three times as long. */
function formOf(args: unknown): string {
  const fields: string[] = [];
  for (const [name, value] of Object.entries(args ?? {})) {
    if (value === undefined || value === null) continue;
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    fields.push(`${encodeURIComponent(name)}=${encodeURIComponent(text)}`);
  }
  return fields.join('&');
}

/** What every answer of the Web API has. */
interface Said {
  ok: boolean;
  error?: string;
  response_metadata?: object;
}

/** @throws SlackFailure for every answer that is no success */
function readAnswer<Method extends string>(
  method: Method,
  { status, headers, body }: HttpAnswer,
  now: number,
): AnswerOf<Method> {
  if (status === 429) {
    const retryAt = Math.max(parseRetryAfter(headers['retry-after'], now) ?? now, now + SHORTEST_PAUSE_MS);
    throw new SlackFailure(method, 'busy', 'ratelimited', { retryAt });
  }
  if (status !== 200) throw new SlackFailure(method, 'unreachable', `http_${status}`);
  const answer = parse<AnswerOf<Method>>(body);
  if (answer === undefined) throw new SlackFailure(method, 'unreachable', 'not_json');
  if (!answer.ok) throw failureNamed(method, answer.error ?? 'unknown_error');
  const scopes = headers['x-oauth-scopes'];
  if (typeof scopes === 'string')
    answer.response_metadata = { ...answer.response_metadata, scopes: scopes.trim().split(/\s*,\s*/) };
  return answer;
}

/** Undefined for what is no answer of Slack's, e.g. a proxy's page. */
function parse<T>(body: Buffer): (T & Said) | undefined {
  try {
    const parsed: (T & Said) | null = JSON.parse(body.toString());
    return typeof parsed?.ok === 'boolean' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

async function sendBytes(dispatcher: Dispatcher, url: URL, body: Uint8Array): Promise<number> {
  const request = {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body,
    mostBytes: () => MOST_OF_RESPONSE,
  } as const;
  const { status } = await exchange(dispatcher, request, { timeoutMs: UPLOAD_TIMEOUT_MS });
  return status;
}

export type ResponseMode = 'ephemeral' | 'in_channel' | 'replace' | 'delete';

/** What is answered by a `response_url`. */
export interface UrlAnswer {
  message: Message;
  mode: ResponseMode;
  /** Slack puts what is new into a thread only where its answer says so. */
  threadTs?: string | undefined;
}

/** Slack says "ok", or a word more. */
const MOST_OF_RESPONSE = 64 * 1024;

/** Slack may say no with a 200 too. */
const REFUSAL = /^\s*\{\s*"ok"\s*:\s*false\b/;

/**
 * Answers by a `response_url` (5 uses in 30 minutes). It came in a signed request, but is used only for the
 * hosts that the operator allowed, and never through a redirect.
 * @returns false where it was refused, used up or not reached, so that the caller can answer another way
 */
export async function postToResponseUrl(
  agent: Dispatcher,
  url: string,
  answer: UrlAnswer,
  allowedHosts: readonly string[],
  log: Logger,
): Promise<boolean> {
  const address = URL.parse(url);
  if (address === null || !isAllowed(address, allowedHosts)) {
    log.warn({ event: 'response_url_refused' }, 'a response_url on a host that is not allowed was refused');
    return false;
  }
  try {
    const { origin, pathname, search } = address;
    const request = {
      origin,
      path: `${pathname}${search}`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(answer)),
      mostBytes: () => MOST_OF_RESPONSE,
    } as const;
    const { status, body } = await exchange(agent, request, { timeoutMs: TIMEOUT_MS });
    if (status === 200 && !REFUSAL.test(body.toString())) return true;
    log.warn({ event: 'response_url_failed', status }, 'a response_url did not take the answer');
    return false;
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    log.warn({ event: 'response_url_failed', reason }, 'a response_url was not reached');
    return false;
  }
}

function isAllowed(parsed: URL, allowedHosts: readonly string[]): boolean {
  if (parsed.username !== '' || parsed.password !== '') return false;
  const isLoopback = isThisMachine(parsed.hostname);
  if (parsed.protocol !== 'https:' && !(isLoopback && parsed.protocol === 'http:')) return false;
  const isUsualPort = parsed.port === '' || isLoopback;
  return allowedHosts.includes(parsed.host) || (isUsualPort && allowedHosts.includes(parsed.hostname));
}

function bodyOf({ message, mode, threadTs }: UrlAnswer): object {
  if (mode === 'delete') return { delete_original: true };
  if (mode === 'replace') return { ...inert(message), replace_original: true };
  return { ...inert(message), response_type: mode, replace_original: false, ...inThread(threadTs) };
}

export const inThread = (ts: string | undefined) => (ts === undefined ? {} : { thread_ts: ts });
