import { LogLevel, type Logger as SlackLogger } from '@slack/web-api';
import type { Logger } from '../observability/log.ts';

/**
 * A logger for Slack's libraries. Their own lines may hold bodies, addresses and codes: only that a problem was
 * reported is kept, under a name of ours.
 */
export function silentLogger(log: Logger, event: string): SlackLogger {
  const silent = (): void => undefined;
  const note = (): void => log.warn({ event }, 'a Slack library reported a problem');
  return {
    debug: silent,
    info: silent,
    warn: silent,
    error: note,
    setLevel: silent,
    getLevel: () => LogLevel.ERROR,
    setName: silent,
  };
}
