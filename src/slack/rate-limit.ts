import { SlackFailure } from '../core/errors.ts';
import { backoff } from '../core/retry.ts';
import { type Clock, HOUR_MS } from '../core/time/clock.ts';
import type { SpanStart, Tracing } from '../observability/tracing.ts';
import { isPassing, isSlackFailure, NOT_INSTALLED } from './failure.ts';
import type { AnswerOf, ArgumentsOf, Web } from './web.ts';

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
export const INTERACTIVE_POLICY: RetryPolicy = { busyMs: 3_000, retriesUnknown: 1 };
/** A message for one person that nothing else repeats: it outlasts half a minute without Slack. */
export const ONLY_CHANCE: RetryPolicy = { busyMs: 3_000, retriesUnknown: 6 };

const MIN_BUDGET_MS = 60_000;
const FIRST_BACKOFF_MS = 500;
const NO_SPREAD = { spread: [1, 1] } as const;

/**
 * Repeats a Slack call as the policy allows: after `Retry-After` where Slack is busy, with back-off where it does not
 * answer. Not p-retry, which keeps real time; tests move this clock.
 * @param onRetry called with each failure that the call is repeated after
 */
export async function withRetries<T>(
  clock: Clock,
  policy: RetryPolicy,
  call: () => Promise<T>,
  { signal, onRetry }: { signal?: AbortSignal | undefined; onRetry?: (failure: SlackFailure) => void } = {},
): Promise<T> {
  // The sum of the waits and not the clock decides, because the clock may be set meanwhile.
  let waitedMs = 0;
  let failures = 0;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isSlackFailure(error, 'busy', 'unreachable')) throw error;
      const wait = waitAfter(error, clock.now(), failures, policy);
      if (wait === undefined || waitedMs + wait > Math.max(policy.busyMs, MIN_BUDGET_MS)) throw error;
      if (error.kind === 'unreachable') failures += 1;
      waitedMs += wait;
      await clock.sleep(wait, signal);
      onRetry?.(error);
    }
  }
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

/** Outages of Slack last minutes, seldom hours. */
const MAX_OUTAGE_MS = 6 * HOUR_MS;
const OUTAGE_BACKOFF_MS = 1_000;
/** Everything goes on within half a minute after an outage. */
const MAX_BACKOFF_MS = 20_000;

/**
 * Begins work again while Slack is busy, does not answer or refuses the token, for as long as that lasts: for work that goes
 * on from where it was.
 * @param onFailure called each time
 */
export async function retryThroughOutage(
  { clock, signal }: { clock: Clock; signal: AbortSignal },
  work: () => Promise<void>,
  onFailure: (failure: SlackFailure) => void,
): Promise<void> {
  let waitedMs = 0;
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || signal.aborted || waitedMs > MAX_OUTAGE_MS) throw error;
      onFailure(error);
      const wait = backoff(OUTAGE_BACKOFF_MS, failures, Math.random(), { maxMs: MAX_BACKOFF_MS });
      waitedMs += wait;
      await clock.sleep(wait, signal);
    }
  }
}

/** One call with the workspace's token, without repetition. */
export type CallOnce = <Method extends string>(
  method: Method,
  args: ArgumentsOf<Method>,
) => Promise<AnswerOf<Method>>;

interface CallParts {
  /** The workspace's; undefined where Deckhand is not installed. */
  token(): Promise<string | undefined>;
  web: Web;
  tracing: Tracing;
  observe?: ((method: string, outcome: string, ms: number) => void) | undefined;
}

/** Calls with the workspace's token, each in a span of its own. */
export function createCallOnce({ token, web, tracing, observe }: CallParts): CallOnce {
  return async (method, args) => {
    const secret = await token();
    if (secret === undefined) throw new SlackFailure(method, 'revoked', NOT_INSTALLED);
    return tracing.run(spanOf(method, web.origin), async () => {
      const start = performance.now();
      const observed = (outcome: string): void => observe?.(method, outcome, performance.now() - start);
      try {
        const answer = await web.call(method, args, secret);
        observed('ok');
        return answer;
      } catch (error) {
        observed(error instanceof SlackFailure ? error.kind : 'bug');
        throw error;
      }
    });
  };
}

function spanOf(method: string, origin: string): SpanStart {
  const named = { 'http.request.method': 'POST', 'slack.method': method };
  const attributes = () => ({ ...named, 'server.address': new URL(origin).hostname });
  return { name: `POST ${method}`, kind: 'client', attributes };
}

/** Edits that may be left out: Slack takes about one a second in a channel, and 50 of `chat.update` a minute. */
export type EditBudget = ReturnType<typeof createEditBudget>;

/** A quarter of the 50; the rest is for outcomes. */
const A_MINUTE = 12;
const MINUTE_MS = 60_000;
const CHANNEL_MS = 1_000;

export function createEditBudget({ now }: Pick<Clock, 'now'>) {
  const taken = new Map<string, Array<{ channel: string; at: number }>>();
  const pausedUntil = new Map<string, number>();

  function hasRoom(workspace: string, channel: string): boolean {
    const at = now();
    if (at < (pausedUntil.get(workspace) ?? 0)) return false;
    const known = taken.get(workspace) ?? [];
    // A clock that was set back must not hold edits up.
    const isRecent = (edit: { at: number }): boolean => edit.at <= at && at - edit.at < MINUTE_MS;
    // Each poll asks: mostly none has become old, and no list is made.
    const recent = known.every(isRecent) ? known : known.filter(isRecent);
    if (recent !== known) taken.set(workspace, recent);
    if (recent.length >= A_MINUTE) return false;
    return !recent.some((edit) => edit.channel === channel && at - edit.at < CHANNEL_MS);
  }

  return {
    /** Whether another one fits. */
    hasRoom,
    /** The same; it then counts. */
    take(workspace: string, channel: string): boolean {
      if (!hasRoom(workspace, channel)) return false;
      const edit = { channel, at: now() };
      const edits = taken.get(workspace);
      if (edits === undefined) taken.set(workspace, [edit]);
      else edits.push(edit);
      return true;
    },
    /** None before this time, milliseconds since the epoch. */
    pause: (workspace: string, until: number) => void pausedUntil.set(workspace, until),
  };
}
