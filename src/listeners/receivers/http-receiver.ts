import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App, Receiver } from '@slack/bolt';
import { parseObject } from '../../core/json.ts';
import type { Logger } from '../../observability/log.ts';
import type { Handler } from './http-server.ts';
import { processPayload } from './process-payload.ts';
import { type ReadBody, Refused } from './signed-body.ts';

export interface HttpReceiverOptions {
  readBody: ReadBody;
  readSignedBody: ReadBody;
  log: Logger;
  /** Milliseconds from the request's arrival to its ack. */
  onAck: (ms: number) => void;
}

/** Slack's look at the certificate is no longer. */
const MAX_UNSIGNED_BYTES = 1_000;

/**
 * Bolt's `Receiver` for `POST /slack/events`. Bolt's own reads bodies of any length before it checks their signature,
 * takes timestamps of the future, refuses a content type with a charset, and acknowledges events before they are stored.
 */
export function createHttpReceiver(options: HttpReceiverOptions): Receiver & { handler: Handler } {
  const { readBody, readSignedBody, log, onAck } = options;
  let app: App | undefined;

  async function handler(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrived = performance.now();
    const {
      'content-type': type,
      'content-length': length,
      'x-slack-signature': signature,
    } = request.headers;
    // Slack looks at the certificate now and then, and signs nothing for that: `ssl_check=1&token=…`.
    if (!signature && Number(length) <= MAX_UNSIGNED_BYTES) {
      if (parseBody(await readBody(request), type)?.ssl_check === '1') return send(response, '');
      throw new Refused(401, 'missing');
    }
    const body = parseBody(await readSignedBody(request), type);
    if (body === undefined) throw new Refused(400, 'malformed');
    if (body.ssl_check === '1') return send(response, '');
    if (body.type === 'url_verification') return send(response, readChallenge(body));
    const ack = await processPayload(app, body, log);
    if (ack === undefined) throw new Refused(400, 'not_understood');
    send(response, ack.answer ?? '');
    onAck(performance.now() - arrived);
  }

  return {
    init(boltApp) {
      app = boltApp;
    },
    start: async () => undefined,
    stop: async () => undefined,
    handler,
  };
}

function readChallenge({ challenge }: Record<string, unknown>): { challenge: string } {
  if (typeof challenge !== 'string') throw new Refused(400, 'malformed');
  return { challenge };
}

function send(response: ServerResponse, answer: unknown): void {
  const isText = typeof answer === 'string';
  const type = isText ? 'text/plain' : 'application/json';
  const text = isText ? answer : JSON.stringify(answer);
  response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(text);
}

/** JSON, or a form whose `payload` may hold JSON; undefined for anything that is not an object. @param type may have a charset */
function parseBody(raw: string, type = ''): Record<string, unknown> | undefined {
  if (/^application\/json\b/i.test(type)) return parseObject(raw);
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) return undefined;
  const form = new URLSearchParams(raw);
  const payload = form.get('payload');
  return payload === null ? Object.fromEntries(form) : parseObject(payload);
}
