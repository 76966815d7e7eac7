import type { Clock } from '../core/clock.ts';

/** Wakes at least this often, to notice that the wall clock was set or the machine slept. */
const LONGEST_SLEEP_MS = 30_000;

/** One timer that can be set anew. It may ring early. */
export interface Alarm {
  /** Rings at `at` (milliseconds since the epoch) instead of when it was set for; never if undefined. */
  set(at: number | undefined): void;
}

export function createAlarm(clock: Clock, ring: () => void): Alarm {
  let sleeper: { at: number; abort: AbortController } | undefined;
  return {
    set(at) {
      if (at === sleeper?.at) return;
      sleeper?.abort.abort();
      sleeper = at === undefined ? undefined : { at, abort: new AbortController() };
      if (sleeper === undefined) return;
      const mine = sleeper;
      const ms = Math.min(Math.max(0, mine.at - clock.now()), LONGEST_SLEEP_MS);
      clock.sleep(ms, mine.abort.signal).then(
        () => {
          if (sleeper !== mine) return;
          sleeper = undefined;
          ring();
        },
        // Only an abort ends here: the alarm was set anew.
        () => undefined,
      );
    },
  };
}
