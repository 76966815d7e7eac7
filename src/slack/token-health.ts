import { SlackFailure } from '../core/errors.ts';
import { describeUnreached } from '../core/http.ts';
import { backoff } from '../core/retry.ts';
import { type Clock, withTimeout } from '../core/time/clock.ts';
import type { Logger } from '../observability/log.ts';
import { createNamedFailure, isSlackFailure } from './failure.ts';
import type { Web } from './web.ts';

export type TokenVariable = 'SLACK_BOT_TOKEN' | 'SLACK_APP_TOKEN';

export interface RefusedToken {
  variable: TokenVariable;
  /** Slack's own word, e.g. `invalid_auth`. */
  reason: string;
}

/** Environment tokens that Slack refuses, and the workspace of the bot token, once Slack has answered. */
export type TokenHealth = ReturnType<typeof createTokenHealth>;

/** An ack waits for this. Slack waits three seconds for an ack. */
const OWNER_WITHIN_MS = 2_000;

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
  let isDisconnected = false;
  return {
    /** @param installation undefined only for a test's Slack */
    belongsTo(installation: string | undefined): void {
      owner = { installation };
      tried.resolve();
    },
    /** Call it if Slack refused a call as if the bot token no longer worked. Deckhand then tries the token again. */
    suspect: (): void => suspected.resolve(),
    async untilSuspected(): Promise<void> {
      await suspected.promise;
      suspected = Promise.withResolvers();
    },
    /** Call it if the connection of Socket Mode opens, closes or cannot be opened. */
    connected(isOpen: boolean): void {
      isDisconnected = !isOpen;
    },
    isDisconnected: () => isDisconnected,
    /** True if Slack has not answered since the start. */
    isUnreached: () => isUnreached,
    /** @param reason a clause */
    unreached(reason: string): void {
      if (isUnreached) return;
      isUnreached = true;
      log.warn({ event: 'slack_unreachable', reason }, 'Slack not reached');
    },
    knownOwner: () => owner?.installation,
    /** Finds the installation of the bot token. @throws SlackFailure until Slack has named it */
    async owner(): Promise<string | undefined> {
      if (owner === undefined) await withTimeout(clock, OWNER_WITHIN_MS, tried.promise);
      if (owner !== undefined) return owner.installation;
      const reason = refused.get('SLACK_BOT_TOKEN');
      if (reason !== undefined) throw createNamedFailure(TRIAL, reason);
      throw new SlackFailure(TRIAL, 'unreachable', 'not_answered');
    },
    refuse(variable: TokenVariable, reason: string): void {
      isUnreached = false;
      if (refused.get(variable) === reason) return;
      refused.set(variable, reason);
      observe(variable, true);
      if (variable === 'SLACK_BOT_TOKEN') tried.resolve();
      log.error({ event: 'slack_token_refused', kind: variable, reason }, 'Slack refused a token');
    },
    accept(variable: TokenVariable): void {
      isUnreached = false;
      observe(variable, false);
      if (refused.delete(variable))
        log.info({ event: 'slack_token_accepted', kind: variable }, 'Slack accepted the token again');
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
/** After an admin activates the app again, Deckhand works within this time. */
const REFUSED_WAIT_MS = 10_000;

/** Tries the bot token until Slack accepts it, and again after Slack refused it in a call. */
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

/** Asks Slack for the workspace or organisation of a bot token. @throws SlackFailure */
export async function findTokenOwner(web: Web, token: string): Promise<string | undefined> {
  const answer = await web.call(TRIAL, {}, token);
  return answer.is_enterprise_install ? answer.enterprise_id : answer.team_id;
}

type Outcome = 'accepted' | { reason: string } | { why: string };

async function tryToken({ web, token, health, signal }: BotTokenCheck): Promise<Outcome> {
  try {
    health.belongsTo(await findTokenOwner(web, token));
    health.accept('SLACK_BOT_TOKEN');
    return 'accepted';
  } catch (error) {
    if (signal.aborted) return { why: 'the process stops' };
    if (!isSlackFailure(error)) throw error;
    const { reason } = error;
    return isAboutToken(error) ? { reason } : { why: describeUnreached(error) ?? reason };
  }
}

/** True if the same token would get the same answer. A Slack that lacks the method has not checked the token. */
export function isAboutToken(failure: unknown): boolean {
  if (!isSlackFailure(failure) || failure.reason === 'unknown_method') return false;
  return failure.kind !== 'busy' && failure.kind !== 'unreachable';
}
