import { type Clock, MINUTE_MS } from '../../src/core/time/clock.ts';
import { callsToEnd } from './calls-under-way.ts';

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Lets time pass: sleepers wake in order, each at its own instant, and get to act before the next one. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock alone, as an operator or a time server does; nobody wakes. */
  jump(ms: number): void;
}

interface Sleeper {
  /** In time passed, which a jump of the wall clock does not change. */
  due: number;
  wake: () => void;
}

/** @param start milliseconds since the epoch, or anything `Date` reads */
export function createManualClock(start: number | string = '2026-03-02T09:00:00Z'): ManualClock {
  let passed = 0;
  let offset = new Date(start).getTime();
  const sleepers: Sleeper[] = [];

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const sleeper: Sleeper = { due: passed + Math.max(0, ms), wake: done };
      function done(): void {
        signal?.removeEventListener('abort', abort);
        resolve();
      }
      function abort(): void {
        sleepers.splice(sleepers.indexOf(sleeper), 1);
        reject(signal?.reason);
      }
      signal?.addEventListener('abort', abort, { once: true });
      // Equals stay in the order they came.
      sleepers.push(sleeper);
      sleepers.sort((one, other) => one.due - other.due);
    });
  }

  async function advance(ms: number): Promise<void> {
    const end = passed + ms;
    await callsToEnd();
    for (let next = sleepers[0]; next !== undefined && next.due <= end; next = sleepers[0]) {
      sleepers.shift();
      passed = Math.max(passed, next.due);
      next.wake();
      await callsToEnd();
    }
    passed = end;
  }

  return {
    now: () => offset + passed,
    // Days that a test lets pass would otherwise be thousands of sleeps.
    lookMs: 10 * MINUTE_MS,
    sleep,
    advance,
    jump: (ms) => {
      offset += ms;
    },
  };
}
