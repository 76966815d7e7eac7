import type { WebSocket } from 'ws';

/** One connection that the app holds open in Socket Mode. */
export interface SocketLink {
  id: string;
  socket: WebSocket;
  /** Whether Slack has said that it closes it soon. */
  ending: boolean;
  /** Whether what was not acknowledged when it closed is sent over another one. */
  resends: boolean;
  closed: Promise<void>;
}
