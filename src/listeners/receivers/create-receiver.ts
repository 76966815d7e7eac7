import type { Receiver } from '@slack/bolt';
import type { Logger } from '../../observability/log.ts';
import type { TokenHealth } from '../../slack/token-health.ts';
import { createHttpReceiver } from './http-receiver.ts';
import type { Routes } from './http-server.ts';
import { createSocketModeReceiver } from './socket-mode.ts';

export interface InboundOptions {
  /** Switches Socket Mode on. */
  appToken: string | undefined;
  signingSecret: string | undefined;
  apiUrl: string;
  now: () => number;
  log: Logger;
  tokenHealth: TokenHealth;
  onAck: (ms: number) => void;
  onRefused: (reason: string) => void;
}

/** How Slack reaches us: by signed requests to our listener, or over a socket that we open. */
export function createReceiver(options: InboundOptions): { receiver: Receiver; routes: Routes } {
  const { appToken, signingSecret = '' } = options;
  if (appToken !== undefined)
    return { receiver: createSocketModeReceiver({ ...options, appToken }), routes: {} };
  const receiver = createHttpReceiver({ ...options, signingSecret });
  return { receiver, routes: { 'POST /slack/events': receiver.handler } };
}
