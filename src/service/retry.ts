import type { Clock } from '../core/clock.ts';
import { backoff } from '../core/retry.ts';
import { ServiceError } from './errors.ts';

const FIRST_BACKOFF_MS = 250;
/** A person is waiting: a service that asks for a longer wait is reported as busy instead. */
const LONGEST_WAIT_MS = 5000;
/** The part of a back-off that is not left to chance. */
const FIXED = 0.5;

export interface RetryRules {
  method: string;
  /** How often a request may be sent again. */
  retries: number;
  /** No repetition starts later than this after the first request. */
  budgetMs: number;
  clock: Clock;
  random: () => number;
  signal: AbortSignal | undefined;
}

/**
 * Runs `send` until it succeeds, its failure is final, or the rules end it; then throws the last failure. Not undici's
 * RetryAgent, which keeps real time and knows nothing of what the service certainly did not carry out.
 */
export async function withRetries<T>(send: (attempt: number) => Promise<T>, rules: RetryRules): Promise<T> {
  const start = rules.clock.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send(attempt);
    } catch (error) {
      if (!(error instanceof ServiceError) || attempt > rules.retries) throw error;
      const now = rules.clock.now();
      const wait = retryDelay(rules.method, error, attempt, now, rules.random());
      if (wait === undefined || now + wait - start > rules.budgetMs) throw error;
      await rules.clock.sleep(wait, rules.signal);
    }
  }
}

/**
 * Milliseconds to wait before sending again after failure number `attempt`; undefined if it must not be sent
 * again. `random` is in [0, 1).
 */
function retryDelay(
  method: string,
  error: ServiceError,
  attempt: number,
  now: number,
  random: number,
): number | undefined {
  if (!isRetryable(method, error)) return undefined;
  if (error.retryAt === undefined) return backoff(FIRST_BACKOFF_MS, attempt, random, { spread: [FIXED, 1] });
  const asked = Math.max(0, error.retryAt - now);
  if (asked > LONGEST_WAIT_MS) return undefined;
  return asked + backoff(FIRST_BACKOFF_MS, attempt, random, { spread: [0, 1 - FIXED] });
}

function isRetryable(method: string, error: ServiceError): boolean {
  const passing = error.kind === 'busy' || error.kind === 'unreachable';
  if (method !== 'GET') return passing && error.certainlyNotDone;
  // A broken answer with a good status would come again, so it is not asked for again.
  return passing || (error.kind === 'unexpected' && (error.status ?? 0) >= 500);
}
