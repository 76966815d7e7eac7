import type { Clock } from './clock.ts';

/** What comes of `work` if it comes within `ms` milliseconds, else undefined; the work goes on by itself. */
export async function withTimeout<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  try {
    return await Promise.race([work, clock.sleep(ms, timer.signal).then(() => undefined)]);
  } finally {
    timer.abort();
  }
}
