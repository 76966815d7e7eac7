import type { Config } from '../config.ts';
import type { Clock } from '../core/clock.ts';
import type { ServiceErrorKind } from '../core/errors.ts';
import type { ServiceError } from '../service/errors.ts';
import { dateTime } from '../views/blocks/time.ts';
import { AccountFailure } from '../workspace/accounts.ts';
import { nextPollMs } from './poll-interval.ts';

/** How the last looks went. */
export interface PollState {
  /** Looks in a row without a proper answer. */
  failures: number;
  retryAt: number | undefined;
}

/** Between two waits there passes more time only where the clock jumps. */
const LONGEST_LOOK_MS = 60_000;

export const STEADY: PollState = { failures: 0, retryAt: undefined };

/** The service said no, and asking again will not change that. */
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
  /** When looking ends, milliseconds since the epoch. */
  deadline: number;
  /** Told once the service has failed twice in a row; mrkdwn. */
  onTrouble?(words: string): Promise<void>;
}

export interface Polling {
  /** Waits for the next look; false once the deadline has passed. */
  wait(pace: PollState): Promise<boolean>;
  /** The pace after a failed call. @throws the failure itself where waiting will not change it */
  slowDown(error: unknown, pace: PollState, isFinal?: (cause: ServiceError) => boolean): Promise<PollState>;
  /**
   * Looks until `look` gives something; undefined where it was looked for as long as we look. `recovered` is true
   * after failed looks.
   * @throws what waiting will not change
   */
  until<T>(look: (recovered: boolean) => Promise<T | undefined>): Promise<T | undefined>;
}

interface Watched {
  clock: Clock;
  config: Pick<Config, 'POLL_INTERVAL_MS'>;
}

/** Looks at the service every interval, slower while it fails, and never before it asks to be tried again. */
export function createPolling({ clock, config }: Watched, options: PollingOptions): Polling {
  const { signal } = options;
  let { deadline } = options;
  let seenAt = clock.now();

  /** A clock that was set, or a machine that slept, is no time in which we looked: the deadline moves along. */
  function pass(sleptMs: number): number {
    const now = clock.now();
    const jumpedMs = now - seenAt - sleptMs;
    if (jumpedMs < 0 || jumpedMs > LONGEST_LOOK_MS) deadline += jumpedMs;
    seenAt = now;
    return now;
  }

  return {
    async wait({ failures, retryAt }) {
      const now = pass(0);
      const intervalMs = config.POLL_INTERVAL_MS;
      const ms = nextPollMs({ intervalMs, failures, retryAt, now, random: Math.random() });
      const pauseMs = Math.min(ms, Math.max(0, deadline - now));
      await clock.sleep(pauseMs, signal);
      return pass(pauseMs) < deadline;
    },
    async slowDown(error, pace, isFinal = ({ kind }) => FINAL.has(kind)) {
      if (!(error instanceof AccountFailure) || signal.aborted || isFinal(error.cause)) throw error;
      const next = { failures: pace.failures + 1, retryAt: error.cause.retryAt };
      if (next.failures === 2) await options.onTrouble?.(troubleWords(next));
      return next;
    },
    async until(look) {
      for (let pace = STEADY; ; ) {
        // After the deadline too: it may have passed, and the work ended, while nobody looked.
        const goesOn = await this.wait(pace);
        try {
          const seen = await look(pace !== STEADY);
          if (seen !== undefined) return seen;
          pace = STEADY;
        } catch (error) {
          pace = await this.slowDown(error, pace);
        }
        if (!goesOn) return undefined;
      }
    },
  };
}

function troubleWords({ retryAt }: PollState): string {
  const when = retryAt === undefined ? 'I keep trying' : `I try again ${dateTime(retryAt)}`;
  return `The service is busy or does not answer; ${when}.`;
}
