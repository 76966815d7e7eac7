import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What stands before the replicas: each in turn gets a request. Without one that lives the answer is 502. */
export interface Balancer {
  port: number;
  add(port: number): void;
  remove(port: number): void;
  close(): Promise<void>;
}

export async function openBalancer(): Promise<Balancer> {
  let living: number[] = [];
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    turn += 1;
    const target = living[turn % living.length];
    if (target === undefined) outgoing.writeHead(502).end();
    else passOn(target, incoming, outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    add: (added) => {
      living = [...living, added];
    },
    remove: (removed) => {
      living = living.filter((one) => one !== removed);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function passOn(port: number, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url: path, headers } = incoming;
  const onward = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()));
  incoming.pipe(onward);
}
