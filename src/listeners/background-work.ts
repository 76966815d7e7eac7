import type { Turns } from '../core/fair-gate.ts';
import type { Logger } from '../observability/log.ts';

/** Work that continues after its ack. Bolt's `stop()` does not wait for it; ours does. */
export interface BackgroundWork {
  /**
   * Begins `work` after the acks of what has come in by then, so that under load the work of some requests does not
   * delay the acks of others: Slack waits three seconds for each. Those of one key, a workspace, take its turns. `work`
   * must answer its own failures.
   */
  begin(key: string, work: () => Promise<void>): void;
  /** Waits for work that has begun already, because its ack depends on it. */
  track(work: Promise<void>): void;
  /** Resolves when everything has ended. */
  idle(): Promise<void>;
}

export function createBackgroundWork(log: Logger, turns: Pick<Turns, 'take'>): BackgroundWork {
  const running = new Set<Promise<void>>();

  function track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) =>
        log.error({ event: 'bug', err: error }, 'work after an ack failed without an answer'),
      )
      .finally(() => running.delete(tracked));
    running.add(tracked);
  }

  return {
    begin: (key, work) => track(turns.take(key, true).then(work)),
    track,
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
