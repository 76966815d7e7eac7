import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { SlackFailure } from './failure.ts';
import type { ArgumentsOf } from './sdk.ts';
import type { Web } from './web.ts';

const Named = z.object({ id: z.string().min(1), name: z.string().nullish() });

/** The part of the answer of `oauth.v2.access`, to a code or a refresh token, that concerns the bot. */
const Access = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).nullish(),
  /** Seconds. */
  expires_in: z.number().positive().nullish(),
  scope: z.string().nullish(),
  bot_user_id: z.string().nullish(),
  team: Named.nullish(),
  enterprise: Named.nullish(),
  is_enterprise_install: z.boolean().nullish(),
  authed_user: z.object({ id: z.string().nullish() }).nullish(),
});
type Access = z.infer<typeof Access>;

export interface Tokens {
  token: string;
  refreshToken?: string | undefined;
  /** Milliseconds since the epoch; absent where the token stays good. */
  expiresAt?: number | undefined;
}

export interface Grant extends Tokens {
  /** The organisation's id where it was installed for all of it, else the team's. */
  workspace: string;
  /** Of the workspace or organisation. */
  name?: string | undefined;
  isOrganisation: boolean;
  scopes: string[];
  installer?: string | undefined;
  botUser?: string | undefined;
}

/** Slack's side of installing. Both reject with `SlackFailure`. */
export type SlackOauth = ReturnType<typeof createSlackOauth>;

const METHOD = 'oauth.v2.access';

export function createSlackOauth(parts: { web: Web; clientId: string; clientSecret: string; clock: Clock }) {
  const { web, clock, clientId } = parts;
  const client = { client_id: clientId, client_secret: parts.clientSecret };

  async function access(ask: ArgumentsOf<typeof METHOD>): Promise<Access> {
    const parsed = Access.safeParse(await web.call(METHOD, ask));
    if (!parsed.success) throw new SlackFailure(METHOD, 'rejected', 'unexpected_answer');
    return parsed.data;
  }

  return {
    clientId,
    /** Exchanges the code that an install ends with; `redirectUri` must be the one that it began with. */
    async exchange(code: string, redirectUri: string | undefined): Promise<Grant> {
      const redirect = redirectUri === undefined ? {} : { redirect_uri: redirectUri };
      return grantOf(await access({ ...client, code, ...redirect }), clock.now());
    },
    /** A refresh token works once. */
    async refresh(refreshToken: string): Promise<Tokens> {
      const refresh = { grant_type: 'refresh_token', refresh_token: refreshToken } as const;
      return tokensOf(await access({ ...client, ...refresh }), clock.now());
    },
  };
}

function tokensOf(access: Access, now: number): Tokens {
  const { access_token: token, refresh_token: refreshToken, expires_in: seconds } = access;
  return {
    token,
    ...(refreshToken ? { refreshToken } : {}),
    ...(seconds ? { expiresAt: now + seconds * 1000 } : {}),
  };
}

/** An installation for a whole organisation has no team. */
function grantOf(access: Access, now: number): Grant {
  const isOrganisation = access.is_enterprise_install === true;
  const where = isOrganisation ? access.enterprise : (access.team ?? access.enterprise);
  if (!where) throw new SlackFailure(METHOD, 'rejected', 'no_workspace');
  return {
    ...tokensOf(access, now),
    workspace: where.id,
    name: where.name ?? undefined,
    isOrganisation,
    scopes: access.scope?.split(',').filter(Boolean) ?? [],
    installer: access.authed_user?.id ?? undefined,
    botUser: access.bot_user_id ?? undefined,
  };
}

/** The bot scopes that Deckhand asks for, each with its reason; `manifest.yml` is held equal by a test. */
export const SCOPES = {
  commands: 'the slash command and the shortcuts',
  'app_mentions:read': 'messages that mention Deckhand by name, to answer them',
  'chat:write': 'messages and threads in the channels that it was invited to',
  'files:write': 'pictures of digests and PDFs of invoices',
  'im:write': 'direct messages about what a person set up',
  'users:read': 'who is an admin of the workspace, and a person’s time zone',
  'links:read': 'links to projects and servers, to show their state',
  'links:write': 'that state, under the link',
} as const;

/** Needed only where user groups hold roles. */
export const GROUPS_SCOPE = 'usergroups:read';

export const SCOPE_NAMES: readonly string[] = Object.keys(SCOPES);
