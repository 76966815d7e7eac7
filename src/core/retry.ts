import { setTimeout as wait } from 'node:timers/promises';
import { DAY_MS, HOUR_MS } from './time/clock.ts';

const MAX_MS = HOUR_MS;

export interface BackoffOptions {
  /** An hour if left out. */
  maxMs?: number;
  /** What the wait is multiplied by, from and to, so that what failed together does not come back together. */
  spread?: readonly [from: number, to: number];
}

/**
 * How long to wait after a failed attempt, in milliseconds: doubled each time up to `maxMs`, then spread.
 * @param failures how many attempts failed so far, from 1
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

/** A longer wait is a mistake or an attack, and its date may be invalid. */
const MAX_WAIT_MS = 365 * DAY_MS;

const SECONDS = /^\d+(?:\.\d+)?$/;
const HTTP_DATE = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2}(?:\d{2})? \d{2}:\d{2}:\d{2} GMT$/;

/**
 * When a request may be sent again, in milliseconds since the epoch, from a `Retry-After` header: seconds or an HTTP date.
 * Never before `now`; undefined for anything else.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const date = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  const at = SECONDS.test(text) ? now + Number(text) * 1000 : date;
  if (Number.isNaN(at)) return undefined;
  return Math.round(Math.min(Math.max(at, now), now + MAX_WAIT_MS));
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
  maxMs?: number;
}

const MAX_PAUSE_MS = 60_000;
const SPREAD = [1, 0.9] as const;
/** The service recommends polling no more often. API 4.6 (docs/service-api.md). */
const MIN_PAUSE_MS = 2_000;

/**
 * How long to wait before the next poll, in milliseconds: the interval or up to a tenth less, so that no news is later
 * than the interval, but no less than two seconds unless the interval itself is; doubled after each failure, and never
 * before `retryAt`.
 */
export function nextPollMs(timing: PollTiming): number {
  const { intervalMs, failures, retryAt, now, random, maxMs = MAX_PAUSE_MS } = timing;
  const options = { maxMs: Math.max(maxMs, intervalMs), spread: SPREAD };
  const pause = backoff(intervalMs, failures + 1, random, options);
  const minMs = intervalMs < MIN_PAUSE_MS ? 0 : MIN_PAUSE_MS;
  return Math.max(pause, minMs, retryAt === undefined ? 0 : Math.round(retryAt - now));
}

/** SQLITE_BUSY, the lower byte of all its kinds. */
const BUSY = 5;

const LOCKED_RETRY_MS = 20;

/** Leaves time to say so within Slack's three seconds. */
const MAX_LOCKED_MS = 2_000;

/**
 * Work on an SQLite file, tried again while another program holds its lock. SQLite's own waiting would stop the event loop,
 * and with it everything that needs no lock.
 * @param work has no effect where it fails so
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

/** True where another program holds the lock of an SQLite file. */
export function isLocked(error: unknown): boolean {
  return (
    error instanceof Error &&
    'errcode' in error &&
    typeof error.errcode === 'number' &&
    (error.errcode & 0xff) === BUSY
  );
}
