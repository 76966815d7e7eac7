import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Listener, type ListenOptions, listen } from '../../../src/listeners/receivers/http-server.ts';
import { createLog } from '../../../src/observability/log.ts';

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
      { host: '127.0.0.1', port: 0, log, ...slowest },
    );
    onTestFinished(() => listener.close());
    return listener;
  }

  /** Sends bytes as they are. @returns all of the answer */
  async function send(bytes: string, { port }: Listener): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(bytes);
    return text(socket);
  }

  it.each([
    ['its headers', 'POST /in HTTP/1.1\r\nhost: x\r\n'],
    ['its body', 'POST /in HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc'],
  ])('cuts a client that is slow with %s', async (_, bytes) => {
    const impatient = await open({ slowest: { headersMs: 100, requestMs: 200 } });
    expect(await send(bytes, impatient)).toMatch(/^(HTTP\/1\.1 408|$)/);
    expect(logs.join()).not.toContain('"level":"error"');
  });

  it('answers at a path as it is written alone, which a proxy takes for no other', async () => {
    const listener = await open();
    for (const [path, words] of [
      ...['/slack/../in', '/slack/%2e%2e/in', '/slack/..\\in', '/./in', '//host/in'].map(
        (odd) => [odd, 'HTTP/1.1 400 '] as const,
      ),
      ...['/in', '/in?a=/../b', 'http://any.example/in'].map((plain) => [plain, 'got 1'] as const),
    ]) {
      const rest = 'HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\nconnection: close\r\n\r\na';
      expect(await send(`POST ${path} ${rest}`, listener), path).toContain(words);
    }
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
