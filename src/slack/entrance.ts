import type { Receiver } from '@slack/bolt';
import type { Routes } from '../http.ts';
import type { Logger } from '../log.ts';
import { createReceiver } from './receiver.ts';
import { createSocketModeReceiver } from './socket-mode.ts';

export interface EntranceOptions {
  /** Switches Socket Mode on. */
  appToken: string | undefined;
  signingSecret: string | undefined;
  apiUrl: string;
  now: () => number;
  log: Logger;
  onAck: (ms: number) => void;
  onRefused: (reason: string) => void;
}

/** How Slack reaches us: by signed requests to our listener, or over a socket that we open. */
export function createEntrance(options: EntranceOptions): { receiver: Receiver; routes: Routes } {
  const { appToken, signingSecret = '', apiUrl, log, onAck } = options;
  if (appToken !== undefined)
    return { receiver: createSocketModeReceiver({ appToken, apiUrl, log, onAck }), routes: {} };
  const receiver = createReceiver({ ...options, signingSecret });
  return { receiver, routes: { 'POST /slack/events': receiver.handler } };
}
