import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { type Handler, type Listener, listen } from '../../../src/listeners/receivers/http-server.ts';
import { createLog } from '../../../src/observability/log.ts';

const log = createLog('silent', () => undefined);

/** On several sockets, as the process does. */
function start(port = 0, onRequest = (): void => undefined): Promise<Listener> {
  const hello: Handler = (_, response) => {
    onRequest();
    response.end('hello');
  };
  return listen({ 'GET /': hello }, { host: '127.0.0.1', port, sockets: 32, log });
}

async function open(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

function ask(socket: Socket): Promise<string> {
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  return text(socket);
}

it('takes many new connections in a turn of the event loop, and answers all', async () => {
  const taken: number[] = [];
  let turn = 0;
  const { port, close } = await start(0, () => void taken.push(turn));
  onTestFinished(close);
  const answers = open(port, 200).then((sockets) => Promise.all(sockets.map(ask)));
  for (; taken.length < 200; turn += 1) await nextTurn();
  expect(new Set(taken).size).toBeLessThan(80);
  for (const answer of await answers) expect(answer).toMatch(/^HTTP\/1\.1 200 .*hello/s);
});

it('refuses a port that another listener shares among its sockets', async () => {
  const { port, close } = await start();
  onTestFinished(close);
  await expect(start(port)).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use.`);
});

it('turns all connections away while it drains, then closes every socket and leaves the port free', async () => {
  const listener = await start();
  const { port } = listener;
  await listener.drain([]);
  for (const answer of await Promise.all((await open(port, 100)).map(ask)))
    expect(answer).toMatch(/^HTTP\/1\.1 503 .*draining/s);
  await listener.close();
  await expect(open(port, 1)).rejects.toThrow('ECONNREFUSED');
  const next = await start(port);
  await next.close();
});
