import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../observability/log.ts';

/** Work that continues after its ack. Bolt's `stop()` does not wait for it; ours does. */
export type BackgroundWork = ReturnType<typeof createBackgroundWork>;

/** Turns of the event loop between two works that begin. One in which nothing happens takes no time. */
const TURNS_BETWEEN = 6;

export function createBackgroundWork(log: Logger) {
  const running = new Set<Promise<void>>();
  let lastBegun = Promise.resolve();

  function track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) =>
        log.error({ event: 'bug', err: error }, 'work after an ack failed without an answer'),
      )
      .finally(() => running.delete(tracked));
    running.add(tracked);
  }

  /**
   * Resolves when the next work may begin, one after the other: in a crowd the acks, for which Slack waits three seconds,
   * go first. The event loop takes one new connection in a turn.
   */
  function afterAcks(): Promise<void> {
    lastBegun = lastBegun.then(async () => {
      for (let turn = 0; turn < TURNS_BETWEEN; turn += 1) await nextTurn();
    });
    return lastBegun;
  }

  return {
    afterAcks,
    /** Begins `work`, which must answer its own failures, once the ack of what asked for it is sent. */
    begin: (work: () => Promise<void>) => track(afterAcks().then(work)),
    /** Waits for work that has begun already, because its ack depends on it. */
    track,
    /** Resolves when everything has ended. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
