import type { WebSocket } from 'ws';

/** One connection that the app holds open in Socket Mode. */
export interface SocketLink {
  id: string;
  socket: WebSocket;
  /** Whether Slack has said that it closes it soon. */
  ending: boolean;
  closed: Promise<void>;
}
