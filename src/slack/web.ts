import { hash } from 'node:crypto';
import { type FetchFunction, LogLevel, type Logger as SlackLogger, WebClient } from '@slack/web-api';
import type { Dispatcher } from 'undici';
import { SlackFailure } from '../core/errors.ts';
import {
  describeUnreached,
  isThisMachine,
  openConnections,
  type Proxies,
  sendRequest,
} from '../core/http.ts';
import type { Message } from '../core/message.ts';
import { disableAutolinks } from '../core/mrkdwn.ts';
import { parseRetryAfter } from '../core/retry.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Logger } from '../observability/log.ts';
import { asSlackFailure, isSlackFailure } from './failure.ts';

/** Slack's Web API: one client, and one pool of connections, for all tokens. */
export type Web = ReturnType<typeof createWeb>;

const TIMEOUT_MS = 10_000;
/** Longer than any answer to what Deckhand asks. */
const MAX_BYTES = 20 * 1024 * 1024;
/** Slack asks for whole seconds. */
const MIN_PAUSE_S = 1;

/**
 * No headers are given to the client: it would write the first token into them and send it with every call. Retries and
 * rate limits are in `rate-limit.ts`, because they differ by who waits.
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
     * @param token left out where the method takes none
     * @throws SlackFailure; after `close`, the client's own error, which is not retried
     */
    async call<Method extends string>(method: Method, args: ArgumentsOf<Method>, token?: string) {
      try {
        const answer: unknown = await client.apiCall(method, { ...(args as object), token });
        return answer as AnswerOf<Method>;
      } catch (error) {
        // A call that comes after the end must not be repeated.
        if (isClosed) throw error;
        const failure = asSlackFailure(method, error, clock.now());
        if (isSlackFailure(failure)) throw failure;
        throw new SlackFailure(method, 'unreachable', 'request_failed', { cause: error });
      }
    },
    /** For what Slack names by an address of its own. */
    agent,
    /** For libraries of Slack's that have clients of their own. */
    fetch,
    /** For a WebSocket; undefined without a proxy, so that its library opens the connection itself. */
    webSocketAgent: proxies && agent,
    /** Where the Web API is: scheme, host and port. */
    origin: new URL(apiUrl).origin,
    async close(): Promise<void> {
      isClosed = true;
      await agent.close();
    },
  };
}

/** The client's way to Slack: an answer is read whole before it is an answer, and `Retry-After` is always in seconds. */
function fetchThrough(agent: Dispatcher, clock: Pick<Clock, 'now'>) {
  return async (...[address, init = {}]: Parameters<FetchFunction>): Promise<Response> => {
    const { headers = {}, body = null, signal = AbortSignal.timeout(TIMEOUT_MS) } = init;
    if (body !== null && typeof body !== 'string') throw new TypeError('only forms without files are sent');
    const { origin, pathname: path } = new URL(address);
    const request = { origin, path, method: 'POST', headers, body, maxBytes: () => MAX_BYTES } as const;
    const answer = await sendRequest(agent, request, signal);
    if (answer.tooLarge) throw new Error('the answer is too large');
    const { status } = answer;
    const said = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, `${value}`]);
    const response = new Response(answer.body, { status, headers: said });
    if (status === 429) {
      const now = clock.now();
      const retryAt = parseRetryAfter(response.headers.get('retry-after') ?? undefined, now) ?? now;
      const seconds = Math.max(MIN_PAUSE_S, Math.ceil((retryAt - now) / 1000));
      response.headers.set('retry-after', String(seconds));
    }
    return response;
  };
}

/** The same UUID for the same parts, in the form of Slack's `client_msg_id`. */
export function postId(...parts: string[]): string {
  const hex = hash('sha256', JSON.stringify(parts));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
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
const MAX_BYTES_OF_RESPONSE = 64 * 1024;

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
  const request = {
    origin: address.origin,
    path: `${address.pathname}${address.search}`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(bodyOf(answer)),
    maxBytes: () => MAX_BYTES_OF_RESPONSE,
  } as const;
  try {
    const { status, body } = await sendRequest(agent, request, AbortSignal.timeout(TIMEOUT_MS));
    if (status === 200 && !REFUSAL.test(body.toString())) return true;
    log.warn({ event: 'response_url_failed', status }, 'a response_url did not take the answer');
    return false;
  } catch (error) {
    const reason = describeUnreached(error) ?? 'unknown';
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
  if (mode === 'replace') return { ...disableAutolinks(message), replace_original: true };
  const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
  return { ...disableAutolinks(message), response_type: mode, replace_original: false, ...thread };
}

/** What stands under a name such as `users.info` in Slack's own client, which is used for its types alone. */
type At<From, Path extends string> = Path extends `${infer Head}.${infer Rest}`
  ? Head extends keyof From
    ? At<From[Head], Rest>
    : never
  : Path extends keyof From
    ? From[Path]
    : never;

/** The arguments of a Web API method. */
export type ArgumentsOf<Method extends string> =
  At<WebClient, Method> extends (args: infer Arguments) => unknown ? Arguments : never;

/** The answer of a Web API method. */
export type AnswerOf<Method extends string> =
  At<WebClient, Method> extends (...args: never[]) => Promise<infer Answer> ? Answer : never;

/**
 * A logger for Slack's libraries. Their own lines may hold bodies, addresses and codes, so only the fact that a
 * problem was reported is logged, under a name of ours.
 */
export function libraryLogger(log: Logger, event: string): SlackLogger {
  const ignore = (): void => undefined;
  return {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: () => log.warn({ event }, 'a Slack library reported a problem'),
    setLevel: ignore,
    getLevel: () => LogLevel.ERROR,
    setName: ignore,
  };
}
