import type { Clock } from '../core/clock.ts';
import { backoff } from '../core/retry.ts';
import { isSlackFailure } from './failure.ts';
import type { AnswerOf, ArgumentsOf } from './methods.ts';

export interface RetryPolicy {
  /** Waits for a rate limit to pass at most this long in all, in milliseconds. */
  busyMs: number;
  /** Tries after an answer that leaves open whether the call was carried out. */
  retriesUnknown: number;
}

/** Calls any Web API method; by default for a person who waits. */
export type Call = <Method extends string>(
  method: Method,
  args: ArgumentsOf<Method>,
  policy?: RetryPolicy,
) => Promise<AnswerOf<Method>>;

/** Background work can wait. */
export const BACKGROUND: RetryPolicy = { busyMs: 15 * 60_000, retriesUnknown: 4 };
/** A person is looking at a spinner. */
export const SOMEONE_WAITS: RetryPolicy = { busyMs: 3_000, retriesUnknown: 1 };
/** A message for one person that nothing else repeats: it outlasts half a minute without Slack. */
export const ONLY_CHANCE: RetryPolicy = { busyMs: 3_000, retriesUnknown: 6 };

const LEAST_BUDGET_MS = 60_000;
const FIRST_BACKOFF_MS = 500;
const NO_SPREAD = { spread: [1, 1] } as const;

/**
 * Repeats a Slack call as the policy allows: after `Retry-After` where Slack is busy, with back-off where it does not
 * answer. Not p-retry, which keeps real time; tests move this clock.
 */
export async function withRetries<T>(
  clock: Clock,
  policy: RetryPolicy,
  call: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  // The sum of the waits and not the clock decides, because the clock may be set meanwhile.
  let waitedMs = 0;
  let unanswered = 0;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const wait = waitAfter(error, clock.now(), unanswered, policy);
      if (wait === undefined || waitedMs + wait > Math.max(policy.busyMs, LEAST_BUDGET_MS)) throw error;
      if (isSlackFailure(error, 'unreachable')) unanswered += 1;
      waitedMs += wait;
      await clock.sleep(wait, signal);
    }
  }
}

function waitAfter(error: unknown, now: number, unanswered: number, policy: RetryPolicy): number | undefined {
  if (isSlackFailure(error, 'busy')) {
    const wait = Math.max(0, (error.retryAt ?? now + 1000) - now);
    return wait <= policy.busyMs ? wait : undefined;
  }
  if (isSlackFailure(error, 'unreachable') && unanswered < policy.retriesUnknown)
    return backoff(FIRST_BACKOFF_MS, unanswered + 1, 0, NO_SPREAD);
  return undefined;
}
