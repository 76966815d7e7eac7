import { z } from 'zod';
import { userRecord } from '../state/user-record.ts';
import { flag, paging, text } from '../web-api/args.ts';
import { SlackError } from '../web-api/errors.ts';
import { type Call, defineMethod, type Method } from '../web-api/method.ts';
import { paginate } from '../web-api/paging.ts';

const locale = { include_locale: flag.optional() };

export const userMethods: Method[] = [
  defineMethod({
    name: 'users.info',
    scopes: ['users:read'],
    tier: 4,
    json: false,
    args: z.object({ user: text, ...locale }),
    run: (call, args) => {
      const { workspace, seat, person } = call.person(args.user);
      const options = optionsOf(call, args.include_locale);
      return { user: userRecord(call.world, workspace, { seat, person }, options) };
    },
  }),
  defineMethod({
    name: 'users.list',
    scopes: ['users:read'],
    tier: 2,
    json: false,
    args: z.object({ ...paging, ...locale, team_id: text.optional() }),
    run: (call, args) => {
      const workspace = call.workspace(args.team_id);
      const { page, response_metadata } = paginate([...workspace.people.values()], args);
      const options = optionsOf(call, args.include_locale);
      const members = page.map((person) =>
        userRecord(call.world, workspace, { seat: workspace, person }, options),
      );
      return { members, cache_ts: Math.floor(call.world.time.wall() / 1000), response_metadata };
    },
  }),
  defineMethod({
    name: 'users.lookupByEmail',
    scopes: ['users:read.email'],
    tier: 3,
    json: false,
    args: z.object({ email: text }),
    run: (call, args) => {
      for (const seat of call.workspaces) {
        const person = [...seat.people.values()].find((one) => one.email === args.email && !one.deleted);
        if (person) return { user: userRecord(call.world, seat, { seat, person }, optionsOf(call, false)) };
      }
      throw new SlackError('users_not_found');
    },
  }),
];

function optionsOf(call: Call, locale: boolean | undefined): { email: boolean; locale: boolean | undefined } {
  return { email: call.token.scopes.includes('users:read.email'), locale };
}
