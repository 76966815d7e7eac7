import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Listener, type ListenOptions, listen } from '../../../src/listeners/receivers/http-server.ts';
import { createLog } from '../../../src/observability/log.ts';
import { failingDatabase } from '../../support/failing-database.ts';
import { test } from '../../support/fixtures.ts';
import { sendEvent } from '../../support/signed.ts';
import { PEOPLE, TEAM } from '../../support/test-world.ts';

/** Sends bytes as they are. @returns all of the answer */
async function send(bytes: string, port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  return text(socket);
}

describe('the listener', () => {
  const logs: string[] = [];

  async function open(slowest: Pick<ListenOptions, 'slowest'> = {}): Promise<Listener> {
    const log = createLog('debug', (line) => logs.push(line));
    const listener = await listen(
      {
        'POST /in': async (request, response) => {
          response.end(`got ${(await text(request)).length}`);
        },
        'GET /broken': () => {
          throw new Error('canary in an error');
        },
      },
      { hosts: ['127.0.0.1'], port: 0, log, ...slowest },
    );
    onTestFinished(() => listener.close());
    return listener;
  }

  it.each([
    ['its headers', 'POST /in HTTP/1.1\r\nhost: x\r\n'],
    ['its body', 'POST /in HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc'],
  ])('cuts a client that is slow with %s', async (_, bytes) => {
    const impatient = await open({ slowest: { headersMs: 100, requestMs: 200 } });
    expect(await send(bytes, impatient.port)).toMatch(/^(HTTP\/1\.1 408|$)/);
    expect(logs.join()).not.toContain('"level":"error"');
  });

  it('answers at a path as it is written alone, which a proxy takes for no other', async () => {
    const { port } = await open();
    for (const [path, words] of [
      ...['/slack/../in', '/slack/%2e%2e/in', '/slack/..\\in', '/./in', '//host/in'].map(
        (odd) => [odd, 'HTTP/1.1 400 '] as const,
      ),
      ...['/in', '/in?a=/../b', 'http://any.example/in'].map((plain) => [plain, 'got 1'] as const),
    ]) {
      const rest = 'HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\nconnection: close\r\n\r\na';
      expect(await send(`POST ${path} ${rest}`, port), path).toContain(words);
    }
  });

  it('is not held up by long paths', async () => {
    const { port } = await open();
    const before = process.cpuUsage();
    for (let at = 0; at < 60; at += 1) {
      const answer = await fetch(`http://127.0.0.1:${port}/slack/${'a'.repeat(15_500)}//`);
      expect(answer.status).toBe(404);
    }
    // Some milliseconds each. Several seconds in all, if each place in a path is a new beginning.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_500);
  });

  it('tells nobody why it failed, and the log alone', async () => {
    const { port } = await open();
    const answer = await fetch(`http://127.0.0.1:${port}/broken`);
    expect([answer.status, await answer.text()]).toEqual([500, 'something went wrong']);
    expect(logs.join('')).toContain('canary in an error');
  });

  it('lets nothing be kept, framed, run or loaded, whatever the answer', async () => {
    const { port } = await open();
    for (const path of ['/nowhere', '/in', '/broken', '//evil.example/%2e%2e']) {
      const { headers } = await fetch(`http://127.0.0.1:${port}${path}`);
      expect(Object.fromEntries(headers), path).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-\S+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
        ),
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'strict-transport-security': 'max-age=31536000',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
    }
  });
});

const looksSigned = () => ({
  'x-slack-request-timestamp': String(Math.floor(Date.now() / 1000)),
  'x-slack-signature': `v0=${'0'.repeat(64)}`,
});

describe('a request of a stranger', () => {
  test.override({ worldOptions: { env: { MCP: 'on' } } });

  test.for(['/slack/events', '/mcp'])(
    'to %s is refused by its headers, before anything of its body was read',
    async (path, { world }) => {
      const port = Number(new URL(world.origin).port);
      const answer = (headers: Record<string, string>) => {
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        return send(`POST ${path} HTTP/1.1\r\nhost: x\r\n${lines.join('')}\r\n`, port);
      };
      const length = { 'content-length': '5000' };
      expect(await answer(length)).toMatch(/^HTTP\/1\.1 401 /);
      const old = { ...length, ...looksSigned(), 'x-slack-request-timestamp': '1700000000' };
      expect(await answer(old)).toMatch(/^HTTP\/1\.1 401 /);
      const long = { ...looksSigned(), 'content-length': '1000001' };
      expect(await answer(long)).toMatch(/^HTTP\/1\.1 413 .*connection: close/is);
    },
  );
});

test('a client that goes on to send a refused body is not cut off', async ({ world }) => {
  const length = 6_000_000;
  const { port } = new URL(world.origin);
  const socket = connect({ port: Number(port), allowHalfOpen: true });
  const errors: Error[] = [];
  socket.on('error', (error) => errors.push(error));
  socket.write(`POST /hooks/none HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`);
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
  socket.end('x'.repeat(length));
  await once(socket, 'close');
  expect(errors).toEqual([]);
});

test('an event that could not be stored is not acknowledged, and is carried out by Slack’s retry', async ({
  world,
}) => {
  const opened = { type: 'app_home_opened', user: PEOPLE.member, tab: 'home' };
  const database = failingDatabase(world);
  database.refuse('deckhand_jobs');
  expect((await sendEvent(world, opened, { event_id: 'Ev0AGAIN' })).status).toBe(500);
  expect(world.slack.home(TEAM, PEOPLE.member)).toBeUndefined();
  database.accept();
  expect((await sendEvent(world, opened, { event_id: 'Ev0AGAIN' })).status).toBe(200);
  await world.slack.until(() => world.slack.home(TEAM, PEOPLE.member) !== undefined);
});
