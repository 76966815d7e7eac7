import { z } from 'zod';
import { text } from '../web-api/args.ts';
import { SlackError } from '../web-api/errors.ts';
import { defineMethod, type Method } from '../web-api/method.ts';

export const aboutMethods: Method[] = [
  defineMethod({
    name: 'team.info',
    scopes: ['team:read'],
    tier: 3,
    json: true,
    args: z.object({ team: text.optional() }),
    run: (call, args) => {
      const { id, name, domain, enterprise } = call.workspace(args.team);
      const organisation = enterprise
        ? { enterprise_id: enterprise.id, enterprise_name: enterprise.name }
        : {};
      return { team: { id, name, domain, email_domain: '', icon: { image_default: true }, ...organisation } };
    },
  }),
  defineMethod({
    name: 'bots.info',
    scopes: ['users:read'],
    tier: 3,
    json: false,
    args: z.object({ bot: text.optional(), team_id: text.optional() }),
    run: (call, args) => {
      const { installation } = call.workspace(args.team_id);
      if (installation?.botId !== args.bot || !installation) throw new SlackError('bot_not_found');
      const { app, time } = call.world;
      const bot = {
        id: installation.botId,
        deleted: false,
        name: app.name,
        updated: Math.floor(time.wall() / 1000),
        app_id: app.appId,
        user_id: installation.botUserId,
        icons: {},
      };
      return { bot };
    },
  }),
];
