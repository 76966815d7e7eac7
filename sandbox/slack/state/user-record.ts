import type { World } from '../world.ts';
import type { Person } from './people.ts';
import { homeOf, isForeign, meetsApp, type Seated } from './sharing.ts';
import type { Json, Workspace } from './types.ts';

interface RecordOptions {
  /** Whether the caller may read addresses (`users:read.email`). */
  email?: boolean;
  locale?: boolean | undefined;
}

/** A user object as the app sees it from `viewer`, the workspace where it is installed. */
export function userRecord(
  world: World,
  viewer: Workspace,
  seated: Seated,
  { email = false, locale = false }: RecordOptions = {},
): Json {
  const { seat, person } = seated;
  const home = homeOf(world, seat, person);
  const mail = email && !isForeign(world, viewer, seated) ? person.email : undefined;
  return {
    id: person.id,
    team_id: home.id,
    name: person.name,
    deleted: person.deleted,
    ...lookOf(world, person),
    profile: {
      real_name: person.real_name,
      display_name: person.name,
      title: person.title ?? '',
      team: home.id,
      ...(mail ? { email: mail } : {}),
    },
    ...standingOf(world, viewer, seated),
    is_bot: person.is_bot,
    is_app_user: false,
    updated: 1_700_000_000,
    ...(locale ? { locale: 'en-US' } : {}),
  };
}

/** Of deactivated people Slack gives no more than their profile. */
function lookOf(world: World, person: Person): Json {
  if (person.deleted) return {};
  return { color: '9f69e7', real_name: person.real_name, ...zoneOf(person.tz, world.time.wall()) };
}

/** What somebody is in the workspace; of people of another company Slack says only whether they are strangers. */
function standingOf(world: World, viewer: Workspace, seated: Seated): Json {
  const { person } = seated;
  if (person.deleted) return {};
  if (isForeign(world, viewer, seated)) {
    return { is_stranger: person.stranger ?? !meetsApp(viewer, person.id) };
  }
  return {
    is_admin: person.is_admin,
    is_owner: person.is_owner,
    is_primary_owner: false,
    is_restricted: person.is_restricted,
    is_ultra_restricted: person.is_ultra_restricted,
    ...enterpriseUser(world, seated),
  };
}

/** What an organisation adds: which of its workspaces somebody is in. */
function enterpriseUser(world: World, { seat, person }: Seated): Json {
  const { enterprise } = seat;
  if (!enterprise || person.is_bot) return {};
  const teams = [...world.workspaces.values()].filter(
    (one) => one.enterprise?.id === enterprise.id && one.people.has(person.id),
  );
  return {
    enterprise_user: {
      id: person.id,
      enterprise_id: enterprise.id,
      enterprise_name: enterprise.name,
      is_admin: false,
      is_owner: false,
      is_primary_owner: false,
      teams: teams.map((team) => team.id),
    },
  };
}

/** Kept, because making one takes longer than all else of a record. */
const ZONE_NAMES = new Map<string, Intl.DateTimeFormat>();

function zoneNames(tz: string, style: 'long' | 'longOffset'): Intl.DateTimeFormat {
  const key = `${style} ${tz}`;
  const names =
    ZONE_NAMES.get(key) ?? new Intl.DateTimeFormat('en-US', { timeZone: tz, timeZoneName: style });
  ZONE_NAMES.set(key, names);
  return names;
}

function zoneOf(tz: string, at: number): { tz: string; tz_label: string; tz_offset: number } {
  const name = (style: 'long' | 'longOffset'): string =>
    zoneNames(tz, style)
      .formatToParts(at)
      .find((part) => part.type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d+):(\d+)/.exec(name('longOffset')) ?? [];
  const seconds = Number(hours) * 3600 + Number(minutes) * 60;
  return { tz, tz_label: name('long'), tz_offset: sign === '-' ? -seconds : seconds };
}
