import type { SlackFailure } from '../core/errors.ts';
import { type Clock, MINUTE_MS } from '../core/time/clock.ts';
import type { Logger } from '../observability/log.ts';

/** A method that Slack limited, with the time of its latest refusal, milliseconds since the epoch. */
export interface Limit {
  method: string;
  at: number;
}

/** How long a limit is remembered after Slack's latest refusal. */
const REMEMBERED_MS = 10 * MINUTE_MS;

/** Remembers which calls Slack limits, and logs each method of a workspace once a minute. */
export function createLimits({ clock, log }: { clock: Clock; log: Logger }) {
  const limits = new Map<string, Limit & { workspace: string; loggedAt: number }>();
  return {
    note(workspace: string, { method, retryAt }: SlackFailure): void {
      const at = clock.now();
      for (const [key, limit] of limits) if (at - limit.at > REMEMBERED_MS) limits.delete(key);
      const key = `${workspace} ${method}`;
      const loggedAt = limits.get(key)?.loggedAt;
      const isRepeat = loggedAt !== undefined && Math.abs(at - loggedAt) < MINUTE_MS;
      const ms = Math.max(0, (retryAt ?? at) - at);
      if (!isRepeat)
        log.warn({ event: 'slack_busy', workspace, method, ms }, 'Slack limits the rate of calls');
      limits.set(key, { workspace, method, at, loggedAt: isRepeat ? loggedAt : at });
    },
    /** Methods that Slack limited in the last ten minutes. */
    list: (workspace: string): Limit[] =>
      [...limits.values()].filter(
        (limit) => limit.workspace === workspace && clock.now() - limit.at <= REMEMBERED_MS,
      ),
  };
}
