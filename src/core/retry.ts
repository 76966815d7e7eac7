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
