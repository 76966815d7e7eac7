import { setTimeout as wait } from 'node:timers/promises';
import { type Clock, HOUR_MS } from './time/clock.ts';

const MAX_MS = HOUR_MS;

export interface BackoffOptions {
  /** Default: an hour. */
  maxMs?: number;
  /** Range of the random factor, so that calls that failed together do not repeat together. */
  spread?: readonly [from: number, to: number];
}

/**
 * The wait after a failed attempt, in milliseconds: doubled each time up to `maxMs`, then spread.
 * @param failures number of failed attempts, from 1
 * @param random from 0 to 1
 */
export function backoff(
  firstMs: number,
  failures: number,
  random: number,
  { maxMs = MAX_MS, spread: [from, to] = [0.75, 1.25] }: BackoffOptions = {},
): number {
  const delay = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), maxMs);
  return Math.round(delay * (from + random * (to - from)));
}

/**
 * Repeats `work` after the wait that `waitAfter` returns, in milliseconds. Throws the error if it returns undefined.
 * Libraries such as p-retry cannot use a test's clock.
 */
export async function repeat<T>(
  { clock, signal }: { clock: Clock; signal: AbortSignal | undefined },
  work: (attempt: number) => Promise<T>,
  waitAfter: (error: unknown, failures: number, waitedMs: number) => number | undefined,
): Promise<T> {
  // A sum, because somebody may set the clock during a wait.
  let waitedMs = 0;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      const wait = waitAfter(error, attempt, waitedMs);
      if (wait === undefined) throw error;
      waitedMs += wait;
      await clock.sleep(wait, signal);
    }
  }
}

/** A longer wait is a mistake, such as a date where seconds belong, or an attack. */
const MAX_WAIT_MS = HOUR_MS;

const SECONDS = /^\d+(?:\.\d+)?$/;
const HTTP_DATE = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2}(?:\d{2})? \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Reads a `Retry-After` header: seconds or an HTTP date. Returns the time when the request may be sent again, in milliseconds
 * since the epoch: never before `now`, and an hour later at most. Returns undefined for any other text.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const date = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  const at = SECONDS.test(text) ? now + Number(text) * 1000 : date;
  if (Number.isNaN(at)) return undefined;
  return Math.round(Math.min(Math.max(at, now), now + MAX_WAIT_MS));
}

/** The result of the last polls. */
export interface PollState {
  /** Number of failed polls in a row. */
  failures: number;
  /** Time before which the service wants no further call, milliseconds since the epoch. */
  retryAt: number | undefined;
}

export const STEADY: PollState = { failures: 0, retryAt: undefined };

interface PollTiming extends PollState {
  intervalMs: number;
  now: number;
  /** In [0, 1). */
  random: number;
  /** Maximum pause without a request from the service; a minute by default. */
  maxMs?: number;
}

const MAX_PAUSE_MS = 60_000;
const SPREAD = [1, 0.9] as const;
/** The service's recommended minimum. API 4.6 (docs/service-api.md). */
const MIN_PAUSE_MS = 2_000;

/**
 * The pause before the next poll, in milliseconds: the interval or up to a tenth less. It is at least two
 * seconds, unless the interval is shorter. It doubles after each failure, and never ends before `retryAt`.
 */
export function nextPollMs(timing: PollTiming): number {
  const { intervalMs, failures, retryAt, now, random, maxMs = MAX_PAUSE_MS } = timing;
  const options = { maxMs: Math.max(maxMs, intervalMs), spread: SPREAD };
  const pause = backoff(intervalMs, failures + 1, random, options);
  const minMs = intervalMs < MIN_PAUSE_MS ? 0 : MIN_PAUSE_MS;
  return Math.max(pause, minMs, retryAt === undefined ? 0 : Math.round(retryAt - now));
}

/** SQLITE_BUSY; the lower byte of its extended codes. */
const BUSY = 5;

const LOCKED_RETRY_MS = 20;

/** Leaves time for an answer within Slack's three seconds. */
const MAX_LOCKED_MS = 2_000;

/**
 * Retries work on an SQLite file while another program holds its lock. SQLite's own waiting would block the
 * event loop.
 * @param work must have no effect if it fails because of the lock
 */
export async function retryIfLocked<T>(work: () => T | Promise<T>): Promise<T> {
  const end = performance.now() + MAX_LOCKED_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isLocked(error) || performance.now() >= end) throw error;
    }
    await wait(LOCKED_RETRY_MS);
  }
}

/** True if another program holds the lock of an SQLite file. */
export function isLocked(error: unknown): boolean {
  return (
    error instanceof Error &&
    'errcode' in error &&
    typeof error.errcode === 'number' &&
    (error.errcode & 0xff) === BUSY
  );
}
