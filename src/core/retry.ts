const LONGEST_MS = 3_600_000;

export interface BackoffOptions {
  /** An hour if left out. */
  longestMs?: number;
  /** What the wait is multiplied by, from and to, so that what failed together does not come back together. */
  spread?: readonly [from: number, to: number];
}

/**
 * How long to wait after a failed attempt, in milliseconds: doubled each time up to `longestMs`, then spread.
 * @param failures how many attempts failed so far, from 1
 * @param random from 0 to 1
 */
export function backoff(
  firstMs: number,
  failures: number,
  random: number,
  { longestMs = LONGEST_MS, spread: [from, to] = [0.75, 1.25] }: BackoffOptions = {},
): number {
  const delay = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs);
  return Math.round(delay * (from + random * (to - from)));
}

/** How the last polls went. */
export interface PollState {
  /** Polls in a row without a proper answer. */
  failures: number;
  /** When the service asked to be tried again, milliseconds since the epoch. */
  retryAt: number | undefined;
}

export const STEADY: PollState = { failures: 0, retryAt: undefined };

interface PollTiming extends PollState {
  intervalMs: number;
  now: number;
  /** In [0, 1). */
  random: number;
  /** No pause of our own choosing is longer; a minute by default. */
  longestMs?: number;
}

const LONGEST_PAUSE_MS = 60_000;
const SPREAD = [1, 0.9] as const;
/** The service recommends polling no more often. API 4.6 (docs/service-api.md). */
const SHORTEST_PAUSE_MS = 2_000;

/**
 * How long to wait before the next poll, in milliseconds: the interval or up to a tenth less, so that no news is later
 * than the interval, but no less than two seconds unless the interval itself is; doubled after each failure, and never
 * before `retryAt`.
 */
export function nextPollMs(timing: PollTiming): number {
  const { intervalMs, failures, retryAt, now, random, longestMs = LONGEST_PAUSE_MS } = timing;
  const options = { longestMs: Math.max(longestMs, intervalMs), spread: SPREAD };
  const pause = backoff(intervalMs, failures + 1, random, options);
  const shortestMs = intervalMs < SHORTEST_PAUSE_MS ? 0 : SHORTEST_PAUSE_MS;
  return Math.max(pause, shortestMs, retryAt === undefined ? 0 : Math.round(retryAt - now));
}
