import type { Clock } from '../core/clock.ts';
import { backoff } from '../core/retry.ts';
import type { Logger } from '../observability/log.ts';
import { isSlackFailure } from './failure.ts';
import type { Web } from './web.ts';

export type TokenVariable = 'SLACK_BOT_TOKEN' | 'SLACK_APP_TOKEN';

export interface RefusedToken {
  variable: TokenVariable;
  /** Slack's own word, e.g. `invalid_auth`. */
  reason: string;
}

/** Which tokens of the environment Slack refuses. Until it has answered, none. */
export type TokenHealth = ReturnType<typeof createTokenHealth>;

export function createTokenHealth(log: Logger) {
  const refused = new Map<TokenVariable, string>();
  return {
    refuse(variable: TokenVariable, reason: string): void {
      if (refused.get(variable) === reason) return;
      refused.set(variable, reason);
      log.error({ event: 'slack_token_refused', kind: variable, reason }, 'Slack refuses a token');
    },
    accept(variable: TokenVariable): void {
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

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** An admin of the workspace may activate the app again. */
const REFUSED_WAIT_MS = 5 * 60_000;

/** Tries the bot token until Slack accepts it. A Slack that cannot be reached says nothing about the token. */
export async function checkBotToken({ token, web, health, clock, signal }: BotTokenCheck): Promise<void> {
  for (let failures = 1; !signal.aborted; failures += 1) {
    const outcome = await tryToken(web, token);
    if (outcome === 'accepted') return health.accept('SLACK_BOT_TOKEN');
    const isAnswered = outcome !== 'unanswered';
    if (isAnswered) health.refuse('SLACK_BOT_TOKEN', outcome.reason);
    const waitMs = backoff(FIRST_WAIT_MS, failures, Math.random(), { longestMs: LONGEST_WAIT_MS });
    await clock.sleep(isAnswered ? REFUSED_WAIT_MS : waitMs, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

async function tryToken(web: Web, token: string): Promise<'accepted' | 'unanswered' | { reason: string }> {
  try {
    await web.call('auth.test', {}, token);
    return 'accepted';
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    return isAboutToken(error) ? { reason: error.reason } : 'unanswered';
  }
}

/** Slack's answer, which the same token gets again. One that does not know the method has not looked at the token. */
export function isAboutToken(failure: unknown): boolean {
  if (!isSlackFailure(failure) || failure.reason === 'unknown_method') return false;
  return failure.kind !== 'busy' && failure.kind !== 'unreachable';
}
