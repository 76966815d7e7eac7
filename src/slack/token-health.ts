import { SlackFailure } from '../core/errors.ts';
import { describeUnreached } from '../core/http.ts';
import { backoff } from '../core/retry.ts';
import { type Clock, withTimeout } from '../core/time/clock.ts';
import type { Logger } from '../observability/log.ts';
import { failureNamed, isSlackFailure } from './failure.ts';
import type { Web } from './web.ts';

export type TokenVariable = 'SLACK_BOT_TOKEN' | 'SLACK_APP_TOKEN';

export interface RefusedToken {
  variable: TokenVariable;
  /** Slack's own word, e.g. `invalid_auth`. */
  reason: string;
}

/** Which tokens of the environment Slack refuses, and whose the bot token is. Until Slack has answered, nothing is known. */
export type TokenHealth = ReturnType<typeof createTokenHealth>;

/** An ack waits for it, and is due after three seconds. */
const OWNER_WITHIN_MS = 2_000;

/** @param observe for metrics: whether Slack refuses the token now */
export function createTokenHealth(
  log: Logger,
  clock: Clock,
  observe: (variable: TokenVariable, isRefused: boolean) => void,
) {
  const refused = new Map<TokenVariable, string>();
  const tried = Promise.withResolvers<void>();
  let owner: { installation: string | undefined } | undefined;
  let suspected = Promise.withResolvers<void>();
  let isUnreached = false;
  return {
    /** @param installation undefined where what stands in for Slack names none; Slack always does */
    belongsTo(installation: string | undefined): void {
      owner = { installation };
      tried.resolve();
    },
    /** A call was refused as if the bot token did not work any more: it is tried again. */
    suspect: (): void => suspected.resolve(),
    async untilSuspected(): Promise<void> {
      await suspected.promise;
      suspected = Promise.withResolvers();
    },
    /** Slack has not answered since the start. */
    isUnreached: () => isUnreached,
    /** @param reason why, as a clause */
    unreached(reason: string): void {
      if (isUnreached) return;
      isUnreached = true;
      log.warn({ event: 'slack_unreachable', reason }, 'Slack was not reached; it is tried again');
    },
    knownOwner: () => owner?.installation,
    /** The installation that the bot token is of. @throws SlackFailure until Slack has named it */
    async owner(): Promise<string | undefined> {
      if (owner === undefined) await withTimeout(clock, OWNER_WITHIN_MS, tried.promise);
      if (owner !== undefined) return owner.installation;
      const reason = refused.get('SLACK_BOT_TOKEN');
      if (reason !== undefined) throw failureNamed(TRIAL, reason);
      throw new SlackFailure(TRIAL, 'unreachable', 'not_answered');
    },
    refuse(variable: TokenVariable, reason: string): void {
      isUnreached = false;
      if (refused.get(variable) === reason) return;
      refused.set(variable, reason);
      observe(variable, true);
      if (variable === 'SLACK_BOT_TOKEN') tried.resolve();
      log.error({ event: 'slack_token_refused', kind: variable, reason }, 'Slack refuses a token');
    },
    accept(variable: TokenVariable): void {
      isUnreached = false;
      observe(variable, false);
      if (refused.delete(variable))
        log.info({ event: 'slack_token_accepted', kind: variable }, 'Slack accepts the token again');
    },
    refused(): RefusedToken | undefined {
      const [first] = refused;
      return first && { variable: first[0], reason: first[1] };
    },
  };
}

export interface BotTokenCheck {
  token: string;
  web: Web;
  health: TokenHealth;
  clock: Clock;
  signal: AbortSignal;
}

const TRIAL = 'auth.test';
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;
/** An admin of the workspace may activate the app again, and everything goes on within half a minute of that. */
const REFUSED_WAIT_MS = 10_000;

/**
 * Tries the bot token until Slack accepts it, and again once a call was refused for it. A Slack that cannot be reached says
 * nothing about the token.
 */
export async function checkBotToken(check: BotTokenCheck): Promise<void> {
  const { health, clock, signal } = check;
  for (let failures = 1; !signal.aborted; failures += 1) {
    const outcome = await tryToken(check);
    if (signal.aborted) return;
    if (outcome === 'accepted') {
      failures = 0;
      await health.untilSuspected();
      continue;
    }
    const isAnswered = !('why' in outcome);
    if (isAnswered) health.refuse('SLACK_BOT_TOKEN', outcome.reason);
    else health.unreached(outcome.why);
    const waitMs = backoff(FIRST_WAIT_MS, failures, Math.random(), { maxMs: MAX_WAIT_MS });
    await clock.sleep(isAnswered ? REFUSED_WAIT_MS : waitMs, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

type Outcome = 'accepted' | { reason: string } | { why: string };

async function tryToken({ web, token, health, signal }: BotTokenCheck): Promise<Outcome> {
  try {
    const named = await web.call(TRIAL, {}, token);
    health.belongsTo(named.is_enterprise_install ? named.enterprise_id : named.team_id);
    health.accept('SLACK_BOT_TOKEN');
    return 'accepted';
  } catch (error) {
    if (signal.aborted) return { why: 'the process stops' };
    if (!isSlackFailure(error)) throw error;
    const { reason } = error;
    return isAboutToken(error) ? { reason } : { why: describeUnreached(error) ?? reason };
  }
}

/** Slack's answer, which the same token gets again. One that does not know the method has not looked at the token. */
export function isAboutToken(failure: unknown): boolean {
  if (!isSlackFailure(failure) || failure.reason === 'unknown_method') return false;
  return failure.kind !== 'busy' && failure.kind !== 'unreachable';
}
