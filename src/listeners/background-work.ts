import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '../observability/log.ts';

/** Work that goes on after its ack. Bolt forgets it at `stop()`; we wait for it. */
export interface BackgroundWork {
  /**
   * Begins `work` after the acks of what has come in by then, so that in a crowd the work of some does not cost others
   * their ack: Slack gives up on one after three seconds. It must answer its own failures.
   */
  begin(work: () => Promise<void>): void;
  /** Keeps in mind, until it ends, what has begun because its ack depends on it. */
  track(work: Promise<void>): void;
  /** Resolves when everything has ended. */
  idle(): Promise<void>;
}

/** So much is begun before new requests are looked at. */
const AT_A_TURN = 3;

export function createBackgroundWork(log: Logger): BackgroundWork {
  const running = new Set<Promise<void>>();
  const waiting: Array<() => void> = [];
  let beginning = 0;

  function takeTurn(): void {
    if (beginning > 0) return;
    beginning = Math.min(waiting.length, AT_A_TURN);
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
        log.error({ event: 'bug', err: error }, 'work after an ack failed unanswered'),
      )
      .finally(() => running.delete(tracked));
    running.add(tracked);
  }

  return {
    begin(work) {
      track(
        new Promise((resolve) => {
          // In the span of its own request, not in that of whoever began the turn.
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
