import { hash } from 'node:crypto';
import { type FetchFunction, LogLevel, type Logger as SlackLogger, WebClient } from '@slack/web-api';
import type { Dispatcher } from 'undici';
import { SlackFailure } from '../core/errors.ts';
import {
  describeUnreached,
  type HttpAnswer,
  type HttpRequest,
  isThisMachine,
  openConnections,
  type Proxies,
  sendRequest,
} from '../core/http.ts';
import { isObject } from '../core/json.ts';
import { formatTs, type Message } from '../core/message.ts';
import { prepareMessage } from '../core/message-text.ts';
import { parseRetryAfter } from '../core/retry.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Logger } from '../observability/log.ts';
import { isSlackFailure, toSlackFailure } from './failure.ts';

/** Slack's Web API: one client, and one pool of connections, for all tokens. */
export type Web = ReturnType<typeof createWeb>;

const TIMEOUT_MS = 10_000;
/** Larger than any answer to Deckhand's calls. */
const MAX_BYTES = 20 * 1024 * 1024;
/** Slack asks for whole seconds. */
const MIN_PAUSE_S = 1;

/**
 * The client gets no headers: it would write the first token into them and send it with every call. Retries
 * and rate limits are in `rate-limit.ts`, because they depend on whether a person waits.
 */
export function createWeb(apiUrl: string, clock: Pick<Clock, 'now'>, log: Logger, proxies?: Proxies) {
  const options = { connections: 100, keepAliveTimeout: 30_000, allowH2: false };
  const agent = openConnections(options, { timeout: TIMEOUT_MS }, proxies);
  const fetch = fetchThrough(agent, clock);
  let isClosed = false;
  const client = new WebClient(undefined, {
    slackApiUrl: apiUrl,
    allowAbsoluteUrls: false,
    timeout: TIMEOUT_MS,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: libraryLogger(log, 'slack_client'),
    fetch,
  });
  return {
    /**
     * Calls a method once.
     * @param token left out for a method without one
     * @throws SlackFailure; after `close`, the client's own error, which nobody retries
     */
    async call<Method extends string>(method: Method, args: ArgumentsOf<Method>, token?: string) {
      try {
        const answer: unknown = await client.apiCall(method, { ...(args as object), token });
        return normaliseAnswer(answer) as AnswerOf<Method>;
      } catch (error) {
        if (isClosed) throw error;
        const failure = toSlackFailure(method, error, clock.now());
        if (isSlackFailure(failure)) throw failure;
        throw new SlackFailure(method, 'unreachable', 'request_failed', { cause: error });
      }
    },
    /** Connections for addresses that Slack names. */
    agent,
    /** For Slack's libraries that have their own client. */
    fetch,
    /** For a WebSocket. Undefined without a proxy, because the library then connects by itself. */
    webSocketAgent: proxies && agent,
    /** Scheme, host and port of the Web API. */
    origin: new URL(apiUrl).origin,
    async close(): Promise<void> {
      isClosed = true;
      await agent.close();
    },
  };
}

const TIMES: ReadonlySet<string> = new Set(['ts', 'thread_ts', 'message_ts']);

/** The answer as its types have it: no null, also as a row of a list, and each `ts` as text. Looks two levels deep. */
function normaliseAnswer(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.filter((row) => row !== null);
  if (!isObject(value) || depth > 1) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(
    entries.map(([name, field]) => {
      if (TIMES.has(name) && typeof field === 'number') return [name, formatTs(field)];
      return [name, normaliseAnswer(field, depth + 1)];
    }),
  );
}

