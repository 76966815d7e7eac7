/** How long to wait before the next poll, in milliseconds. Pure. */
export interface PollTiming {
  intervalMs: number;
  /** Polls in a row that the service did not answer properly. */
  failures: number;
  /** When the service asked to be tried again, milliseconds since the epoch. */
  retryAt: number | undefined;
  now: number;
  /** In [0, 1). */
  random: number;
  /** No pause of our own choosing is longer; a minute unless told. */
  longestMs?: number;
}

const LONGEST_MS = 60_000;
const JITTER = 0.1;

/** The interval or up to a tenth less, so that no news is later than the interval; after failures doubled each time, and never before `retryAt`. */
export function nextPollMs(timing: PollTiming): number {
  const { intervalMs, failures, retryAt, now, random, longestMs = LONGEST_MS } = timing;
  const jittered = intervalMs * (1 - JITTER * random);
  const backedOff = Math.min(jittered * 2 ** Math.min(failures, 20), Math.max(longestMs, intervalMs));
  const asked = retryAt === undefined ? 0 : retryAt - now;
  return Math.round(Math.max(backedOff, asked));
}
