import { LogLevel, WebClient } from '@slack/web-api';
import { Agent, request } from 'undici';
import type { Logger } from '../observability/log.ts';
import { createPostJournal, type PostJournal } from './post-journal.ts';
import { silentLogger } from './slack-logger.ts';
import { createSlimFetch } from './undici-fetch.ts';

/** Slack's Web API under one address, over one pool of connections. */
export interface Web {
  /** The client of one token; the same object for the same token. */
  client(token: string): WebClient;
  /** What must be stored right before a post leaves. */
  readonly intents: PostJournal;
  /** For what is asked without a token. */
  readonly anonymous: WebClient;
  /** Where the Web API is: scheme, host and port. */
  readonly origin: string;
  /**
   * Posts a file's bytes, without any token and through no redirect. Whoever calls has checked the address.
   * @returns the HTTP status; rejects where there is no answer
   */
  sendBytes(url: URL, bytes: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const UPLOAD_TIMEOUT_MS = 60_000;
/** A client takes some 60 kB of memory and a tenth of a millisecond to make: kept for those at work, not for all. */
const MOST_CLIENTS = 300;

/**
 * Never passes `headers` to WebClient: it writes the first token into that object and sends it for every
 * workspace. Retries and rate limits are ours (src/slack/rate-limit.ts), because WebClient repeats posts and lets
 * one 429 pause everything.
 */
export function createWeb(apiUrl: string, log: Logger): Web {
  const agent = new Agent({ connections: 64, keepAliveTimeout: 30_000 });
  const slimFetch = createSlimFetch(agent);
  const intents = createPostJournal();
  const clients = new Map<string, WebClient>();
  const slackApiUrl = apiUrl.endsWith('/') ? apiUrl : `${apiUrl}/`;

  function open(token?: string): WebClient {
    return new WebClient(token, {
      slackApiUrl,
      timeout: TIMEOUT_MS,
      allowAbsoluteUrls: false,
      rejectRateLimitedCalls: true,
      retryConfig: { retries: 0 },
      maxRequestConcurrency: 100,
      logLevel: LogLevel.ERROR,
      logger: silentLogger(log, 'slack_web_client'),
      fetch: (url, init) => intents.send(init?.body, () => slimFetch(url, init)),
    });
  }

  return {
    client(token) {
      const known = clients.get(token);
      if (known !== undefined) return known;
      const client = open(token);
      clients.set(token, client);
      if (clients.size > MOST_CLIENTS) clients.delete([...clients.keys()][0] ?? token);
      return client;
    },
    intents,
    anonymous: open(),
    origin: new URL(slackApiUrl).origin,
    async sendBytes(url, bytes) {
      const answer = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream' },
        body: bytes,
        dispatcher: agent,
        signal: AbortSignal.timeout(UPLOAD_TIMEOUT_MS),
      });
      await answer.body.dump();
      return answer.statusCode;
    },
    close: () => agent.close(),
  };
}
