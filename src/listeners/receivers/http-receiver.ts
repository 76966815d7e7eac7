import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App, Receiver, ReceiverEvent } from '@slack/bolt';
import { parseObject } from '../../core/json.ts';
import type { Logger } from '../../observability/log.ts';
import type { Turns } from '../background-work.ts';
import type { Handler } from './http-server.ts';
import { header, type Signatures } from './signatures.ts';

/** Slack's own payloads stay far below; a view may have 250 kB and travels url-encoded. */
const MOST_BYTES = 1_500_000;
const MOST_OF_CHECK = 1_000;

export interface ReceiverOptions {
  signatures: Signatures;
  log: Logger;
  /** Milliseconds from the request's arrival to its ack. */
  onAck: (ms: number) => void;
  onRefused: (reason: string) => void;
  turns: Pick<Turns, 'arrive'>;
}

/**
 * Bolt's `Receiver` for `POST /slack/events`: it reads, verifies and parses a request, and hands Bolt the ack. Ours
 * instead of Bolt's, for the time window in both directions, replays, and content types with a charset.
 */
export interface SlackReceiver extends Receiver {
  handler: Handler;
}

export function createHttpReceiver(options: ReceiverOptions): SlackReceiver {
  const { signatures } = options;
  let app: App | undefined;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrived = performance.now();
    const raw = await readBody(request);
    if (raw === undefined) return refuse(response, 413, 'too_large');
    const fault = await signatures.take(request, raw);
    if (fault !== undefined)
      return isCertificateCheck(raw, header(request, 'content-type'))
        ? send(response, '')
        : refuse(response, 401, fault);
    try {
      await take(request, response, raw, arrived);
    } finally {
      // As where the store failed.
      if (!(response.headersSent && response.statusCode === 200)) await signatures.release(request);
    }
  }

  async function take(
    request: IncomingMessage,
    response: ServerResponse,
    raw: Buffer,
    arrived: number,
  ): Promise<void> {
    const body = parseBody(raw.toString('utf8'), header(request, 'content-type'));
    if (body === undefined) return refuse(response, 400, 'malformed');
    if (body.ssl_check === '1') return send(response, '');
    if (body.type === 'url_verification') return send(response, { challenge: String(body.challenge) });
    if (body.type === 'app_rate_limited') return noteLimited(body, response);
    const retryNum = numberOf(header(request, 'x-slack-retry-num'));
    await app?.processEvent(eventOf(body, response, arrived, retryNum));
    if (!response.headersSent) refuse(response, 400, 'not understood');
  }

  function eventOf(
    body: Record<string, unknown>,
    response: ServerResponse,
    arrived: number,
    retryNum: number | undefined,
  ): ReceiverEvent {
    return {
      body,
      ...(retryNum === undefined ? {} : { retryNum }),
      ack: async (answer: unknown) => {
        if (response.headersSent) return;
        send(response, answer ?? '');
        options.onAck(performance.now() - arrived);
      },
    };
  }

  /** Slack sends it once a minute in place of a workspace's events. */
  function noteLimited(body: Record<string, unknown>, response: ServerResponse): void {
    const workspace = String(body.team_id);
    options.log.warn({ event: 'events_limited', workspace }, 'Slack leaves out events of a workspace');
    send(response, '');
  }

  function refuse(response: ServerResponse, status: number, reason: string): void {
    options.log.warn(
      { event: 'request_refused', status, reason },
      'a request to the Slack endpoint was refused',
    );
    options.onRefused(reason);
    // The body may not have been read, so the connection cannot be used again.
    response.writeHead(status, { connection: 'close' }).end();
  }

  return {
    init: (boltApp) => {
      app = boltApp;
    },
    start: async () => undefined,
    stop: async () => undefined,
    async handler(request, response) {
      const acknowledged = options.turns.arrive();
      response.once('close', acknowledged);
      await handle(request, response);
    },
  };
}

function send(response: ServerResponse, answer: unknown): void {
  if (typeof answer === 'string')
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(answer);
  else
    response
      .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
      .end(JSON.stringify(answer));
}

/** Undefined where it is too long. By events: an iterator would cost as much as the signature. */
export function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) return resolve(undefined);
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MOST_BYTES) return resolve(undefined);
      chunks.push(chunk);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
  });
}

/** Slack looks at the certificate now and then, and signs nothing for that: `ssl_check=1&token=…`. */
function isCertificateCheck(raw: Buffer, contentType: string | undefined): boolean {
  if (raw.length > MOST_OF_CHECK || !raw.includes('ssl_check') || !isForm(contentType)) return false;
  return new URLSearchParams(raw.toString('utf8')).get('ssl_check') === '1';
}

/** JSON, or a form whose `payload` may hold JSON; undefined for anything that is not an object. */
function parseBody(raw: string, contentType: string | undefined): Record<string, unknown> | undefined {
  if (typeOf(contentType) === 'application/json') return parseObject(raw);
  if (!isForm(contentType)) return undefined;
  const form = new URLSearchParams(raw);
  const payload = form.get('payload');
  return payload === null ? Object.fromEntries(form) : parseObject(payload);
}

function isForm(contentType: string | undefined): boolean {
  return typeOf(contentType) === 'application/x-www-form-urlencoded';
}

function typeOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';')[0]?.trim().toLowerCase();
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
}
