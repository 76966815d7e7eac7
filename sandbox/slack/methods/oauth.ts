import { z } from 'zod';
import { installBot, issueBotToken, ownerOf, TOKEN_LIFE_MS, tokensOf } from '../state/installs.ts';
import type { Json, Workspace } from '../state/types.ts';
import { workspaceOf } from '../state/workspaces.ts';
import { text } from '../web-api/args.ts';
import { SlackError } from '../web-api/errors.ts';
import { type Call, defineMethod, type Method } from '../web-api/method.ts';
import type { AuthorizationCode, Token, World } from '../world.ts';

const CODE_LIFE_MS = 10 * 60_000;
const client = { client_id: text.optional(), client_secret: text.optional() };

const AccessArgs = z.object({
  ...client,
  code: text.optional(),
  redirect_uri: text.optional(),
  grant_type: text.optional(),
  refresh_token: text.optional(),
});

export const oauthMethods: Method[] = [
  defineMethod({
    name: 'oauth.v2.access',
    tier: 4,
    json: false,
    auth: 'none',
    args: AccessArgs,
    run: (call, args) => {
      checkClient(call.world, args);
      if (args.grant_type === 'refresh_token') return refresh(call.world, args.refresh_token);
      if (args.grant_type !== undefined && args.grant_type !== 'authorization_code') {
        throw new SlackError('invalid_grant_type');
      }
      return exchangeCode(call.world, takeCode(call.world, args));
    },
  }),
  defineMethod({
    name: 'oauth.v2.exchange',
    tier: 3,
    json: false,
    auth: 'none',
    args: z.object({ ...client, token: text }),
    run: exchangeToken,
  }),
];

/** @throws SlackError `invalid_client_id` or `bad_client_secret` */
export function checkClient(
  world: World,
  given: { client_id?: string | undefined; client_secret?: string | undefined },
): void {
  if (given.client_id !== world.app.clientId) throw new SlackError('invalid_client_id');
  if (given.client_secret !== world.app.clientSecret) throw new SlackError('bad_client_secret');
}

/** A code is good once, for ten minutes, with the redirect_uri it was made for. */
function takeCode(world: World, args: z.infer<typeof AccessArgs>): AuthorizationCode {
  const code = world.codes.get(args.code ?? '');
  if (!code || code.used || world.time.now() - code.issuedAt > CODE_LIFE_MS) {
    throw new SlackError('invalid_code');
  }
  if (args.redirect_uri !== code.redirectUri) throw new SlackError('bad_redirect_uri');
  code.used = true;
  return code;
}

function exchangeCode(world: World, code: AuthorizationCode): Json {
  const workspace = workspaceOf(world, code.teamId);
  const installed = code.orgWide ? installEverywhere(world, workspace, code.scopes) : [workspace];
  if (!code.orgWide) installBot(world, workspace, { scopes: code.scopes });
  const scopes = installed[0]?.installation?.scopes ?? code.scopes;
  const { enterprise } = workspace;
  const owner = code.orgWide && enterprise ? { enterpriseId: enterprise.id } : { teamId: workspace.id };
  const token = issueBotToken(world, owner, scopes);
  return { ...tokenRecord(world, token, workspace), authed_user: { id: code.userId } };
}

/** An organisation-wide install puts the one bot into each workspace of the organisation. */
function installEverywhere(world: World, workspace: Workspace, scopes: string[]): Workspace[] {
  const enterpriseId = workspace.enterprise?.id;
  if (!enterpriseId) throw new SlackError('cannot_install_an_org_installed_app');
  const all = [...world.workspaces.values()].filter((one) => one.enterprise?.id === enterpriseId);
  for (const one of all) installBot(world, one, { scopes, enterpriseId });
  return all;
}

function tokenRecord(world: World, token: Token, workspace: Workspace): Json {
  const orgWide = token.enterpriseId !== undefined;
  return {
    access_token: token.token,
    token_type: 'bot',
    scope: token.scopes.join(','),
    bot_user_id: workspace.installation?.botUserId,
    app_id: world.app.appId,
    team: orgWide ? null : { id: workspace.id, name: workspace.name },
    enterprise: workspace.enterprise ?? null,
    is_enterprise_install: orgWide,
    ...(token.refreshToken ? { refresh_token: token.refreshToken, expires_in: TOKEN_LIFE_MS / 1000 } : {}),
  };
}

/** A refresh token works once; of the access tokens only the two newest stay good. */
function refresh(world: World, refreshToken: string | undefined): Json {
  const old = [...world.tokens.values()].find((one) => refreshToken && one.refreshToken === refreshToken);
  if (old?.state !== 'active') throw new SlackError('invalid_refresh_token');
  delete old.refreshToken;
  const owner = ownerOf(old);
  const token = issueBotToken(world, owner, old.scopes);
  const active = tokensOf(world, owner).filter((one) => one.state === 'active');
  for (const one of active.slice(0, -2)) one.state = 'revoked';
  return tokenRecord(world, token, installedFor(world, token));
}

function installedFor(world: World, token: Token): Workspace {
  const workspace = [...world.workspaces.values()].find((one) =>
    token.teamId
      ? one.id === token.teamId
      : one.installation !== undefined && one.installation.enterpriseId === token.enterpriseId,
  );
  if (!workspace?.installation) throw new SlackError('invalid_refresh_token');
  return workspace;
}

/** Changes a token that never ends for a pair that rotates. */
function exchangeToken(
  call: Call,
  args: { token: string; client_id?: string | undefined; client_secret?: string | undefined },
): Json {
  const { world } = call;
  checkClient(world, args);
  if (!world.app.tokenRotation) throw new SlackError('token_rotation_not_enabled');
  const old = world.tokens.get(args.token);
  if (old?.expiresAt !== undefined) throw new SlackError('token_already_exchanged');
  if (old?.state !== 'active') throw new SlackError('invalid_token');
  old.state = 'revoked';
  const token = issueBotToken(world, ownerOf(old), old.scopes);
  return tokenRecord(world, token, installedFor(world, token));
}
