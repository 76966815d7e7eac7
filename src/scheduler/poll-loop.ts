import type { Clock } from '../core/clock.ts';
import { MAY_PASS, type ServiceError } from '../core/errors.ts';
import { nextPollMs, type PollState, STEADY } from '../core/retry.ts';
import type { Settings } from '../core/settings.ts';
import { AccountFailure } from '../records/accounts.ts';
import { troubleWords } from '../views/blocks/service-failures.ts';

export interface PollLoop {
  signal: AbortSignal;
  /** When polling ends, milliseconds since the epoch. */
  deadline: number;
  /** The first call is made at once, not after a pause. */
  startsNow?: boolean;
  /** Whether a failure may pass by itself; by default a 5xx, a time-out, bad JSON and a busy service may. */
  mayPass?(cause: ServiceError): boolean;
  /** Called once the service has failed twice in a row, or asks for a long pause; mrkdwn. */
  onTrouble?(words: string): Promise<void>;
}

interface Parts {
  clock: Clock;
  config: Pick<Settings, 'POLL_INTERVAL_MS'>;
}

/** People are told of a pause from here on, rather than see nothing move. */
const LONG_PAUSE_MS = 5_000;

/**
 * Asks the service every interval until `poll` returns something: less often while it fails, and never before it asks to be
 * tried again. Not p-retry, which keeps real time; tests move this clock.
 * @param poll gets true after failures
 * @returns undefined where the deadline passed first
 * @throws what waiting will not change, e.g. a 401, 403 or 404
 */
export async function pollUntil<T>(
  { clock, config: { POLL_INTERVAL_MS: intervalMs } }: Parts,
  loop: PollLoop,
  poll: (recovered: boolean) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { signal, deadline } = loop;
  // The same each time, so that thousands of loops stay as spread as they began.
  const random = Math.random();
  let state = STEADY;
  let startsNow = loop.startsNow === true;
  for (;;) {
    const now = clock.now();
    const pauseMs = nextPollMs({ intervalMs, ...state, now, random });
    if (!startsNow) await clock.sleep(Math.max(0, Math.min(pauseMs, deadline - now)), signal);
    startsNow = false;
    // One poll after the deadline too: the work may have ended while Deckhand was down.
    const isInTime = clock.now() < deadline;
    try {
      const found = await poll(state !== STEADY);
      if (found !== undefined) return found;
      state = STEADY;
    } catch (error) {
      state = await afterFailure(error, state, loop, clock.now());
    }
    if (!isInTime) return undefined;
  }
}

/** @throws the failure itself where waiting will not change it */
async function afterFailure(
  error: unknown,
  { failures: before }: PollState,
  { signal, mayPass = ({ kind }) => MAY_PASS.has(kind), onTrouble }: PollLoop,
  now: number,
): Promise<PollState> {
  if (!(error instanceof AccountFailure) || signal.aborted || !mayPass(error.cause)) throw error;
  const failures = before + 1;
  const { retryAt } = error.cause;
  const isLong = (retryAt ?? 0) - now > LONG_PAUSE_MS;
  if (failures === 2 || (failures === 1 && isLong)) await onTrouble?.(troubleWords(error.cause));
  return { failures, retryAt };
}
