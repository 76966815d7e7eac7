import { z } from 'zod';
import { issueSocketUrl } from '../deliver/socket-mode.ts';
import { flag, text } from '../web-api/args.ts';
import { SlackError } from '../web-api/errors.ts';
import { defineMethod, type Method } from '../web-api/method.ts';
import { revokeToken, uninstall } from '../workspace-acts.ts';
import { checkClient } from './oauth.ts';

export const appMethods: Method[] = [
  defineMethod({
    name: 'apps.connections.open',
    scopes: ['connections:write'],
    tier: 'free',
    json: true,
    auth: 'app',
    args: z.object({}),
    run: (call) => {
      if (!call.world.app.socketMode) throw new SlackError('forbidden_team');
      return { url: issueSocketUrl(call.world) };
    },
  }),
  defineMethod({
    name: 'apps.uninstall',
    tier: 1,
    json: false,
    args: z.object({ client_id: text, client_secret: text }),
    run: (call, args) => {
      checkClient(call.world, args);
      for (const workspace of call.workspaces) uninstall(call.world, workspace);
      return {};
    },
  }),
  defineMethod({
    name: 'auth.revoke',
    tier: 3,
    json: false,
    args: z.object({ test: flag.optional() }),
    run: (call, args) => {
      if (args.test) return { revoked: false };
      if (call.token.kind !== 'bot') throw new SlackError('not_allowed_token_type');
      revokeToken(call.world, call.token);
      return { revoked: true };
    },
  }),
];
