import type { Receiver } from '@slack/bolt';
import { createHttpReceiver, type ReceiverOptions } from './http-receiver.ts';
import type { Routes } from './http-server.ts';
import { createSocketModeReceiver, type SocketModeOptions } from './socket-mode.ts';

export interface InboundOptions extends ReceiverOptions, Omit<SocketModeOptions, 'appToken'> {
  /** Switches Socket Mode on. */
  appToken: string | undefined;
}

/** How Slack reaches us: by signed requests to our listener, or over a socket that we open. */
export function createReceiver(options: InboundOptions): { receiver: Receiver; routes: Routes } {
  const { appToken } = options;
  if (appToken !== undefined)
    return { receiver: createSocketModeReceiver({ ...options, appToken }), routes: {} };
  const receiver = createHttpReceiver(options);
  return { receiver, routes: { 'POST /slack/events': receiver.handler } };
}
