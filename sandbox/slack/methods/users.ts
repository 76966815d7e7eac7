import { z } from 'zod';
import type { Json, Person, Workspace } from '../state/types.ts';
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
      const { workspace, person } = call.person(args.user);
      return { user: userRecord(call, workspace, person, args.include_locale) };
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
      const members = page.map((person) => userRecord(call, workspace, person, args.include_locale));
      return { members, cache_ts: Math.floor(call.world.time.wall() / 1000), response_metadata };
    },
  }),
  defineMethod({
    name: 'users.lookupByEmail',
    scopes: ['users:read.email'],
    tier: 3,
    json: false,
    args: z.object({ email: text, team_id: text.optional() }),
    run: (call, args) => {
      const workspace = call.workspace(args.team_id);
      const person = [...workspace.people.values()].find((one) => one.email === args.email);
      if (!person) throw new SlackError('users_not_found');
      return { user: userRecord(call, workspace, person, false) };
    },
  }),
];

/** A user object; the address is only in it with users:read.email. */
function userRecord(call: Call, workspace: Workspace, person: Person, withLocale: boolean | undefined): Json {
  const zone = zoneOf(person.tz, call.world.time.wall());
  const email = call.token.scopes.includes('users:read.email') ? person.email : undefined;
  return {
    id: person.id,
    team_id: workspace.id,
    name: person.name,
    deleted: person.deleted,
    color: '9f69e7',
    real_name: person.real_name,
    ...zone,
    profile: {
      real_name: person.real_name,
      display_name: person.name,
      title: person.title ?? '',
      team: workspace.id,
      ...(email ? { email } : {}),
    },
    is_admin: person.is_admin,
    is_owner: person.is_owner,
    is_primary_owner: false,
    is_restricted: false,
    is_ultra_restricted: false,
    is_bot: person.is_bot,
    is_app_user: false,
    updated: 1_700_000_000,
    ...(withLocale ? { locale: 'en-US' } : {}),
  };
}

function zoneOf(tz: string, at: number): { tz: string; tz_label: string; tz_offset: number } {
  const name = (style: 'long' | 'longOffset'): string =>
    new Intl.DateTimeFormat('en-US', { timeZone: tz, timeZoneName: style })
      .formatToParts(at)
      .find((part) => part.type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d+):(\d+)/.exec(name('longOffset')) ?? [];
  const seconds = Number(hours) * 3600 + Number(minutes) * 60;
  return { tz, tz_label: name('long'), tz_offset: sign === '-' ? -seconds : seconds };
}
