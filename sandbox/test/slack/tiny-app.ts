import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Received {
  headers: IncomingMessage['headers'];
  body: string;
  /** The command's fields, the interaction's payload or the event's envelope. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into whatever Slack sends
  payload: any;
}

interface Reply {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
}

type Answer = (received: Received) => Reply | Promise<Reply>;

export type TinyApp = Awaited<ReturnType<typeof startTinyApp>>;

/** The least an app is: it takes what Slack sends, refuses bad signatures and answers what a test says. */
export async function startTinyApp(signingSecret: () => string) {
  let answer: Answer = () => ({});
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void handle(request, response);
  });
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    // A look at the certificate is the one request that Slack does not sign.
    if (!body.startsWith('ssl_check=1&') && !isSigned(signingSecret(), request, body)) {
      response.writeHead(401).end();
      return;
    }
    const one = { headers: request.headers, body, payload: readPayload(request, body) };
    received.push(one);
    const reply = await answer(one);
    const content = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? '');
    response.writeHead(reply.status ?? 200, reply.headers ?? {});
    response.end(reply.body === undefined ? '' : content);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`,
    received,
    /** How the next requests are answered; 200 without a body at first. */
    reply(next: Answer): void {
      answer = next;
    },
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function readPayload(request: IncomingMessage, body: string): unknown {
  if (request.headers['content-type'] === 'application/json') return JSON.parse(body);
  const form = Object.fromEntries(new URLSearchParams(body));
  return form.payload === undefined ? form : JSON.parse(form.payload);
}

function isSigned(secret: string, request: IncomingMessage, body: string): boolean {
  const timestamp = request.headers['x-slack-request-timestamp'];
  const expected = `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
  const given = String(request.headers['x-slack-signature']);
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
