import type { Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { Delivery } from '../state/delivery.ts';
import { newId, secretHex } from '../state/ids.ts';
import type { SocketLink, World } from '../world.ts';

/** Socket Mode: the app holds connections open and takes its deliveries from them, as documented for apps. */

const TICKET_LIFE_MS = 30_000;
const MAX_LINKS = 10;

/** The address for one connection; it works once, for half a minute. */
export function issueSocketUrl(world: World): string {
  const ticket = secretHex(16);
  world.socketTickets.set(ticket, world.time.now());
  return `${world.origin.replace('http', 'ws')}/link/?ticket=${ticket}&app_id=${world.app.appId}`;
}

/** Takes the app's connections at `/link/`. */
export function serveSockets(world: World, server: Server): void {
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    const url = new URL(request.url ?? '/', world.origin);
    const issuedAt = world.socketTickets.get(url.searchParams.get('ticket') ?? '');
    world.socketTickets.delete(url.searchParams.get('ticket') ?? '');
    const isGood = issuedAt !== undefined && world.time.now() - issuedAt <= TICKET_LIFE_MS;
    if (url.pathname !== '/link/' || !isGood) {
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (link) => welcome(world, link));
  });
}

function welcome(world: World, socket: WebSocket): void {
  if (world.sockets.size >= MAX_LINKS) {
    sayDisconnect(socket, 'too_many_websockets');
    socket.close();
    return;
  }
  const closed = Promise.withResolvers<void>();
  const link: SocketLink = { id: newId('W'), socket, ending: false, resends: true, closed: closed.promise };
  world.sockets.add(link);
  socket.on('close', () => {
    world.sockets.delete(link);
    closed.resolve();
    world.changes.emit({ type: 'sockets' });
  });
  socket.on('message', (data) => {
    if (!takeAck(world, String(data))) socket.close(1008, 'not an acknowledgement');
  });
  socket.send(
    JSON.stringify({
      type: 'hello',
      num_connections: world.sockets.size,
      connection_info: { app_id: world.app.appId },
      debug_info: { host: 'local', approximate_connection_time: 3600 },
    }),
  );
  world.changes.emit({ type: 'sockets' });
}

/** Tells the app that a connection will not stay. */
export function sayDisconnect(
  socket: WebSocket,
  reason: 'warning' | 'refresh_requested' | 'too_many_websockets' | 'link_disabled',
): void {
  socket.send(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'local' } }));
}

const Ack = z.object({ envelope_id: z.string(), payload: z.unknown().optional() });

/** False for what is no acknowledgement at all; one that comes too late is not wrong. */
function takeAck(world: World, text: string): boolean {
  const ack = Ack.safeParse(parseJson(text));
  if (!ack.success) return false;
  const { envelope_id, payload } = ack.data;
  world.socketAcks.get(envelope_id)?.(bodyOf(payload));
  return true;
}

/** Slack's own library sends `{}` where an app answers nothing. */
function bodyOf(payload: unknown): string {
  const body = payload === undefined ? '' : JSON.stringify(payload);
  return body === '{}' ? '' : body;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What does not parse is refused like any other that is no acknowledgement.
    return undefined;
  }
}

const ENVELOPE_TYPES: Partial<Record<Delivery['kind'], string>> = {
  command: 'slash_commands',
  event: 'events_api',
};

/** What an app answers in its ack; anything else it answers by a response_url or a method. */
const ANSWERED = new Set<Delivery['kind']>(['command', 'view_submission', 'block_suggestion']);

function envelopeOf(delivery: Delivery, envelope_id: string): string {
  return JSON.stringify({
    envelope_id,
    type: ENVELOPE_TYPES[delivery.kind] ?? 'interactive',
    accepts_response_payload: ANSWERED.has(delivery.kind),
    payload: delivery.payload,
    ...(delivery.kind === 'event'
      ? { retry_attempt: delivery.attempt - 1, retry_reason: delivery.retryReason ?? '' }
      : {}),
  });
}

type Answer = Pick<Delivery, 'status' | 'body' | 'outcome'>;

/**
 * Sends one delivery over any one of the connections and waits for its ack; the body is what the app answered with it.
 * Where a connection ends before the ack, the same envelope goes over another, unless it was dropped for good.
 */
export async function sendOverSocket(world: World, delivery: Delivery): Promise<Answer> {
  if (world.sockets.size === 0) return { status: 0, body: '', outcome: 'dispatch_failed' };
  const envelopeId = newId('En');
  const acked = Promise.withResolvers<Answer>();
  world.socketAcks.set(envelopeId, (body) => acked.resolve({ status: 200, body, outcome: 'ok' }));
  const timer = setTimeout(
    () => acked.resolve({ status: 0, body: '', outcome: 'operation_timeout' }),
    world.ackTimeoutMs,
  );
  try {
    return await sendUntil(world, delivery, envelopeOf(delivery, envelopeId), acked.promise);
  } finally {
    clearTimeout(timer);
    world.socketAcks.delete(envelopeId);
  }
}

async function sendUntil(
  world: World,
  delivery: Delivery,
  envelope: string,
  answered: Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    const link = nextLink(world);
    link?.socket.send(envelope);
    if (link) delivery.connections = [...(delivery.connections ?? []), link.id];
    const ended = link ? link.closed : anyLink(world);
    const answer = await Promise.race([answered, ended]);
    if (answer) return answer;
    if (link?.resends === false) return { status: 0, body: '', outcome: 'operation_timeout' };
  }
}

/** The connections take turns; one that Slack is about to close is used only where there is no other. */
function nextLink(world: World): SocketLink | undefined {
  const links = [...world.sockets].filter(({ socket }) => socket.readyState === socket.OPEN);
  const link = links.find((one) => !one.ending) ?? links[0];
  if (link) {
    world.sockets.delete(link);
    world.sockets.add(link);
  }
  return link;
}

/** Resolves when the connections have changed. */
function anyLink(world: World): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = world.changes.subscribe((change) => {
      if (change.type !== 'sockets') return;
      unsubscribe();
      resolve();
    });
  });
}
