import type { SlackFailure } from '../core/errors.ts';
import { backoff, repeat } from '../core/retry.ts';
import { type Clock, HOUR_MS } from '../core/time/clock.ts';
import { isPassing, isSlackFailure } from './failure.ts';
import type { AnswerOf, ArgumentsOf } from './web.ts';

export interface RetryPolicy {
  /** Longest wait for a rate limit, in milliseconds. */
  busyMs: number;
  /** Number of repetitions after Slack did not answer. */
  retriesUnknown: number;
}

/** Calls any Web API method. The default policy is for a waiting person. */
export type Call = <Method extends string>(
  method: Method,
  args: ArgumentsOf<Method>,
  policy?: RetryPolicy,
) => Promise<AnswerOf<Method>>;

export const BACKGROUND: RetryPolicy = { busyMs: 15 * 60_000, retriesUnknown: 4 };
/** A person watches a spinner. */
export const INTERACTIVE_POLICY: RetryPolicy = { busyMs: 3_000, retriesUnknown: 1 };
/** For messages that nothing else repeats. They survive half a minute without Slack. */
export const ONLY_CHANCE: RetryPolicy = { busyMs: 3_000, retriesUnknown: 6 };

const MIN_BUDGET_MS = 60_000;
const FIRST_BACKOFF_MS = 500;
const NO_SPREAD = { spread: [1, 1] } as const;

/**
 * Repeats a call to Slack as the policy allows: after `Retry-After` if Slack is busy, with back-off if it
 * does not answer.
 * @param onRetry called with the failure before each repetition
 */
export function withRetries<T>(
  clock: Clock,
  policy: RetryPolicy,
  call: () => Promise<T>,
  { signal, onRetry }: { signal?: AbortSignal | undefined; onRetry?: (failure: SlackFailure) => void } = {},
): Promise<T> {
  const budgetMs = Math.max(policy.busyMs, MIN_BUDGET_MS);
  let timesUnreachable = 0;
  let failure: SlackFailure | undefined;
  async function callAgain(): Promise<T> {
    if (failure !== undefined) onRetry?.(failure);
    return await call();
  }
  return repeat({ clock, signal }, callAgain, (error, _, waitedMs) => {
    if (!isSlackFailure(error, 'busy', 'unreachable')) return undefined;
    const wait = waitAfter(error, clock.now(), timesUnreachable, policy);
    if (wait === undefined || waitedMs + wait > budgetMs) return undefined;
    if (error.kind === 'unreachable') timesUnreachable += 1;
    failure = error;
    return wait;
  });
}

function waitAfter(
  { kind, retryAt }: SlackFailure,
  now: number,
  failures: number,
  policy: RetryPolicy,
): number | undefined {
  if (kind === 'busy') {
    const wait = Math.max(0, (retryAt ?? now + 1000) - now);
    return wait <= policy.busyMs ? wait : undefined;
  }
  if (failures >= policy.retriesUnknown) return undefined;
  return backoff(FIRST_BACKOFF_MS, failures + 1, 0, NO_SPREAD);
}

/** Outages of Slack last minutes, rarely hours. */
const MAX_OUTAGE_MS = 6 * HOUR_MS;
const OUTAGE_BACKOFF_MS = 1_000;
/** Work resumes within half a minute after an outage. */
const MAX_BACKOFF_MS = 20_000;

/**
 * Starts resumable work again as long as Slack is busy, does not answer or refuses the token.
 * @param onFailure called with each failure
 */
export function retryThroughOutage(
  lifetime: { clock: Clock; signal: AbortSignal },
  work: () => Promise<void>,
  onFailure: (failure: SlackFailure) => void,
): Promise<void> {
  return repeat(lifetime, work, (error, failures, waitedMs) => {
    if (!isPassing(error) || lifetime.signal.aborted || waitedMs > MAX_OUTAGE_MS) return undefined;
    onFailure(error);
    return backoff(OUTAGE_BACKOFF_MS, failures, Math.random(), { maxMs: MAX_BACKOFF_MS });
  });
}

/** Limits optional edits. Slack takes about one a second in a channel, and 50 of `chat.update` a minute. */
export type EditBudget = ReturnType<typeof createEditBudget>;

/** A quarter of the 50. The rest is for outcomes. */
const A_MINUTE = 12;
const MINUTE_MS = 60_000;
const CHANNEL_MS = 1_000;

export function createEditBudget({ now }: Pick<Clock, 'now'>) {
  const postings = new Map<string, Array<{ channel: string; at: number }>>();
  const pausedUntil = new Map<string, number>();

  function hasRoom(workspace: string, channel: string): boolean {
    const at = now();
    if (at < (pausedUntil.get(workspace) ?? 0)) return false;
    const edits = postings.get(workspace) ?? [];
    // Edits go on if somebody sets the clock back.
    const isRecent = (edit: { at: number }): boolean => edit.at <= at && at - edit.at < MINUTE_MS;
    // Each poll calls this. Usually all edits are recent, so it makes no new list.
    const recent = edits.every(isRecent) ? edits : edits.filter(isRecent);
    if (recent !== edits) postings.set(workspace, recent);
    if (recent.length >= A_MINUTE) return false;
    return !recent.some((edit) => edit.channel === channel && at - edit.at < CHANNEL_MS);
  }

  return {
    hasRoom,
    /** Counts an edit if it has room. */
    take(workspace: string, channel: string): boolean {
      if (!hasRoom(workspace, channel)) return false;
      const edit = { channel, at: now() };
      const edits = postings.get(workspace);
      if (edits === undefined) postings.set(workspace, [edit]);
      else edits.push(edit);
      return true;
    },
    /** Allows no edit before this time, milliseconds since the epoch. */
    pause: (workspace: string, until: number) => void pausedUntil.set(workspace, until),
  };
}
