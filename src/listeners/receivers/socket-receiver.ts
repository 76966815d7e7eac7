import { type App, type Receiver, type ReceiverEvent, SocketModeReceiver } from '@slack/bolt';
import type { FetchFunction } from '@slack/web-api';
import { z } from 'zod';
import { describeUnreached } from '../../core/http.ts';
import { defined, isObject, parseObject } from '../../core/json.ts';
import type { Logger } from '../../observability/log.ts';
import { createNamedFailure } from '../../slack/failure.ts';
import { isAboutToken, type TokenHealth } from '../../slack/token-health.ts';
import { libraryLogger, type Web } from '../../slack/web.ts';
import { processPayload } from '../payloads/schemas.ts';

export interface SocketReceiverOptions {
  appToken: string;
  apiUrl: string;
  log: Logger;
  tokenHealth: TokenHealth;
  web: Pick<Web, 'fetch' | 'webSocketAgent'>;
  /** Called with the milliseconds from a payload's arrival to its ack. */
  onAck: (ms: number) => void;
  /** Called when the connection opens or closes. */
  onOpen: (isOpen: boolean) => void;
}

/** An address to which a WebSocket can be opened. */
const SocketAddress = z
  .string()
  .regex(/^wss?:\/\/[^\s#]+$/)
  .pipe(z.url());
const WithEvent = z.looseObject({ payload: z.looseObject({ event: z.looseObject({ type: z.string() }) }) });

/** The library's own retries of a connection, but without an end. */
const RETRIES = { forever: true, factor: 1.3, maxTimeout: 30_000 };
const OPEN_TIMEOUT_MS = 10_000;
/** Time without a sign of Slack until the link counts as silent; a third of it later it is closed and opened again. */
const PING_TIMEOUT_MS = 3_000;

/**
 * Bolt's own receiver for Socket Mode, for installations without a public address. `stop` closes the connection once
 * every payload is acknowledged.
 */
export function createSocketReceiver(options: SocketReceiverOptions): Receiver {
  const { appToken, apiUrl, log, web, onOpen } = options;
  /** Resolves once it is connected, Slack refuses the app token, or it is stopped. */
  const settled = Promise.withResolvers<void>();
  const pending = new Set<Promise<void>>();
  let isStopping = false;
  let isConnecting = false;

  /**
   * Throws on a refused token or an unreadable answer. The client would give up for good, but an admin may mend either.
   * After `stop` it never resolves, so that the client opens no further connection.
   */
  async function openConnection(...request: Parameters<FetchFunction>): Promise<Response> {
    const answer = isStopping ? undefined : await requestAddress(options, request, settled.resolve);
    return answer === undefined || isStopping ? new Promise(() => undefined) : answer;
  }

  const receiver = new SocketModeReceiver({
    appToken,
    ...defined({ dispatcher: web.webSocketAgent }),
    clientPingTimeout: PING_TIMEOUT_MS,
    logger: libraryLogger(log, 'slack_socket'),
    installerOptions: {
      clientOptions: {
        slackApiUrl: apiUrl,
        fetch: openConnection,
        timeout: OPEN_TIMEOUT_MS,
        retryConfig: RETRIES,
      },
    },
    async processEventErrorHandler({ error: err }) {
      log.error({ event: 'payload_failed', err }, 'Payload not acknowledged');
      return false;
    },
  });
  receiver.client
    .on('connecting', () => {
      isConnecting = true;
    })
    .on('connected', () => {
      isConnecting = false;
      onOpen(true);
      settled.resolve();
      if (isStopping) void receiver.stop();
    })
    .on('error', (error: unknown) => onError(options, error))
    .on('reconnecting', () => onLost(options));
  guardMessages(receiver.client);

  return {
    init(app) {
      const gate: Pick<App, 'processEvent'> = {
        async processEvent(event) {
          if (isStopping) return;
          const work = processAndAcknowledge(options, app, event).finally(() => pending.delete(work));
          pending.add(work);
          await work;
        },
      };
      receiver.init(gate as App);
    },
    async start() {
      void receiver.start().then(
        () => settled.resolve(),
        () => settled.resolve(),
      );
      await settled.promise;
    },
    async stop() {
      isStopping = true;
      settled.resolve();
      await Promise.allSettled(pending);
      // A client that is stopped while it connects rejects a promise that nobody awaits, so it is stopped afterwards.
      if (!isConnecting) await receiver.stop();
    },
  };
}

/** Processes a payload, even if the connection is lost before its ack. */
async function processAndAcknowledge(
  { log, onAck }: SocketReceiverOptions,
  app: App,
  { body, ack }: ReceiverEvent,
): Promise<void> {
  const arrivedAt = performance.now();
  const result = await processPayload(app, body, log);
  // Slack tells a person who waits for an answer, but would only send an event again.
  if (result === undefined && body.type !== 'event_callback') return;
  try {
    await ack(result?.answer);
    onAck(performance.now() - arrivedAt);
  } catch (err) {
    log.warn({ event: 'ack_not_sent', err }, 'Acknowledgement not sent');
  }
}

/**
 * Keeps messages from the client on which it would throw: other than objects, and those of events without one, such as
 * `app_rate_limited`. The latter get another type, which the client passes on.
 */
function guardMessages(client: SocketModeReceiver['client']): void {
  const read = client.listeners('ws_message');
  client.removeAllListeners('ws_message').on('ws_message', (data: unknown, isBinary: boolean) => {
    const message = typeof data === 'string' ? parseObject(data) : undefined;
    if (message === undefined) return;
    const isWhole = message.type !== 'events_api' || WithEvent.safeParse(message).success;
    const payload = { type: 'event_callback', ...(isObject(message.payload) ? message.payload : {}) };
    const passed = isWhole ? data : JSON.stringify({ ...message, type: 'events_api_without_event', payload });
    for (const each of read) each(passed, isBinary);
  });
}

/** Logs why the WebSocket did not open; the library retries. */
function onError(options: SocketReceiverOptions, error: unknown): void {
  const reason = describeUnreached(error);
  if (reason !== undefined) reportNotOpened(options, reason);
}

function onLost({ log, onOpen }: SocketReceiverOptions): void {
  onOpen(false);
  log.warn({ event: 'slack_socket_dropped' }, 'Connection to Slack lost');
}

function reportNotOpened({ log, onOpen }: SocketReceiverOptions, reason: string): void {
  onOpen(false);
  log.warn({ event: 'slack_socket_not_opened', reason }, 'Connection to Slack not opened');
}

/** Requests the address of a connection. @throws if Slack refuses or does not answer, so that the client retries */
async function requestAddress(
  options: SocketReceiverOptions,
  request: Parameters<FetchFunction>,
  onTokenRefused: () => void,
): Promise<Response> {
  const { tokenHealth, web } = options;
  const answer = await web.fetch(...request).catch((error: unknown) => {
    reportNotOpened(options, describeUnreached(error) ?? 'unreachable');
    throw error;
  });
  // The client itself heeds `Retry-After` and retries after every other status.
  if (answer.status !== 200) return answer;
  const result = parseObject(await answer.clone().text());
  if (result?.ok === true && !SocketAddress.safeParse(result.url).success) {
    reportNotOpened(options, 'no_address');
    throw createNamedFailure('apps.connections.open', 'no_address');
  }
  if (result?.ok === true) {
    tokenHealth.accept('SLACK_APP_TOKEN');
    return answer;
  }
  const failure = createNamedFailure('apps.connections.open', String(result?.error));
  reportNotOpened(options, failure.reason);
  if (isAboutToken(failure)) {
    tokenHealth.refuse('SLACK_APP_TOKEN', failure.reason);
    onTokenRefused();
  }
  throw failure;
}
