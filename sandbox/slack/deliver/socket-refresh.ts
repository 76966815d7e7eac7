import { inBackground, type SocketLink, type World } from '../world.ts';
import { sayDisconnect } from './socket-mode.ts';

export interface RefreshOptions {
  /** A warning is for some seconds later, a request for now; a warning by default. */
  reason?: 'warning' | 'refresh_requested';
  /** Only this connection, by its id; else all that are open. */
  connection?: string;
  /** Milliseconds by Slack's movable clock until it closes the connection, 10,000 by default. */
  closeAfterMs?: number;
}

const CLOSE_AFTER_MS = 10_000;

/** Slack's refresh: it says that a connection will end, and ends it later. Until then it still delivers over it. */
export function refreshConnections(world: World, options: RefreshOptions = {}): void {
  const { reason = 'warning', connection, closeAfterMs = CLOSE_AFTER_MS } = options;
  for (const link of pick(world, connection)) {
    link.ending = true;
    sayDisconnect(link.socket, reason);
    inBackground(world, closeLater(world, link, closeAfterMs));
  }
  world.changes.emit({ type: 'sockets' });
}

async function closeLater(world: World, { socket }: SocketLink, ms: number): Promise<void> {
  const isOver = await world.time
    .waitUntil(world.time.now() + ms, world.stopping.signal)
    .then(() => true)
    .catch(() => false);
  if (isOver) socket.close(1000);
}

export interface DropOptions {
  /** Only this connection, by its id; else all that are open. */
  connection?: string;
  /** False where what was not acknowledged is lost; else it is sent again over another connection. */
  resend?: boolean;
}

/** Connections end without a word, as by a network that fails. */
export function dropConnections(world: World, { connection, resend = true }: DropOptions = {}): void {
  for (const link of pick(world, connection)) {
    link.resends = resend;
    link.socket.terminate();
  }
}

function pick(world: World, connection: string | undefined): SocketLink[] {
  const links = [...world.sockets];
  if (connection === undefined) return links;
  const found = links.filter((link) => link.id === connection);
  if (found.length === 0) throw new RangeError(`there is no connection ${connection}`);
  return found;
}
