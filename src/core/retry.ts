import { type Clock, DAY_MS, HOUR_MS, type Timer } from './clock.ts';
import type { FairGate } from './shares.ts';

const LONGEST_MS = HOUR_MS;

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

/** A longer wait is a mistake or an attack, and its date may be invalid. */
const LONGEST_WAIT_MS = 365 * DAY_MS;

const SECONDS = /^\d+(?:\.\d+)?$/;
const HTTP_DATE = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2}(?:\d{2})? \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * When a request may be sent again, in milliseconds since the epoch, from a `Retry-After` header: seconds or
 * any of the three HTTP dates (RFC 9110). Never before `now`; undefined for anything else.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const at = SECONDS.test(text) ? now + Number(text) * 1000 : parseHttpDate(text);
  if (at === undefined || Number.isNaN(at)) return undefined;
  return Math.round(Math.min(Math.max(at, now), now + LONGEST_WAIT_MS));
}

function parseHttpDate(text: string): number | undefined {
  if (HTTP_DATE.test(text)) return Date.parse(text);
  // The oldest form names no zone and means GMT; `Date` would read it as local time.
  if (ASCTIME_DATE.test(text)) return Date.parse(`${text} GMT`);
  return undefined;
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

/** What a round returns to be followed by another. */
export const AGAIN = Symbol('again');

/** Others wait for their turn no longer than this while it is the service that is slow, in milliseconds. */
const LONGEST_TURN_MS = 5_000;

interface RoundsOptions<T> {
  clock: Pick<Clock, 'timer'>;
  /** Each round waits here for its turn, of which `key` has a share. */
  gate: Pick<FairGate, 'enter'>;
  key: string;
  /** Ends the pause, and what waits for its turn. A round under way goes on. */
  signal: AbortSignal;
  /** How long the next pause is, in milliseconds. */
  pauseMs(): number;
  /** @param answered gives the turn back; called at the end at the latest */
  round(answered: () => void): Promise<T | typeof AGAIN>;
}

/**
 * Does something again and again, with a pause before each time. Nothing is made for a pause or for a turn that is waited
 * for: of thousands, that would outlive the next collections, which copy what lives.
 */
export class Rounds<T> {
  readonly #options: RoundsOptions<T>;
  readonly #timer: Timer;
  readonly #end = Promise.withResolvers<T>();
  /** Gives the turn back, or waits for it no longer. */
  #leave: (() => void) | undefined;
  #isUnderWay = false;

  constructor(options: RoundsOptions<T>) {
    this.#options = options;
    this.#timer = options.clock.timer(() => this.#ring());
  }

  /** @throws what a round throws, or the signal's reason */
  async run(): Promise<T> {
    const { signal } = this.#options;
    signal.addEventListener('abort', this.#stop);
    try {
      this.#rest();
      return await this.#end.promise;
    } finally {
      this.#timer.clear();
      signal.removeEventListener('abort', this.#stop);
    }
  }

  #rest(): void {
    const { signal, pauseMs } = this.#options;
    if (signal.aborted) this.#stop();
    else this.#timer.set(pauseMs());
  }

  #ring(): void {
    if (this.#isUnderWay) return;
    if (this.#leave !== undefined) {
      this.#answered();
      this.#begin();
      return;
    }
    const { gate, key } = this.#options;
    this.#leave = gate.enter(key, this.#begin);
    if (!this.#isUnderWay) this.#timer.set(LONGEST_TURN_MS);
  }

  readonly #begin = (): void => {
    this.#isUnderWay = true;
    void this.#round();
  };

  async #round(): Promise<void> {
    try {
      const found = await this.#options.round(this.#answered);
      this.#isUnderWay = false;
      this.#answered();
      if (found === AGAIN) this.#rest();
      else this.#end.resolve(found);
    } catch (error) {
      this.#answered();
      this.#end.reject(error);
    }
  }

  readonly #answered = (): void => {
    this.#leave?.();
    this.#leave = undefined;
  };

  readonly #stop = (): void => {
    if (this.#isUnderWay) return;
    this.#answered();
    this.#end.reject(this.#options.signal.reason);
  };
}
