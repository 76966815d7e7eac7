import type { Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { Delivery } from '../state/delivery.ts';
import { newId, secretHex } from '../state/ids.ts';
import type { World } from '../world.ts';

/** Socket Mode: the app holds connections open and takes its deliveries from them, as documented for apps. */

const TICKET_LIFE_MS = 30_000;

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

function welcome(world: World, link: WebSocket): void {
  world.sockets.add(link);
  link.on('close', () => world.sockets.delete(link));
  link.on('message', (data) => {
    if (!takeAck(world, String(data))) link.close(1008, 'not an acknowledgement');
  });
  link.send(
    JSON.stringify({
      type: 'hello',
      num_connections: world.sockets.size,
      connection_info: { app_id: world.app.appId },
      debug_info: { host: 'local', approximate_connection_time: 3600 },
    }),
  );
}

const Ack = z.object({ envelope_id: z.string(), payload: z.unknown().optional() });

/** False for what is no acknowledgement at all; one that nobody waits for any more is too late, not wrong. */
function takeAck(world: World, text: string): boolean {
  const ack = Ack.safeParse(parseJson(text));
  if (!ack.success) return false;
  const { envelope_id, payload } = ack.data;
  world.socketAcks.get(envelope_id)?.(payload === undefined ? '' : JSON.stringify(payload));
  return true;
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

/** Sends one delivery over a connection and waits for its ack; the body is what the app answered with it. */
export function sendOverSocket(
  world: World,
  delivery: Delivery,
): Promise<Pick<Delivery, 'status' | 'body' | 'outcome'>> {
  const [link] = [...world.sockets];
  if (!link) return Promise.resolve({ status: 0, body: '', outcome: 'dispatch_failed' });
  const envelope_id = newId('En');
  return new Promise((resolve) => {
    const end = (answer: Pick<Delivery, 'status' | 'body' | 'outcome'>): void => {
      clearTimeout(timer);
      world.socketAcks.delete(envelope_id);
      resolve(answer);
    };
    const timer = setTimeout(
      () => end({ status: 0, body: '', outcome: 'operation_timeout' }),
      world.ackTimeoutMs,
    );
    world.socketAcks.set(envelope_id, (body) => end({ status: 200, body, outcome: 'ok' }));
    link.send(
      JSON.stringify({
        envelope_id,
        type: ENVELOPE_TYPES[delivery.kind] ?? 'interactive',
        accepts_response_payload: delivery.kind !== 'event',
        payload: delivery.payload,
        ...(delivery.kind === 'event'
          ? { retry_attempt: delivery.attempt - 1, retry_reason: delivery.retryReason ?? '' }
          : {}),
      }),
    );
  });
}
