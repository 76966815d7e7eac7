import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../observability/log.ts';
import { GLOBAL, type Store, StoreUnavailable } from '../../store/store.ts';

const Taken = z.object({ at: z.number() });

/** Requests whose time differs by more, in either direction, are refused. In seconds. */
const WINDOW_S = 300;
/** How long a timestamp can stay valid, in milliseconds. */
const VALID_MS = 2 * WINDOW_S * 1000;

/** Why a request is not Slack's, or not a new one. */
export type SignatureFault = 'missing' | 'stale' | 'wrong' | 'replayed';

/** The signatures of Slack's requests. */
export interface Signatures {
  /** Undefined for one that is Slack's and of the last minutes, and that no replica took before. */
  take(request: IncomingMessage, body: Buffer): Promise<SignatureFault | undefined>;
  /** The request was not taken after all: Slack's retry within the same second has the same signature. */
  release(request: IncomingMessage): Promise<void>;
}

export interface SignaturesParts {
  signingSecret: string;
  store: Store;
  clock: Clock;
  log: Logger;
}

/**
 * Each signature counts once in all replicas and after a restart, until its timestamp is refused by its age. Slack signs
 * each retry anew, so no header can make a repeat of the same signature good.
 */
export function createSignatures({ signingSecret, store, clock, log }: SignaturesParts): Signatures {
  const stored = store.collection('signatures', Taken);
  const recent = createRecent(clock.now, VALID_MS);

  async function isNew(signature: string): Promise<boolean> {
    if (!recent.add(signature)) return false;
    const at = clock.now();
    try {
      return await stored.create(GLOBAL, digest(signature), { at }, at + VALID_MS);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      // What changes something cannot be stored now either; the others are answered as far as possible.
      log.error({ event: 'signature_not_stored', err: error }, 'a signature could not be stored');
      return true;
    }
  }

  return {
    async take(request, body) {
      const signature = signatureOf(request);
      const timestamp = header(request, 'x-slack-request-timestamp') ?? '';
      if (signature === undefined || !/^\d{1,12}$/.test(timestamp)) return 'missing';
      if (Math.abs(clock.now() / 1000 - Number(timestamp)) > WINDOW_S) return 'stale';
      if (!isSame(signatureFor(signingSecret, timestamp, body), signature)) return 'wrong';
      return (await isNew(signature)) ? undefined : 'replayed';
    },
    async release(request) {
      const signature = signatureOf(request) ?? '';
      recent.delete(signature);
      await stored.delete(GLOBAL, digest(signature)).catch((error: unknown) => {
        log.error({ event: 'signature_not_stored', err: error }, 'a signature could not be released');
      });
    },
  };
}

function signatureOf(request: IncomingMessage): string | undefined {
  return header(request, 'x-slack-signature');
}

export function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Slack's `v0` signature over the raw body. */
function signatureFor(signingSecret: string, timestamp: string, body: Buffer): string {
  const hmac = createHmac('sha256', signingSecret).update(`v0:${timestamp}:`).update(body);
  return `v0=${hmac.digest('hex')}`;
}

function isSame(expected: string, given: string): boolean {
  const a = Buffer.from(expected);
  const b = Buffer.from(given);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Two generations of signatures, each as long as a timestamp can stay valid: memory is bounded by the rate. */
function createRecent(now: () => number, keptMs: number): Pick<Set<string>, 'delete'> & Recent {
  let young = new Set<string>();
  let old = new Set<string>();
  let turnAt = now() + keptMs;
  return {
    add(signature) {
      if (now() >= turnAt) {
        old = young;
        young = new Set();
        turnAt = now() + keptMs;
      }
      if (young.has(signature) || old.has(signature)) return false;
      young.add(signature);
      return true;
    },
    delete: (signature) => young.delete(signature) || old.delete(signature),
  };
}

interface Recent {
  /** False if it is known. */
  add(signature: string): boolean;
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
