import type { WebClient } from '@slack/web-api';

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
