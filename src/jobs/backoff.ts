/**
 * How long to wait after a failed attempt, in milliseconds: doubled each time up to an hour, give or take a
 * quarter, so that jobs that failed together do not come back together.
 * @param failures how many attempts failed so far, from 1
 * @param random from 0 to 1
 */
export function backoff(firstMs: number, failures: number, random: number): number {
  const delay = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), LONGEST_MS);
  return Math.round(delay * (0.75 + random / 2));
}

const LONGEST_MS = 3_600_000;
