import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../observability/log.ts';
import { GLOBAL, type Store, StoreUnavailable } from '../../store/store.ts';

const Taken = z.object({ at: z.number() });

/** The signatures of Slack's requests that were taken. */
export interface Signatures {
  /** False for one that was taken before, by any replica. */
  take(signature: string): Promise<boolean>;
  /** The request was not taken after all: Slack's retry within the same second has the same signature. */
  release(signature: string): Promise<void>;
}

/**
 * Each signature counts once in all replicas and after a restart, until its timestamp is refused by its age. Slack signs
 * each retry anew, so no header can make a repeat of the same signature good.
 * @param keptMs as long as a timestamp can stay valid
 */
export function createSignatures(
  { store, clock, log }: { store: Store; clock: Clock; log: Logger },
  keptMs: number,
): Signatures {
  const stored = store.collection('signatures', Taken);
  const recent = createRecent(clock.now, keptMs);
  return {
    async take(signature) {
      if (!recent.add(signature)) return false;
      const at = clock.now();
      try {
        return await stored.create(GLOBAL, digest(signature), { at }, at + keptMs);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        // What changes something cannot be stored now either; the others are answered as far as possible.
        log.error({ event: 'signature_not_stored', err: error }, 'a signature could not be stored');
        return true;
      }
    },
    async release(signature) {
      recent.delete(signature);
      await stored.delete(GLOBAL, digest(signature)).catch((error: unknown) => {
        log.error({ event: 'signature_not_stored', err: error }, 'a signature could not be released');
      });
    },
  };
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
  return createHash('sha256').update(text).digest('base64url');
}
