import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App, Receiver } from '@slack/bolt';
import { parseObject } from '../../core/json.ts';
import type { Logger } from '../../observability/log.ts';
import type { Handler } from './http-server.ts';
import { processPayload } from './process-payload.ts';
import { type ReadBody, Refused } from './signed-body.ts';

export interface HttpReceiverOptions {
  readSignedBody: ReadBody;
  log: Logger;
  /** Milliseconds from the request's arrival to its ack. */
  onAck: (ms: number) => void;
  onRefused: (reason: string) => void;
}

/**
 * Bolt's `Receiver` for `POST /slack/events`. Bolt's own reads bodies of any length before it checks their signature,
 * takes timestamps of the future, refuses a content type with a charset, and acknowledges events before they are stored.
 */
export function createHttpReceiver(options: HttpReceiverOptions): Receiver & { handler: Handler } {
  const { readSignedBody, log, onAck, onRefused } = options;
  let app: App | undefined;

  function refuse(response: ServerResponse, { status, reason }: Refused): void {
    log.warn({ event: 'request_refused', status, reason }, 'a request to the Slack endpoint was refused');
    onRefused(reason);
    // The body may not have been read, so the connection cannot be used again.
    response.writeHead(status, { connection: 'close' }).end();
  }

  async function handler(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrived = performance.now();
    const type = contentTypeOf(request);
    const raw = await readSignedBody(request);
    if (raw instanceof Refused)
      return isCertificateCheck(raw.body, type) ? send(response, '') : refuse(response, raw);
    const body = parseBody(raw.toString('utf8'), type);
    if (body === undefined) return refuse(response, new Refused(400, 'malformed'));
    if (body.ssl_check === '1') return send(response, '');
    if (body.type === 'url_verification') return send(response, { challenge: String(body.challenge) });
    const ack = await processPayload(app, body, log);
    if (ack === undefined) return refuse(response, new Refused(400, 'not_understood'));
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

function send(response: ServerResponse, answer: unknown): void {
  const isText = typeof answer === 'string';
  const type = isText ? 'text/plain' : 'application/json';
  const text = isText ? answer : JSON.stringify(answer);
  response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(text);
}

const FORM = 'application/x-www-form-urlencoded';

/** JSON, or a form whose `payload` may hold JSON; undefined for anything that is not an object. */
function parseBody(raw: string, type: string | undefined): Record<string, unknown> | undefined {
  if (type === 'application/json') return parseObject(raw);
  if (type !== FORM) return undefined;
  const form = new URLSearchParams(raw);
  const payload = form.get('payload');
  return payload === null ? Object.fromEntries(form) : parseObject(payload);
}

/** Slack looks at the certificate now and then, and signs nothing for that: `ssl_check=1&token=…`. */
function isCertificateCheck(raw: Buffer | undefined, type: string | undefined): boolean {
  return type === FORM && new URLSearchParams(raw?.toString('utf8')).get('ssl_check') === '1';
}

/** Without its charset. */
function contentTypeOf({ headers }: IncomingMessage): string | undefined {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase();
}
