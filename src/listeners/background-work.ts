import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '../observability/log.ts';

/** Work that continues after its ack. Bolt's `stop()` does not wait for it; ours does. */
export interface BackgroundWork {
  /**
   * Begins `work` after the acks of what has come in by then, so that under load the work of some requests does not
   * delay the acks of others: Slack waits three seconds for each. `work` must answer its own failures.
   */
  begin(work: () => Promise<void>): void;
  /** Waits for work that has begun already, because its ack depends on it. */
  track(work: Promise<void>): void;
  /** Resolves when everything has ended. */
  idle(): Promise<void>;
}

/** So many are begun before new requests are read. */
const PER_TURN = 3;

export function createBackgroundWork(log: Logger): BackgroundWork {
  const running = new Set<Promise<void>>();
  const waiting: Array<() => void> = [];
  let beginning = 0;

  function takeTurn(): void {
    if (beginning > 0) return;
    beginning = Math.min(waiting.length, PER_TURN);
    for (let at = 0; at < beginning; at += 1) setImmediate(beginNext);
  }

  function beginNext(): void {
    waiting.shift()?.();
    beginning -= 1;
    takeTurn();
  }

  function track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) =>
        log.error({ event: 'bug', err: error }, 'work after an ack failed without an answer'),
      )
      .finally(() => running.delete(tracked));
    running.add(tracked);
  }

  return {
    begin(work) {
      track(
        new Promise((resolve) => {
          // In the span of its own request, not of the one that began the turn.
          waiting.push(AsyncLocalStorage.bind(() => resolve(work())));
          takeTurn();
        }),
      );
    },
    track,
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