/** Makes a `fetch` for Slack's client. It reads each answer whole, and gives `Retry-After` in seconds. */
function fetchThrough(agent: Dispatcher, clock: Pick<Clock, 'now'>) {
  return async (...[address, init = {}]: Parameters<FetchFunction>): Promise<Response> => {
    const { headers = {}, body = null, signal = AbortSignal.timeout(TIMEOUT_MS) } = init;
    if (body !== null && typeof body !== 'string') throw new TypeError('only forms without files are sent');
    const answer = await postTo(agent, new URL(address), { headers, body }, signal, MAX_BYTES);
    if (answer.tooLarge) throw new Error('the answer is too large');
    const { status } = answer;
    const entries = Object.entries(answer.headers).map(([name, value]): [string, string] => [
      name,
      `${value}`,
    ]);
    const response = new Response(answer.body, { status, headers: entries });
    if (status === 429) {
      const now = clock.now();
      const retryAt = parseRetryAfter(response.headers.get('retry-after') ?? undefined, now) ?? now;
      const seconds = Math.max(MIN_PAUSE_S, Math.ceil((retryAt - now) / 1000));
      response.headers.set('retry-after', String(seconds));
    }
    return response;
  };
}

/** Slack answers an upload or a `response_url` with a word. */
const MAX_BYTES_OF_WORD = 64 * 1024;

/** Posts to an address and follows no redirect. @throws what `sendRequest` throws */
export function postTo(
  agent: Dispatcher,
  { origin, pathname, search }: URL,
  content: Pick<HttpRequest, 'headers' | 'body'>,
  signal: AbortSignal,
  maxBytes = MAX_BYTES_OF_WORD,
): Promise<HttpAnswer> {
  const request = { origin, path: `${pathname}${search}`, method: 'POST', ...content } as const;
  return sendRequest(agent, { ...request, maxBytes: () => maxBytes }, signal);
}

/** Makes a UUID from the parts, in the form of Slack's `client_msg_id`. */
export function postId(...parts: string[]): string {
  const hex = hash('sha256', JSON.stringify(parts));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export type ResponseMode = 'ephemeral' | 'in_channel' | 'replace' | 'delete';

/** An answer by a `response_url`. */
export interface UrlAnswer {
  message: Message;
  mode: ResponseMode;
  /** For a new message. */
  threadTs?: string | undefined;
}

/** Slack may reject an answer with status 200 too. */
const REFUSAL = /^\s*\{\s*"ok"\s*:\s*false\b/;

/**
 * Answers by a `response_url` (5 uses in 30 minutes), if its host is one that the operator allowed.
 * @returns false if it was refused, used up or not reached: the caller can answer another way
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
    log.warn({ event: 'response_url_refused' }, 'response_url refused because of its host');
    return false;
  }
  const content = {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(createBody(answer)),
  };
  try {
    const { status, body } = await postTo(agent, address, content, AbortSignal.timeout(TIMEOUT_MS));
    if (status === 200 && !REFUSAL.test(body.toString())) return true;
    log.warn({ event: 'response_url_failed', status }, 'Answer by response_url refused');
    return false;
  } catch (error) {
    const reason = describeUnreached(error) ?? 'unknown';
    log.warn({ event: 'response_url_failed', reason }, 'response_url not reached');
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

function createBody({ message, mode, threadTs }: UrlAnswer): object {
  if (mode === 'delete') return { delete_original: true };
  if (mode === 'replace') return { ...prepareMessage(message), replace_original: true };
  const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
  return { ...prepareMessage(message), response_type: mode, replace_original: false, ...thread };
}

/** The type under a name such as `users.info` in Slack's own client. */
type At<From, Path extends string> = Path extends `${infer Head}.${infer Rest}`
  ? Head extends keyof From
    ? At<From[Head], Rest>
    : never
  : Path extends keyof From
    ? From[Path]
    : never;

export type ArgumentsOf<Method extends string> =
  At<WebClient, Method> extends (args: infer Arguments) => unknown ? Arguments : never;

export type AnswerOf<Method extends string> =
  At<WebClient, Method> extends (...args: never[]) => Promise<infer Answer> ? Answer : never;

/** A logger for Slack's libraries. Their lines may hold bodies, addresses and codes, so it logs only that there was one. */
export function libraryLogger(log: Logger, event: string): SlackLogger {
  const ignore = (): void => undefined;
  return {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: () => log.warn({ event }, 'Slack library reported an error'),
    setLevel: ignore,
    getLevel: () => LogLevel.ERROR,
    setName: ignore,
  };
}
