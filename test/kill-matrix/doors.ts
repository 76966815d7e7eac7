import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { request } from 'undici';

export type DoorName = 'slack' | 'service' | 'store';
export type When = 'before' | 'after';

/** A call that the process is to be killed at: the n-th through a door since the count began, from 1. */
export interface Point {
  door: DoorName;
  at: number;
  when: When;
}

/** Counts the calls through all doors of all replicas, and says at which of them its process is to die. */
export interface Counter {
  readonly counts: Readonly<Record<DoorName, number>>;
  /** Counts anew. @param point undefined: nothing dies */
  begin(point: Point | undefined): void;
  /** Whether the call that comes now is not to go on, or its answer not to come back. */
  call(door: DoorName): When | undefined;
}

export function createCounter(): Counter {
  const counts = { slack: 0, service: 0, store: 0 };
  let wanted: Point | undefined;
  return {
    counts,
    begin(point) {
      Object.assign(counts, { slack: 0, service: 0, store: 0 });
      wanted = point;
    },
    call(door) {
      counts[door] += 1;
      const { at, when } = wanted ?? {};
      if (wanted?.door !== door || at !== counts[door]) return undefined;
      wanted = undefined;
      return when;
    },
  };
}

/** What a door counts by, and what it does to its process at the point. */
export interface Watch {
  counter: Counter;
  kill(): void;
}

export interface Door {
  port: number;
  close(): Promise<void>;
}

const HOP = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'expect']);

/** Stands between a process and what it calls by HTTP. */
export async function openHttpDoor(name: DoorName, target: string, { counter, kill }: Watch): Promise<Door> {
  const server = createServer(async (asked, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of asked as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      return void response.destroy();
    }
    const dies = counter.call(name);
    if (dies === 'before') return kill();
    const headers = Object.entries(asked.headers).filter(([header]) => !HOP.has(header));
    const body = Buffer.concat(chunks);
    const answer = await request(`${target}${asked.url}`, {
      method: (asked.method ?? 'GET') as 'GET',
      headers: Object.fromEntries(headers),
      body: body.length > 0 ? body : null,
    }).catch(() => undefined);
    if (answer === undefined) return void response.destroy();
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    const isText = String(answer.headers['content-type']).includes('json');
    // What an answer links to is behind the door as well.
    const shown = isText ? bytes.toString().replaceAll(target, `http://${asked.headers.host}`) : bytes;
    if (dies === 'after') return kill();
    const kept = Object.entries(answer.headers).filter(([header]) => !HOP.has(header));
    response.writeHead(answer.statusCode, Object.fromEntries(kept)).end(shown);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Stands between a process and Postgres. What the driver writes in one piece is one call. */
export async function openPostgresDoor(
  url: string,
  { counter, kill }: Watch,
): Promise<Door & { url: string }> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const server: Server = createTcpServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    }
    let isHeld = false;
    let isOpen = false;
    client.on('data', (chunk: Buffer) => {
      // The login is no call.
      const dies = isOpen ? counter.call('store') : undefined;
      if (dies === 'before') return kill();
      isHeld = dies === 'after';
      upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => {
      if (isReady(chunk)) isOpen = true;
      if (isHeld) kill();
      else client.write(chunk);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const through = new URL(url);
  through.host = `127.0.0.1:${port}`;
  return {
    port,
    url: through.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** `ReadyForQuery` ends every answer. */
function isReady(chunk: Buffer): boolean {
  return chunk.length >= 6 && chunk.at(-6) === 0x5a;
}
