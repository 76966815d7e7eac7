import type { Clock } from '../core/clock.ts';
import { isSlackFailure } from './failure.ts';

/** Runs tasks of one key strictly one after the other, and forgets a key as soon as it is idle. */
export interface KeyedQueue {
  run<T>(key: string, task: () => Promise<T>): Promise<T>;
  /** Resolves when all lanes are empty. */
  idle(): Promise<void>;
}

export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<unknown>>();
  return {
    run(key, task) {
      const before = tails.get(key) ?? Promise.resolve();
      const mine = before.then(task, task);
      const tail = mine
        .then(
          () => undefined,
          () => undefined,
        )
        .then(() => {
          if (tails.get(key) === tail) tails.delete(key);
        });
      tails.set(key, tail);
      return mine;
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
  };
}

export interface RetryPolicy {
  /** Waits for a rate limit to pass at most this long in all, in milliseconds. */
  busyMs: number;
  /** Tries after an answer that leaves open whether the call was carried out. */
  retriesUnknown: number;
}

/** Background work can wait; a person is looking at a spinner. */
export const BACKGROUND: RetryPolicy = { busyMs: 15 * 60_000, retriesUnknown: 4 };
export const SOMEONE_WAITS: RetryPolicy = { busyMs: 3_000, retriesUnknown: 1 };
/** What a person alone is told, which nothing repeats: half a minute of silence is endured. */
export const LAST_WORDS: RetryPolicy = { busyMs: 3_000, retriesUnknown: 6 };

/** Repeats a Slack call as patience allows: after `Retry-After` where Slack is busy, with back-off where it is silent. */
export async function withRetries<T>(
  clock: Clock,
  patience: RetryPolicy,
  call: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  // By what was waited, not by the clock: one that is set must not end it.
  let waited = 0;
  let silent = 0;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const wait = waitAfter(error, clock.now(), silent, patience);
      if (wait === undefined || waited + wait > Math.max(patience.busyMs, 60_000)) throw error;
      if (isSlackFailure(error, 'unreachable')) silent += 1;
      waited += wait;
      await clock.sleep(wait, signal);
    }
  }
}

function waitAfter(error: unknown, now: number, silent: number, patience: RetryPolicy): number | undefined {
  if (isSlackFailure(error, 'busy')) {
    const wait = Math.max(0, (error.retryAt ?? now + 1000) - now);
    return wait <= patience.busyMs ? wait : undefined;
  }
  if (isSlackFailure(error, 'unreachable') && silent < patience.retriesUnknown) return 500 * 2 ** silent;
  return undefined;
}
