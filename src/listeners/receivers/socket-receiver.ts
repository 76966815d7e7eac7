import { type App, type Receiver, type ReceiverEvent, SocketModeReceiver } from '@slack/bolt';
import type { FetchFunction } from '@slack/web-api';
import { describeUnreached } from '../../core/http.ts';
import { defined, parseObject } from '../../core/json.ts';
import type { Logger } from '../../observability/log.ts';
import { failureNamed } from '../../slack/failure.ts';
import { isAboutToken, type TokenHealth } from '../../slack/token-health.ts';
import { libraryLogger, type Web } from '../../slack/web.ts';
import { processPayload } from './process-payload.ts';

export interface SocketReceiverOptions {
  appToken: string;
  apiUrl: string;
  log: Logger;
  tokenHealth: TokenHealth;
  web: Pick<Web, 'fetch' | 'webSocketAgent'>;
  /** Milliseconds from the payload's arrival to its ack. */
  onAck: (ms: number) => void;
  /** Whether a connection is open from now on. */
  onOpen: (isOpen: boolean) => void;
}

/** As the library tries to open a connection, but without an end, and at least so often. */
const RETRIES = { forever: true, factor: 1.3, maxTimeout: 30_000 };
const OPEN_TIMEOUT_MS = 10_000;
/** A link that went silent is noticed after this time, closed a third of it later, and opened again after as long. */
const PING_TIMEOUT_MS = 3_000;

/**
 * Slack over a connection that Slack's own client opens, for where there is no public address. `stop` ends it once what
 * came over it is acknowledged.
 */
export function createSocketReceiver(options: SocketReceiverOptions): Receiver {
  const { appToken, apiUrl, log, web, onAck, onOpen } = options;
  /** It is connected, Slack refuses the app token, or it was stopped meanwhile. */
  const settled = Promise.withResolvers<void>();
  const pending = new Set<Promise<void>>();
  let isStopping = false;
  let isConnecting = false;

  /**
   * A refused token or an answer that is none makes the client give up for good, while an admin may mend either: to the
   * client they are one more call that failed. After `stop` it waits for ever, and so opens no further connection.
   */
  async function openConnection(...request: Parameters<FetchFunction>): Promise<Response> {
    const answer = isStopping ? undefined : await askSlack(options, request, settled.resolve);
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
      log.error({ event: 'payload_failed', err }, 'A payload was not acknowledged, so Slack sends it again');
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

  /** What was asked is carried out, also where the connection went before its ack. */
  async function take(app: App, { body, ack }: ReceiverEvent): Promise<void> {
    const arrived = performance.now();
    const known = await processPayload(app, body, log);
    if (known === undefined) return;
    try {
      await ack(known.answer);
      onAck(performance.now() - arrived);
    } catch (err) {
      log.warn({ event: 'ack_not_sent', err }, 'an acknowledgement could not be sent');
    }
  }

  return {
    init(app) {
      const gate: Pick<App, 'processEvent'> = {
        async processEvent(event) {
          if (isStopping) return;
          const taken = take(app, event).finally(() => pending.delete(taken));
          pending.add(taken);
          await taken;
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
      // Ended while it connects, the client would reject what nobody waits for; it is ended once it is connected.
      if (!isConnecting) await receiver.stop();
    },
  };
}

/** Says why the WebSocket was not opened; the library tries again by itself. */
function onError(options: SocketReceiverOptions, error: unknown): void {
  const reason = describeUnreached(error);
  if (reason !== undefined) reportNotOpened(options, reason);
}

function onLost({ log, onOpen }: SocketReceiverOptions): void {
  onOpen(false);
  log.warn({ event: 'slack_socket_dropped' }, 'the connection to Slack was lost, and is opened again');
}

function reportNotOpened({ log, onOpen }: SocketReceiverOptions, reason: string): void {
  onOpen(false);
  log.warn({ event: 'slack_socket_not_opened', reason }, 'No connection to Slack was opened');
}

/** @throws where Slack refuses or does not answer, which the client tries again */
async function askSlack(
  options: SocketReceiverOptions,
  request: Parameters<FetchFunction>,
  onTokenRefused: () => void,
): Promise<Response> {
  const { tokenHealth, web } = options;
  const answer = await web.fetch(...request).catch((error: unknown) => {
    reportNotOpened(options, describeUnreached(error) ?? 'unreachable');
    throw error;
  });
  // The client itself waits where it is told to, and tries again after any other status.
  if (answer.status !== 200) return answer;
  const said = parseObject(await answer.clone().text());
  if (said?.ok === true) {
    tokenHealth.accept('SLACK_APP_TOKEN');
    return answer;
  }
  const failure = failureNamed('apps.connections.open', String(said?.error));
  reportNotOpened(options, failure.reason);
  if (isAboutToken(failure)) {
    tokenHealth.refuse('SLACK_APP_TOKEN', failure.reason);
    onTokenRefused();
  }
  throw failure;
}
