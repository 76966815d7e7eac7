import {
  type FetchFunction,
  LogLevel,
  type Logger as SlackLogger,
  type WebAPICallResult,
  WebClient,
} from '@slack/web-api';
import { Agent, type Dispatcher, request } from 'undici';
import type { Clock } from '../core/clock.ts';
import { exchange, type HttpAnswer } from '../core/exchange.ts';
import type { Logger } from '../observability/log.ts';
import type { SpanStart, Tracing } from '../observability/tracing.ts';
import { asSlackFailure, SlackFailure } from './failure.ts';
import { createPostJournal, type PostJournal } from './post-journal.ts';

/** Slack's Web API under one address, over one pool of connections. */
export interface Web {
  /** The client of one token; the same object for the same token. */
  client(token: string): WebClient;
  /** What must be stored right before a post leaves. */
  readonly journal: PostJournal;
  /** For calls without a token. */
  readonly anonymous: WebClient;
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
const UPLOAD_TIMEOUT_MS = 60_000;
/** A client takes some 60 kB of memory and 0.1 ms to make, so the workspaces at work have one, and not all. */
const MOST_CLIENTS = 300;

/**
 * Never passes `headers` to WebClient: it writes the first token into that object and sends it for every
 * workspace. Retries and rate limits are ours (src/slack/rate-limit.ts), because WebClient repeats posts and lets
 * one 429 pause everything.
 */
export function createWeb(apiUrl: string, log: Logger): Web {
  const agent = new Agent({ connections: 64, keepAliveTimeout: 30_000 });
  const fetch = createUndiciFetch(agent, TIMEOUT_MS);
  const journal = createPostJournal();
  const clients = new Map<string, WebClient>();
  const slackApiUrl = apiUrl.endsWith('/') ? apiUrl : `${apiUrl}/`;

  function open(token?: string): WebClient {
    return new WebClient(token, {
      slackApiUrl,
      // `fetch` has one, without a signal of its own for each call.
      timeout: 0,
      allowAbsoluteUrls: false,
      rejectRateLimitedCalls: true,
      retryConfig: { retries: 0 },
      maxRequestConcurrency: 100,
      logLevel: LogLevel.ERROR,
      logger: libraryLogger(log, 'slack_web_client'),
      fetch: (url, init) => journal.send(init?.body, () => fetch(url, init)),
    });
  }

  return {
    client(token) {
      const known = clients.get(token);
      if (known !== undefined) return known;
      const client = open(token);
      clients.set(token, client);
      const [oldest = token] = clients.keys();
      if (clients.size > MOST_CLIENTS) clients.delete(oldest);
      return client;
    },
    journal,
    anonymous: open(),
    origin: new URL(slackApiUrl).origin,
    sendBytes: (url, bytes) => sendBytes(agent, url, bytes),
    close: () => agent.close(),
  };
}

/** One call, without repetition. */
export type CallOnce = <T extends WebAPICallResult>(
  method: string,
  run: (client: WebClient) => Promise<T>,
) => Promise<T>;

interface CallParts {
  /** The workspace's; undefined where Deckhand is not installed. */
  token(): Promise<string | undefined>;
  web: Web;
  clock: Clock;
  tracing: Tracing;
  observe?: ((method: string, outcome: string, ms: number) => void) | undefined;
}

/** Calls with the workspace's token, each in a span of its own. */
export function createCallOnce({ token, web, clock, tracing, observe }: CallParts): CallOnce {
  const { hostname } = new URL(web.origin);
  return async (method, run) => {
    const secret = await token();
    if (secret === undefined) throw new SlackFailure(method, 'revoked', 'not_installed');
    return tracing.run(spanOf(method, hostname), async () => {
      const start = performance.now();
      try {
        const result = await run(web.client(secret));
        observe?.(method, 'ok', performance.now() - start);
        return result;
      } catch (error) {
        const failure = asSlackFailure(method, error, clock.now());
        const outcome = failure instanceof SlackFailure ? failure.kind : 'bug';
        observe?.(method, outcome, performance.now() - start);
        throw failure;
      }
    });
  };
}

function spanOf(method: string, host: string): SpanStart {
  const attributes = () => ({
    'http.request.method': 'POST',
    'server.address': host,
    'slack.method': method,
  });
  return { name: `POST ${method}`, kind: 'client', attributes };
}

async function sendBytes(dispatcher: Dispatcher, url: URL, body: Uint8Array): Promise<number> {
  const answer = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body,
    dispatcher,
    signal: AbortSignal.timeout(UPLOAD_TIMEOUT_MS),
  });
  await answer.body.dump();
  return answer.statusCode;
}

/** The part of `fetch` that WebClient needs: it posts a form, and reads the whole answer in time. */
export function createUndiciFetch(dispatcher: Dispatcher, timeoutMs: number): FetchFunction {
  return async (url, init) => {
    const { body, headers } = init ?? {};
    if (typeof body !== 'string') throw new TypeError('only forms are sent');
    const { origin, pathname: path } = new URL(url);
    // An encoded body would have to be decoded.
    const identity = { ...headers, 'accept-encoding': 'identity' };
    const request = { origin, path, method: 'POST', headers: identity, body, mostBytes } as const;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new Error('Slack did not answer in time')), timeoutMs);
    try {
      return responseOf(String(url), await exchange(dispatcher, request, stop.signal));
    } finally {
      clearTimeout(timer);
    }
  };
}

function mostBytes(): number {
  return Number.POSITIVE_INFINITY;
}

function responseOf(url: string, { status, headers, body }: HttpAnswer): Awaited<ReturnType<FetchFunction>> {
  const values = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const text = async (): Promise<string> => body.toString();
  return {
    ok: status >= 200 && status < 300,
    status,
    statusText: '',
    url,
    headers: { get: (name) => headers[name]?.toString() ?? null, entries: () => values },
    text,
    json: async () => JSON.parse(await text()),
    arrayBuffer: async () => Uint8Array.from(body).buffer,
  };
}

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
