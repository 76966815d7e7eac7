import { z } from 'zod';
import { flag, text } from '../web-api/args.ts';
import { SlackError } from '../web-api/errors.ts';
import { defineMethod, type Method } from '../web-api/method.ts';

const READ = ['usergroups:read'];

export const usergroupMethods: Method[] = [
  defineMethod({
    name: 'usergroups.list',
    scopes: READ,
    tier: 2,
    json: false,
    args: z.object({
      include_users: flag.optional(),
      include_count: flag.optional(),
      team_id: text.optional(),
    }),
    run: (call, args) => {
      const workspace = call.workspace(args.team_id);
      const usergroups = [...workspace.userGroups.values()].map((group) => ({
        id: group.id,
        team_id: workspace.id,
        is_usergroup: true,
        name: group.name,
        handle: group.handle,
        description: '',
        is_external: false,
        date_delete: 0,
        ...(args.include_users ? { users: group.users } : {}),
        ...(args.include_count ? { user_count: group.users.length } : {}),
      }));
      return { usergroups };
    },
  }),
  defineMethod({
    name: 'usergroups.users.list',
    scopes: READ,
    tier: 2,
    json: false,
    args: z.object({ usergroup: text, team_id: text.optional() }),
    run: (call, args) => {
      const group = call.workspace(args.team_id).userGroups.get(args.usergroup);
      if (!group) throw new SlackError('no_such_subteam');
      return { users: group.users };
    },
  }),
];
