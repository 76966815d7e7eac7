import { z } from 'zod';
import type { Json } from '../state/types.ts';
import { SlackError } from '../web-api/errors.ts';
import { type Call, defineMethod, type Method } from '../web-api/method.ts';

export const authMethods: Method[] = [
  defineMethod({
    name: 'api.test',
    tier: 4,
    json: true,
    auth: 'none',
    args: z.record(z.string(), z.unknown()),
    run: (_call, args) => {
      if (typeof args.error === 'string') throw new SlackError(args.error, { args });
      return { args };
    },
  }),
  defineMethod({ name: 'auth.test', tier: 'free', json: true, args: z.object({}), run: testAuth }),
];

function testAuth({ world, token, workspaces }: Call): Json {
  const [workspace] = workspaces;
  const installation = workspace?.installation;
  if (!workspace || !installation) throw new SlackError('account_inactive');
  const { enterprise } = workspace;
  const isOrg = token.enterpriseId !== undefined;
  const expires = token.expiresAt;
  return {
    url: isOrg
      ? `https://${enterprise?.id.toLowerCase()}.enterprise.slack.com/`
      : `https://${workspace.domain}.slack.com/`,
    team: isOrg ? enterprise?.name : workspace.name,
    user: world.app.botName,
    team_id: isOrg ? enterprise?.id : workspace.id,
    user_id: installation.botUserId,
    bot_id: installation.botId,
    ...(enterprise ? { enterprise_id: enterprise.id } : {}),
    is_enterprise_install: isOrg,
    ...(expires === undefined ? {} : { expires_in: Math.floor((expires - world.time.now()) / 1000) }),
  };
}
