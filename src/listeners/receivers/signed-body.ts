import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../core/clock.ts';

/** Slack's own payloads stay below: a view may have 250 kB, and travels url-encoded. */
const MAX_BODY_BYTES = 1_000_000;
/** Of all bodies together whose sender is not known yet. */
const MAX_UNVERIFIED_BYTES = 32_000_000;
/** Requests whose time differs by more, in either direction, are refused. In seconds. */
const WINDOW_S = 300;
/** Slack's look at the certificate is no longer, and unsigned. */
const MAX_CERTIFICATE_CHECK_BYTES = 1_000;

/** Why a request was not taken, with the status that says so. */
export class Refused {
  readonly status: 400 | 401 | 413 | 503;
  readonly reason: string;
  /** Where it was read all the same. */
  readonly body: Buffer | undefined;

  constructor(status: Refused['status'], reason: string, body?: Buffer) {
    this.status = status;
    this.reason = reason;
    this.body = body;
  }
}

/** Reads the body of a request that anybody may have sent. */
export type ReadBody = (request: IncomingMessage) => Promise<Buffer | Refused>;

/** For all requests of the process: only so much is held at once, and who takes longest to send makes room for the others. */
export function createBodyReader(): ReadBody {
  /** What gives up each body that is being read, the oldest first. */
  const reading = new Set<() => void>();
  let held = 0;

  return (request) => {
    if (declaredLength(request) > MAX_BODY_BYTES) return Promise.resolve(new Refused(413, 'too_large'));
    const { promise, resolve, reject } = Promise.withResolvers<Buffer | Refused>();
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      held += chunk.length;
      if (size > MAX_BODY_BYTES) end(new Refused(413, 'too_large'));
      for (const giveUp of reading) {
        if (held <= MAX_UNVERIFIED_BYTES) break;
        giveUp();
      }
    };
    const end = (outcome: Buffer | Refused): void => {
      if (!reading.delete(giveUp)) return;
      held -= size;
      request.off('data', take);
      resolve(outcome);
    };
    const giveUp = (): void => end(new Refused(503, 'too_much_at_once'));
    reading.add(giveUp);
    request.on('data', take);
    request.once('end', () => end(Buffer.concat(chunks, size)));
    request.once('error', reject);
    request.once('close', giveUp);
    return promise;
  };
}

interface SignedBodyOptions {
  signingSecret: string;
  clock: Clock;
  readBody: ReadBody;
}

/**
 * Reads the body of a request that must be signed by Slack. What its headers tell is looked at first, so that hardly
 * anything of a stranger is read. The same signature may come again within five minutes: what changes something is
 * carried out once by its id.
 */
export function createSignedBodyReader({ signingSecret, clock, readBody }: SignedBodyOptions): ReadBody {
  const secret = createSecretKey(signingSecret, 'utf8');

  return async (request) => {
    const signature = String(request.headers['x-slack-signature'] ?? '');
    const timestamp = String(request.headers['x-slack-request-timestamp'] ?? '');
    const fault = faultOf(signature, timestamp, clock.now());
    const isShort = declaredLength(request) <= MAX_CERTIFICATE_CHECK_BYTES;
    if (fault !== undefined && !isShort) return new Refused(401, fault);
    const body = await readBody(request);
    if (body instanceof Refused) return body;
    if (fault !== undefined) return new Refused(401, fault, body);
    const hmac = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body);
    return isSame(`v0=${hmac.digest('hex')}`, signature) ? body : new Refused(401, 'wrong', body);
  };
}

function faultOf(signature: string, timestamp: string, now: number): 'missing' | 'stale' | undefined {
  if (signature === '' || !/^\d{1,12}$/.test(timestamp)) return 'missing';
  return Math.abs(now / 1000 - Number(timestamp)) > WINDOW_S ? 'stale' : undefined;
}

/** NaN where the request does not say. */
function declaredLength({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? Number.NaN);
}

function isSame(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
