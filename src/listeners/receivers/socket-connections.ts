import { setTimeout as sleep } from 'node:timers/promises';
import { type App, SocketModeReceiver } from '@slack/bolt';
import { z } from 'zod';
import { parseJson } from '../../core/json.ts';
import { backoff } from '../../core/retry.ts';
import type { Logger } from '../../observability/log.ts';
import { asSlackFailure, isSlackFailure } from '../../slack/failure.ts';
import { libraryLogger } from '../../slack/sdk.ts';
import { isAboutToken, type TokenHealth } from '../../slack/token-health.ts';

export interface SocketOptions {
  appToken: string;
  apiUrl: string;
  log: Logger;
  tokenHealth: TokenHealth;
}

/** Work on the payloads that came over one connection, each until it is acknowledged. */
export type Pending = Set<Promise<void>>;

interface Connection {
  receiver: SocketModeReceiver;
  pending: Pending;
  openedAt: number;
}

/** Three drops in a row are each over within a second. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 30_000;
/** Slack says hello at once; a connection without it is none. */
const HELLO_WITHIN_MS = 10_000;
/** One that ends sooner counts as a failure, so that a flapping network does not use up Slack's rate limit. */
const STABLE_MS = 10_000;

const Refresh = z.object({ type: z.literal('disconnect'), reason: z.enum(['warning', 'refresh_requested']) });

/**
 * Keeps one connection open. When Slack is about to close it, the next one stands before it is closed; when it drops, the
 * next one is opened at once. The library's own way closes first, and waits five seconds before it connects again; so
 * each connection here is a receiver of its own that never reconnects.
 */
export function createSocketConnections(options: SocketOptions, appFor: (pending: Pending) => App) {
  const { log, tokenHealth } = options;
  /** Slack refused the token. */
  const refused = Promise.withResolvers<void>();
  const stopping = new AbortController();
  const open = new Set<Connection>();
  let current: Connection | undefined;
  let renewal: Promise<void> | undefined;
  let failures = 0;

  function connect(): Connection {
    const receiver = createReceiver(options);
    const connection = { receiver, pending: new Set<Promise<void>>(), openedAt: performance.now() };
    receiver.init(appFor(connection.pending));
    onRefresh(receiver, () => {
      if (connection === current) void replace(connection);
    });
    receiver.client.on('disconnected', () => {
      open.delete(connection);
      if (connection !== current || stopping.signal.aborted) return;
      log.warn({ event: 'slack_socket_dropped' }, 'the connection to Slack was lost');
      failures = performance.now() - connection.openedAt < STABLE_MS ? failures + 1 : 0;
      current = undefined;
      void renew();
    });
    return connection;
  }

  async function replace(old: Connection): Promise<void> {
    await renew();
    await close(old);
  }

  function renew(): Promise<void> {
    renewal ??= openNext().finally(() => {
      renewal = undefined;
    });
    return renewal;
  }

  /** Tries until a connection stands. */
  async function openNext(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (failures > 0) await pause(failures, stopping.signal);
      if (await stands(connect())) return;
    }
  }

  async function stands(connection: Connection): Promise<boolean> {
    open.add(connection);
    try {
      await hello(connection.receiver);
    } catch (error) {
      open.delete(connection);
      const failure = asSlackFailure('apps.connections.open', error, Date.now());
      failures += 1;
      const reason = isSlackFailure(failure) ? failure.reason : 'no_hello';
      if (isAboutToken(failure)) tokenHealth.refuse('SLACK_APP_TOKEN', reason);
      if (isAboutToken(failure)) refused.resolve();
      log.warn({ event: 'slack_socket_not_opened', reason, failures }, 'no connection to Slack was opened');
      return false;
    }
    tokenHealth.accept('SLACK_APP_TOKEN');
    if (stopping.signal.aborted) await close(connection);
    else current = connection;
    return true;
  }

  async function close(connection: Connection): Promise<void> {
    await Promise.all(connection.pending);
    open.delete(connection);
    await connection.receiver.stop();
  }

  return {
    /** Resolves once the first connection stands, or Slack refuses the app token, which is then tried on. */
    start: () => Promise.race([renew(), refused.promise]),
    /** Closes all connections, each once its payloads are acknowledged. */
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([...open].map(close));
    },
  };
}

async function pause(failures: number, signal: AbortSignal): Promise<void> {
  const ms = backoff(FIRST_WAIT_MS, failures, Math.random(), { longestMs: LONGEST_WAIT_MS });
  await sleep(ms, undefined, { signal, ref: false }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** One that neither reconnects nor repeats calls: both are up to us. */
function createReceiver({ appToken, apiUrl, log }: SocketOptions): SocketModeReceiver {
  return new SocketModeReceiver({
    appToken,
    logger: libraryLogger(log, 'slack_socket'),
    autoReconnectEnabled: false,
    installerOptions: { clientOptions: { slackApiUrl: apiUrl, retryConfig: { retries: 0 } } },
    customPropertiesExtractor: ({ envelope_id: envelopeId }: { envelope_id: string }) => ({ envelopeId }),
  });
}

async function hello(receiver: SocketModeReceiver): Promise<void> {
  const timer = new AbortController();
  const late = sleep(HELLO_WITHIN_MS, undefined, { signal: timer.signal }).then(() => receiver.stop());
  late.catch(() => undefined); // Aborted below, or the failure of a connection that is given up.
  await receiver.start().finally(() => timer.abort());
}

/** The library closes a connection as soon as Slack asks for another; here we are asked first. */
function onRefresh({ client }: SocketModeReceiver, refresh: () => void): void {
  const passOn = client.listeners('ws_message');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: boolean) => {
    if (isRefresh(data)) return refresh();
    for (const listener of passOn) listener.call(client, data, isBinary);
  });
}

function isRefresh(data: unknown): boolean {
  if (typeof data !== 'string' || !data.includes('"disconnect"')) return false;
  return Refresh.safeParse(parseJson(data)).success;
}
