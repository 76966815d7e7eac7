import type { z } from 'zod';
import type { Channel } from '../state/people.ts';
import type { Seated } from '../state/sharing.ts';
import type { Installation, Json, Workspace } from '../state/types.ts';
import type { Token, World } from '../world.ts';

/** How often a method may be called: Slack's tiers, and the posting rule of one a second a channel. */
export type Tier = 1 | 2 | 3 | 4 | 'posting' | 'free';

/** A conversation, in the workspace by whose installation the app sees it. */
export interface Place {
  workspace: Workspace;
  channel: Channel;
  installation: Installation;
}

/** Who calls, and what their token lets them see. */
export interface Call {
  world: World;
  token: Token;
  /** The workspaces the token reaches: one, or those of an organisation. */
  workspaces: Workspace[];
  /** The token's own workspace; an organisation's token has to name one (`missing_argument`). */
  workspace(teamId?: string): Workspace;
  /** @throws SlackError `channel_not_found` */
  channel(id: string): Place;
  /** @throws SlackError `user_not_found` */
  person(id: string): Seated & { workspace: Workspace };
}

export interface Method<Args extends z.ZodType = z.ZodType> {
  name: string;
  /** One of these is enough. */
  scopes?: readonly string[];
  tier: Tier;
  /** Whether arguments may come as a JSON body. */
  json: boolean;
  /** Which tokens may call it; `none` for methods that identify the app by its client secret. */
  auth?: 'bot' | 'app' | 'none';
  args: Args;
  run(call: Call, args: z.infer<Args>): Json | Promise<Json>;
}

/** Keeps a method's argument types while it stands in a list with others. */
export function defineMethod<Args extends z.ZodType>(method: Method<Args>): Method {
  return { ...method, run: (call, args) => method.run(call, args as z.infer<Args>) };
}
