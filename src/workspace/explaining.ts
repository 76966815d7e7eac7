import type { Clock } from '../core/clock.ts';
import type { Settings } from '../core/settings.ts';
import { logFailure } from '../observability/failures.ts';
import type { Logger } from '../observability/log.ts';
import { type Explained, explain } from '../views/blocks/failures.ts';

export function createExplaining({ config, clock, log }: { config: Settings; clock: Clock; log: Logger }) {
  const { SLACK_COMMAND: word, SUPPORT_URL: supportUrl } = config;
  const explainHere = (error: unknown, newAccount?: string, channel?: string): Explained =>
    explain(error, { word, supportUrl, now: clock.now(), newAccount, channel });
  return {
    /** The sentence and next step for a failure. `newAccount`: the call used a key that is not stored yet. */
    explain: (error: unknown, newAccount?: string) => explainHere(error, newAccount),
    /** Explains a failure and logs it; an unexpected one gets a reference that the log has too. */
    report: (
      error: unknown,
      fields: { channel?: string | undefined; [name: string]: unknown },
      newAccount?: string,
    ) => ({
      ...explainHere(error, newAccount, fields.channel),
      reference: logFailure(log, error, fields),
    }),
  };
}
