import type { Clock } from './clock.ts';

/**
 * The result of `work` if it is there within `ms` milliseconds, else undefined; the work continues by itself. Not
 * AbortSignal.timeout, which keeps real time.
 */
export async function withTimeout<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  try {
    return await Promise.race([work, clock.sleep(ms, timer.signal).then(() => undefined)]);
  } finally {
    timer.abort();
  }
}
