import { LogLevel, type Logger as SlackLogger, type WebClient } from '@slack/web-api';
import type { Logger } from '../observability/log.ts';

/** What stands under a name such as `users.info` in Slack's own client, which is used for its types alone. */
type At<From, Path extends string> = Path extends `${infer Head}.${infer Rest}`
  ? Head extends keyof From
    ? At<From[Head], Rest>
    : never
  : Path extends keyof From
    ? From[Path]
    : never;

/** The arguments of a Web API method. */
export type ArgumentsOf<Method extends string> =
  At<WebClient, Method> extends (args: infer Arguments) => unknown ? Arguments : never;

/** The answer of a Web API method. */
export type AnswerOf<Method extends string> =
  At<WebClient, Method> extends (...args: never[]) => Promise<infer Answer> ? Answer : never;

/**
 * A logger for Slack's libraries. Their own lines may hold bodies, addresses and codes, so only the fact that a
 * problem was reported is logged, under a name of ours.
 */
export function libraryLogger(log: Logger, event: string): SlackLogger {
  const ignore = (): void => undefined;
  return {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: () => log.warn({ event }, 'a Slack library reported a problem'),
    setLevel: ignore,
    getLevel: () => LogLevel.ERROR,
    setName: ignore,
  };
}
