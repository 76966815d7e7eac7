import type { IncomingMessage } from 'node:http';
import { isValidSlackRequest } from '@slack/bolt';
import type { Clock } from '../../core/time/clock.ts';

/** Slack's own payloads stay below: a view may have 250 kB, and travels url-encoded. */
const MAX_BODY_BYTES = 1_000_000;
/** Of all bodies together whose sender is not known yet. */
const MAX_UNVERIFIED_BYTES = 32_000_000;
/** Requests whose time differs by more, in either direction, are refused. In seconds. */
const WINDOW_S = 300;

/** Thrown for a request that is not taken: the listener answers with the status, and logs the reason. */
export class Refused extends Error {
  readonly status: 400 | 401 | 413 | 503;
  /** More for the log, as a sentence. */
  readonly detail: string | undefined;

  constructor(status: Refused['status'], reason: string, detail?: string) {
    super(reason);
    this.status = status;
    this.detail = detail;
  }
}

function describeDifference(lateS: number): string {
  const direction = lateS > 0 ? 'behind' : 'ahead of';
  return `its time is ${Math.abs(lateS)} s ${direction} this clock; if that goes on, set the clock right`;
}

/** Reads the body of a request that anybody may have sent. @throws Refused */
export type ReadBody = (request: IncomingMessage) => Promise<string>;

/** For all requests of the process: only so much is held at once, and who takes longest to send makes room for the others. */
export function createBodyReader(): ReadBody {
  /** What gives up each body that is being read, the oldest first. */
  const reading = new Set<() => void>();
  let held = 0;

  return (request) => {
    if (Number(request.headers['content-length']) > MAX_BODY_BYTES)
      return Promise.reject(new Refused(413, 'too_large'));
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      held += chunk.length;
      if (size > MAX_BODY_BYTES) refuse(new Refused(413, 'too_large'));
      for (const giveUp of reading) {
        if (held <= MAX_UNVERIFIED_BYTES) break;
        giveUp();
      }
    };
    /** True once: it is not read any further. */
    const end = (): boolean => {
      if (!reading.delete(giveUp)) return false;
      held -= size;
      request.off('data', take);
      return true;
    };
    const refuse = (refused: Refused): void => void (end() && reject(refused));
    const giveUp = (): void => refuse(new Refused(503, 'too_much_at_once'));
    reading.add(giveUp);
    request.on('data', take);
    request.once('end', () => end() && resolve(Buffer.concat(chunks).toString('utf8')));
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
 * Reads the body of a request that must be signed by Slack. What its headers tell is looked at first, so that nothing of a
 * stranger is read. The same signature may come again within five minutes: what changes something is carried out once by
 * its id.
 */
export function createSignedBodyReader({ signingSecret, clock, readBody }: SignedBodyOptions): ReadBody {
  return async (request) => {
    const { 'x-slack-signature': signature, 'x-slack-request-timestamp': timestamp } = request.headers;
    const at = Number(timestamp);
    if (!signature || Array.isArray(signature) || Number.isNaN(at)) throw new Refused(401, 'missing');
    const lateS = Math.round(clock.now() / 1000 - at);
    if (Math.abs(lateS) > WINDOW_S) throw new Refused(401, 'stale', describeDifference(lateS));
    const body = await readBody(request);
    const headers = { 'x-slack-signature': signature, 'x-slack-request-timestamp': at };
    if (!isValidSlackRequest({ signingSecret, body, headers, nowMilliseconds: clock.now() }))
      throw new Refused(401, 'wrong');
    return body;
  };
}
