import type { Receiver } from '@slack/bolt';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../observability/log.ts';
import type { TokenHealth } from '../../slack/token-health.ts';
import type { Store } from '../../store/store.ts';
import type { Turns } from '../background-work.ts';
import { createHttpReceiver } from './http-receiver.ts';
import type { Routes } from './http-server.ts';
import { createSignatures } from './signatures.ts';
import { createSocketModeReceiver } from './socket-mode.ts';

export interface InboundOptions {
  /** Switches Socket Mode on. */
  appToken: string | undefined;
  signingSecret: string | undefined;
  apiUrl: string;
  clock: Clock;
  store: Store;
  log: Logger;
  tokenHealth: TokenHealth;
  onAck: (ms: number) => void;
  onRefused: (reason: string) => void;
  turns: Turns;
}

/** How Slack reaches us: by signed requests to our listener, or over a socket that we open. */
export function createReceiver(options: InboundOptions): { receiver: Receiver; routes: Routes } {
  const { appToken, signingSecret = '' } = options;
  if (appToken !== undefined)
    return { receiver: createSocketModeReceiver({ ...options, appToken }), routes: {} };
  const signatures = createSignatures({ ...options, signingSecret });
  const receiver = createHttpReceiver({ ...options, signatures });
  return { receiver, routes: { 'POST /slack/events': receiver.handler } };
}
