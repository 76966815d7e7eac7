import type { IncomingMessage, ServerResponse } from 'node:http';
import { type App, isValidSlackRequest, type Receiver } from '@slack/bolt';
import { z } from 'zod';
import { parseObject } from '../../core/json.ts';
import { type Clock, MINUTE_MS } from '../../core/time/clock.ts';
import type { Logger } from '../../observability/log.ts';
import { type Collection, GLOBAL, type Store } from '../../store/store.ts';
import { processPayload } from '../payloads/schemas.ts';
import { type Handler, type ReadBody, Refused } from './http-server.ts';

/** Largest accepted difference between the time of a request and our clock, in either direction, in seconds. */
const WINDOW_S = 300;
/** Upper limit of the body of Slack's certificate check. */
const MAX_UNSIGNED_BYTES = 1_000;

/**
 * Reads the body of a request that Slack must have signed. The headers are checked first, so that a stranger's body is not
 * read. A signature stays valid for five minutes: what changes something is carried out once by its id.
 */
export function createSignedBodyReader(options: {
  signingSecret: string;
  clock: Clock;
  readBody: ReadBody;
  signatures: Signatures;
}): ReadBody {
  const { signingSecret, clock, readBody, signatures } = options;
  return async (request) => {
    const { 'x-slack-signature': signature, 'x-slack-request-timestamp': timestamp } = request.headers;
    const at = Number(timestamp);
    if (!signature || Array.isArray(signature) || Number.isNaN(at)) throw new Refused(401, 'missing');
    const lateS = Math.round(clock.now() / 1000 - at);
    if (Math.abs(lateS) > WINDOW_S) {
      signatures.refuse('stale');
      throw new Refused(401, 'stale', describeDifference(lateS));
    }
    const body = await readBody(request);
    const headers = { 'x-slack-signature': signature, 'x-slack-request-timestamp': at };
    if (!isValidSlackRequest({ signingSecret, body, headers, nowMilliseconds: clock.now() })) {
      signatures.refuse('wrong');
      throw new Refused(401, 'wrong');
    }
    signatures.accept();
    return body;
  };
}

function describeDifference(lateS: number): string {
  const direction = lateS > 0 ? 'behind' : 'ahead of';
  return `its time is ${Math.abs(lateS)} s ${direction} this clock; if that goes on, set the clock right`;
}

/** `stale`: the request's time differed from the clock by more than five minutes. */
export const RefusedSignature = z.object({ at: z.number(), reason: z.enum(['wrong', 'stale']).optional() });
type RefusedSignature = z.infer<typeof RefusedSignature>;

/** The request refused for its signature, if no process has accepted one since. `deckhand doctor` reads it. */
const ID = 'first';

function openRefusedSignatures(store: Store): Collection<RefusedSignature> {
  return store.of(GLOBAL).collection('refused-signatures', RefusedSignature);
}

export async function readRefusedSignature(store: Store): Promise<RefusedSignature | undefined> {
  return openRefusedSignatures(store).get(ID);
}

/** After an accepted request, this many refused ones over this time are no stranger's, if none is accepted between them. */
const MANY = 3;
const LONG_MS = 15 * MINUTE_MS;

const CHECKS = {
  wrong:
    'no request since the start, or for a quarter of an hour, had a right signature; check SLACK_SIGNING_SECRET',
  stale:
    'no request since the start, or for a quarter of an hour, had a time near that of this clock; set the clock right',
};

/** Records whether the first signed requests are accepted, and whether later ones still are. */
export type Signatures = ReturnType<typeof createSignatures>;

export function createSignatures({ store, clock, log }: { store: Store; clock: Clock; log: Logger }) {
  const refused = openRefusedSignatures(store);
  let state: 'untried' | 'refused' | 'accepted' = 'untried';
  /** Refusals since the latest accepted request. */
  let refusals = { count: 0, since: 0 };
  const onError = (err: unknown): void =>
    log.warn({ event: 'signature_not_recorded', err }, 'Outcome of a signature not stored');
  return {
    accept(): void {
      refusals.count = 0;
      if (state === 'accepted') return;
      state = 'accepted';
      void refused.delete(ID).catch(onError);
    },
    refuse(kind: 'wrong' | 'stale'): void {
      const at = clock.now();
      refusals = { count: refusals.count + 1, since: refusals.count === 0 ? at : refusals.since };
      const isLasting = refusals.count >= MANY && at - refusals.since >= LONG_MS;
      if (state === 'refused' || (state === 'accepted' && !isLasting)) return;
      state = 'refused';
      log.error({ event: 'signature_refused', reason: CHECKS[kind] }, 'Signatures of all requests refused');
      void refused.put(ID, { at, reason: kind }).catch(onError);
    },
  };
}

interface HttpReceiverOptions {
  readBody: ReadBody;
  readSignedBody: ReadBody;
  log: Logger;
  /** Called with the milliseconds from a request's arrival to its ack. */
  onAck: (ms: number) => void;
}

/**
 * Bolt's `Receiver` for `POST /slack/events`. Bolt's own receiver has four faults. It reads bodies of any length
 * before it checks their signature. It accepts timestamps of the future. It rejects a content type with a charset.
 * It acknowledges events before they are stored.
 */
export function createHttpReceiver(options: HttpReceiverOptions): Receiver & { handler: Handler } {
  const { readBody, readSignedBody, log, onAck } = options;
  let app: App | undefined;

  async function handler(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrivedAt = performance.now();
    const {
      'content-type': type,
      'content-length': length,
      'x-slack-signature': signature,
    } = request.headers;
    // Slack checks the certificate now and then, without a signature: `ssl_check=1&token=…`.
    if (!signature && Number(length) <= MAX_UNSIGNED_BYTES) {
      if (parseBody(await readBody(request), type)?.ssl_check === '1') return sendAnswer(response, '');
      throw new Refused(401, 'missing');
    }
    const body = parseBody(await readSignedBody(request), type);
    if (body === undefined) throw new Refused(400, 'malformed');
    if (body.ssl_check === '1') return sendAnswer(response, '');
    if (body.type === 'url_verification') return sendAnswer(response, readChallenge(body));
    const ack = await processPayload(app, body, log);
    if (ack === undefined) throw new Refused(400, 'not_understood');
    sendAnswer(response, ack.answer ?? '');
    onAck(performance.now() - arrivedAt);
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

function sendAnswer(response: ServerResponse, answer: unknown): void {
  const isText = typeof answer === 'string';
  const type = isText ? 'text/plain' : 'application/json';
  const text = isText ? answer : JSON.stringify(answer);
  response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(text);
}

/**
 * Reads JSON, or a form whose `payload` may hold JSON. Returns undefined for anything else.
 * @param type may have a charset
 */
function parseBody(raw: string, type = ''): Record<string, unknown> | undefined {
  if (/^application\/json\b/i.test(type)) return parseObject(raw);
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) return undefined;
  const form = new URLSearchParams(raw);
  const payload = form.get('payload');
  return payload === null ? Object.fromEntries(form) : parseObject(payload);
}
