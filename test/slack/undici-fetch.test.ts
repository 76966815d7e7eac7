import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createUndiciFetch } from '../../src/slack/web.ts';

let answer: { status: number; headers: Record<string, string>; body: string };
let asked: Array<{ url: string | undefined; encoding: string | undefined; body: string }>;
const agent = new Agent();
const server = createServer();
function answerAll(request: IncomingMessage, response: ServerResponse): void {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk;
  });
  request.on('end', () => {
    asked.push({ url: request.url, encoding: request.headers['accept-encoding']?.toString(), body });
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
}

beforeEach(async () => {
  asked = [];
  server.removeAllListeners('request').on('request', answerAll);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function post(body: string | FormData, timeoutMs = 10_000) {
  const { port } = server.address() as AddressInfo;
  const init = { method: 'POST', headers: { authorization: 'Bearer xoxb-1' }, body };
  return createUndiciFetch(agent, timeoutMs)(`http://127.0.0.1:${port}/api/auth.test`, init);
}

it('posts a form, asks for no encoding, and reads the whole answer', async () => {
  answer = {
    status: 200,
    headers: { 'content-type': 'application/json', 'x-oauth-scopes': 'a,b' },
    body: '{"ok":true}',
  };
  const response = await post('user=U1');
  expect(asked).toEqual([{ url: '/api/auth.test', encoding: 'identity', body: 'user=U1' }]);
  expect(response.headers.get('x-oauth-scopes')).toBe('a,b');
  expect(await response.json()).toEqual({ ok: true });
});

it('takes a token through no redirect', async () => {
  answer = { status: 302, headers: { location: '/elsewhere' }, body: '' };
  expect((await post('user=U1')).status).toBe(302);
  expect(asked.map(({ url }) => url)).toEqual(['/api/auth.test']);
});

it.each([204, 304, 429, 503])('passes a status of %i on', async (status) => {
  answer = { status, headers: { 'retry-after': '7' }, body: '' };
  const response = await post('user=U1');
  expect(response.status).toBe(status);
  expect(response.headers.get('retry-after')).toBe('7');
});

it('waits no longer than it may', async () => {
  server.removeAllListeners('request');
  await expect(post('user=U1', 20)).rejects.toThrow('did not answer in time');
});

it('sends nothing but forms', async () => {
  await expect(post(new FormData())).rejects.toThrow(TypeError);
  expect(asked).toEqual([]);
});
