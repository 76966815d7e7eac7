import { setImmediate } from 'node:timers/promises';

const TURN_MS = 10;

/** Does something with each item of a long list. Other work has its turn every 10 ms. */
export async function inTurns<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let began = performance.now();
  for (const item of items) {
    work(item);
    if (performance.now() - began < TURN_MS) continue;
    await setImmediate();
    began = performance.now();
  }
}
