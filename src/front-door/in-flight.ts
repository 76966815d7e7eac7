import type { Logger } from '../log.ts';

/** Work that goes on after its ack. Bolt forgets it at `stop()`; we wait for it. */
export interface InFlight {
  /** Runs `work` and keeps it in mind until it ends. It must answer its own failures. */
  track(work: Promise<void>): void;
  /** Resolves when everything has ended. */
  idle(): Promise<void>;
}

export function createInFlight(log: Logger): InFlight {
  const running = new Set<Promise<void>>();
  return {
    track(work) {
      const tracked = work
        .catch((error: unknown) =>
          log.error({ event: 'bug', err: error }, 'work after an ack failed unanswered'),
        )
        .finally(() => running.delete(tracked));
      running.add(tracked);
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
