import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { type HttpRequest, sendRequest } from '../../src/core/http.ts';

interface Server {
  agent: Agent;
  /** The paths that it was asked for, all answered with 200. */
  asked: string[];
  request: HttpRequest;
}

async function startServer(): Promise<Server> {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.end('fine');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent();
  onTestFinished(async () => {
    await agent.close();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    agent,
    asked,
    request: { origin, path: '/', method: 'GET', headers: {}, body: null, maxBytes: () => 100 },
  };
}

it('a request whose caller has left already is not sent', async () => {
  const { request, asked, agent } = await startServer();
  const signal = AbortSignal.abort(new Error('draining'));
  await expect(sendRequest(agent, request, signal)).rejects.toThrow('draining');
  expect(asked).toEqual([]);
});
