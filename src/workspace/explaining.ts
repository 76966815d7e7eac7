import type { Clock } from '../core/clock.ts';
import type { Settings } from '../core/settings.ts';
import { logFailure } from '../observability/failures.ts';
import type { Logger } from '../observability/log.ts';
import { type Explained, explain } from '../views/blocks/failures.ts';

/** How a workspace's failures are told to people. */
export interface Explaining {
  /** The sentence and next step for a failure. `newAccount`: the call used a key that is not stored yet. */
  explain(error: unknown, newAccount?: string): Explained;
  /** Explains a failure and logs it; an unexpected one gets a reference that the log has too. */
  report(error: unknown, fields: Record<string, unknown>, newAccount?: string): Explained;
}

export function explaining({
  config,
  clock,
  log,
}: {
  config: Settings;
  clock: Clock;
  log: Logger;
}): Explaining {
  const { SLACK_COMMAND: word, SUPPORT_URL: supportUrl } = config;
  const explainHere = (error: unknown, newAccount?: string): Explained =>
    explain(error, { word, supportUrl, now: clock.now(), newAccount });
  return {
    explain: explainHere,
    report: (error, fields, newAccount) => ({
      ...explainHere(error, newAccount),
      reference: logFailure(log, error, fields),
    }),
  };
}
