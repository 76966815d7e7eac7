import type { Clock } from '../core/clock.ts';
import type { ServiceError, ServiceErrorKind } from '../core/errors.ts';
import { dateTime } from '../core/mrkdwn.ts';
import { backoff } from '../core/retry.ts';
import type { Settings } from '../core/settings.ts';
import { AccountFailure } from '../workspace/accounts.ts';

export interface PollTiming {
  intervalMs: number;
  /** Polls in a row that the service did not answer properly. */
  failures: number;
  /** When the service asked to be tried again, milliseconds since the epoch. */
  retryAt: number | undefined;
  now: number;
  /** In [0, 1). */
  random: number;
  /** No pause of our own choosing is longer; a minute by default. */
  longestMs?: number;
}

const LONGEST_PAUSE_MS = 60_000;
/** People are told of a pause from here on, rather than see nothing move. */
const LONG_PAUSE_MS = 5_000;
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

/** How the last polls went. */
export interface PollState {
  /** Polls in a row without a proper answer. */
  failures: number;
  retryAt: number | undefined;
}

export const STEADY: PollState = { failures: 0, retryAt: undefined };

/** A longer time between two waits means that the clock jumped. */
const LONGEST_POLL_MS = 60_000;

/** The service refused, and asking again will not change that. */
const FINAL: ReadonlySet<ServiceErrorKind> = new Set([
  'unauthorized',
  'forbidden',
  'api_access_restricted',
  'admin_required',
  'email_verification_required',
  'account_not_found',
  'record_not_found',
  'invalid',
  'rejected',
]);

export interface PollingOptions {
  signal: AbortSignal;
  /** When polling ends, milliseconds since the epoch. */
  deadline: number;
  /** Called once the service has failed twice in a row, or asks for a long pause; mrkdwn. */
  onTrouble?(words: string): Promise<void>;
}

export interface Polling {
  /** Waits for the next poll; false once the deadline has passed. */
  wait(state: PollState): Promise<boolean>;
  /** The state after a failed call. @throws the failure itself where waiting will not change it */
  slowDown(error: unknown, state: PollState, isFinal?: (cause: ServiceError) => boolean): Promise<PollState>;
  /**
   * Polls until `poll` returns something; undefined where the deadline passed first. `recovered` is true after failed
   * polls.
   * @throws what waiting will not change
   */
  until<T>(poll: (recovered: boolean) => Promise<T | undefined>): Promise<T | undefined>;
}

interface PollingParts {
  clock: Clock;
  config: Pick<Settings, 'POLL_INTERVAL_MS'>;
}

/**
 * Asks the service every interval, less often while it fails, and never before it asks to be tried again. Not p-retry,
 * which keeps real time: a clock that was set, or a machine that slept, must not use up the deadline.
 */
export function createPolling({ clock, config }: PollingParts, options: PollingOptions): Polling {
  const { signal } = options;
  let { deadline } = options;
  let seenAt = clock.now();

  /** Moves the deadline along with a clock that jumped, and returns the time. */
  function pass(sleptMs: number): number {
    const now = clock.now();
    const jumpedMs = now - seenAt - sleptMs;
    if (jumpedMs < 0 || jumpedMs > LONGEST_POLL_MS) deadline += jumpedMs;
    seenAt = now;
    return now;
  }

  async function wait({ failures, retryAt }: PollState): Promise<boolean> {
    const now = pass(0);
    const intervalMs = config.POLL_INTERVAL_MS;
    const ms = nextPollMs({ intervalMs, failures, retryAt, now, random: Math.random() });
    const pauseMs = Math.min(ms, Math.max(0, deadline - now));
    await clock.sleep(pauseMs, signal);
    return pass(pauseMs) < deadline;
  }

  const slowDown: Polling['slowDown'] = async (error, state, isFinal = ({ kind }) => FINAL.has(kind)) => {
    if (!(error instanceof AccountFailure) || signal.aborted || isFinal(error.cause)) throw error;
    const next = { failures: state.failures + 1, retryAt: error.cause.retryAt };
    const isLong = (next.retryAt ?? 0) - clock.now() > LONG_PAUSE_MS;
    if (next.failures === 2 || (next.failures === 1 && isLong)) await options.onTrouble?.(troubleWords(next));
    return next;
  };

  const until: Polling['until'] = async (poll) => {
    for (let state = STEADY; ; ) {
      // One poll after the deadline too: it may have passed, and the work ended, while Deckhand was down.
      const isInTime = await wait(state);
      try {
        const seen = await poll(state !== STEADY);
        if (seen !== undefined) return seen;
        state = STEADY;
      } catch (error) {
        state = await slowDown(error, state);
      }
      if (!isInTime) return undefined;
    }
  };

  return { wait, slowDown, until };
}

function troubleWords({ retryAt }: PollState): string {
  const next = retryAt === undefined ? 'Deckhand keeps trying' : `the next try is ${dateTime(retryAt)}`;
  return `The service is busy or does not answer; ${next}.`;
}
