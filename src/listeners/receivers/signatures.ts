import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../observability/log.ts';
import type { OpenStore } from '../../store/open-store.ts';
import { openSignatureTable } from '../../store/sqlite.ts';
import { GLOBAL, StoreUnavailable } from '../../store/store.ts';

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
  store: OpenStore;
  clock: Clock;
  log: Logger;
}

/**
 * Each signature counts once in all replicas and after a restart, until its timestamp is refused by its age. Slack signs
 * each retry anew, so no header can make a repeat of the same signature good.
 */
export async function openSignatures({
  signingSecret,
  store,
  clock,
  log,
}: SignaturesParts): Promise<Signatures> {
  const taken = await openTaken(store, clock);
  const secret = createSecretKey(signingSecret, 'utf8');

  async function isNew(signature: string): Promise<boolean> {
    try {
      return await taken.add(signature);
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
      if (!isSame(signatureFor(secret, timestamp, body), signature)) return 'wrong';
      return (await isNew(signature)) ? undefined : 'replayed';
    },
    async release(request) {
      await taken.remove(signatureOf(request) ?? '').catch((error: unknown) => {
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
function signatureFor(secret: KeyObject, timestamp: string, body: Buffer): string {
  const hmac = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body);
  return `v0=${hmac.digest('hex')}`;
}

function isSame(expected: string, given: string): boolean {
  const a = Buffer.from(expected);
  const b = Buffer.from(given);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The signatures that were taken, until their timestamps are refused by their age. They are kept as digests. */
interface Taken {
  /** False where it was taken before; resolves when that is stored. */
  add(signature: string): Promise<boolean>;
  remove(signature: string): Promise<void>;
}

const One = z.object({ at: z.number() });

/**
 * Where replicas share the store, each signature is a document, which one of them can create. Otherwise this process
 * knows all that were taken, and stores them for the next one.
 */
async function openTaken(store: OpenStore, clock: Clock): Promise<Taken> {
  const documents = store.of(GLOBAL).collection('signatures', One);
  const table = store.sqlite && openSignatureTable(store.sqlite);
  const known = new Known(clock);
  if (table !== undefined) {
    for (const { digest } of table.all()) known.add(digest);
    // The store may have come from one that replicas shared.
    for (const { id } of await documents.list()) known.add(id);
  }
  return {
    async add(signature) {
      const digest = digestOf(signature);
      if (known.has(digest)) return false;
      known.add(digest);
      const at = clock.now();
      if (table === undefined) return documents.create(digest, { at }, at + VALID_MS);
      await table.add({ digest, expires: at + VALID_MS });
      return true;
    },
    async remove(signature) {
      const digest = digestOf(signature);
      known.delete(digest);
      await (table ?? documents).delete(digest);
    },
  };
}

/** Two generations, each as long as a timestamp can stay valid: memory is bounded by the rate. */
class Known {
  readonly #clock: Clock;
  #young = new Set<string>();
  #old = new Set<string>();
  #turnAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#turnAt = clock.now() + VALID_MS;
  }

  has(digest: string): boolean {
    return this.#young.has(digest) || this.#old.has(digest);
  }

  add(digest: string): void {
    const now = this.#clock.now();
    if (now >= this.#turnAt) {
      this.#old = this.#young;
      this.#young = new Set();
      this.#turnAt = now + VALID_MS;
    }
    this.#young.add(digest);
  }

  delete(digest: string): void {
    this.#young.delete(digest);
    this.#old.delete(digest);
  }
}

function digestOf(text: string): string {
  return hash('sha256', text, 'base64url');
}
