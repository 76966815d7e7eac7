import type { Receiver } from '@slack/bolt';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../observability/log.ts';
import type { TokenHealth } from '../../slack/token-health.ts';
import type { Turns } from '../background-work.ts';
import { createHttpReceiver } from './http-receiver.ts';
import type { Routes } from './http-server.ts';
import type { Signatures } from './signatures.ts';
import { createSocketModeReceiver } from './socket-mode.ts';

export interface InboundOptions {
  /** Switches Socket Mode on. */
  appToken: string | undefined;
  signatures: Signatures;
  apiUrl: string;
  clock: Clock;
  log: Logger;
  tokenHealth: TokenHealth;
  onAck: (ms: number) => void;
  onRefused: (reason: string) => void;
  turns: Turns;
}

/** How Slack reaches us: by signed requests to our listener, or over a socket that we open. */
export function createReceiver(options: InboundOptions): { receiver: Receiver; routes: Routes } {
  const { appToken } = options;
  if (appToken !== undefined)
    return { receiver: createSocketModeReceiver({ ...options, appToken }), routes: {} };
  const receiver = createHttpReceiver(options);
  return { receiver, routes: { 'POST /slack/events': receiver.handler } };
}
