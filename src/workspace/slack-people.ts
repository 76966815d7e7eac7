import type { UsersInfoResponse, UsersListResponse } from '@slack/web-api';
import { SlackFailure } from '../core/errors.ts';
import { spellName } from '../core/names.ts';
import { type Clock, HOUR_MS, MINUTE_MS, withTimeout } from '../core/time/clock.ts';
import { parseZone } from '../core/time/zone.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import { createNamedFailure, isSlackFailure, undefinedOnSlackError } from '../slack/failure.ts';
import { GROUPS_SCOPE } from '../slack/scopes.ts';
import type { WorkspaceSlack } from '../slack/slack.ts';

/** Shorter than the 3 s within which a modal must open. */
const GROUPS_TIMEOUT_MS = 1_000;
/** Cache time: Slack allows about 20 such calls a minute. */
const MEMBERS_FRESH_MS = 30_000;
/** Cache time: every request looks its person up, and Slack allows about 100 such calls a minute. */
const PERSON_FRESH_MS = 30_000;
/** Cache time: workspaces rarely join an organisation. */
const HOME_FRESH_MS = HOUR_MS;

/** Cache time: refusals name admins, and Slack allows about 20 pages of people a minute. */
const ADMINS_FRESH_MS = 10 * MINUTE_MS;

/** Slack's recommended page size. */
const LISTED_PEOPLE = 200;
/** Slack allows about 20 pages a minute. */
const MAX_PAGES = 15;

type Person = NonNullable<UsersInfoResponse['user']>;

/**
 * A person's relation to the workspace.
 * - `member`: of the workspace or its organisation, multi-channel guests too
 * - `guest`: a guest of a single channel
 * - `stranger`: of another company, in a shared channel
 * - `inactive`: has left, or is an app
 */
export type Membership = 'member' | 'guest' | 'stranger' | 'inactive';

/** Slack's people and user groups, for roles. */
export type SlackPeople = ReturnType<typeof createSlackPeople>;

interface SlackPeopleParts {
  /** Id of the workspace, or of the organisation if Deckhand is installed there. */
  id: string;
  slack: WorkspaceSlack;
  clock: Clock;
  log: Logger;
}

export function createSlackPeople({ id, slack, clock, log }: SlackPeopleParts) {
  const members = new TtlCache<string[]>(clock, MEMBERS_FRESH_MS);
  const people = new TtlCache<Person>(clock, PERSON_FRESH_MS);
  const home = new TtlCache<string | undefined>(clock, HOME_FRESH_MS);
  const admins = new TtlCache<string[]>(clock, ADMINS_FRESH_MS);

  /** The scopes in Slack's latest answer. Every person is looked up before they are needed. */
  let scopes: string[] | undefined;

  async function requestUser(user: string): Promise<Person> {
    const answer = await slack.call('users.info', { user });
    scopes = answer.response_metadata?.scopes ?? scopes;
    if (answer.user === undefined) throw new SlackFailure('users.info', 'unreachable', 'no_user');
    return answer.user;
  }

  async function requestEnterprise(): Promise<string | undefined> {
    return (await slack.call('auth.test', {})).enterprise_id;
  }

  const userInfo = (user: string): Promise<Person> => people.get([user], () => requestUser(user));

  async function isOurs({ team_id: team, enterprise_user: user }: Person): Promise<boolean> {
    const enterprise = user?.enterprise_id;
    if (team === id || enterprise === id) return true;
    // Slack names everybody's team. Without one, nothing shows that the person is of another company.
    if (team === undefined && enterprise === undefined) return true;
    return enterprise !== undefined && enterprise === (await home.get([], requestEnterprise));
  }

  /** Not cached, because roles change rarely, and people who left must then lose them at once. */
  async function isActive(user: string): Promise<boolean> {
    const answer = people.renew([user], () => requestUser(user));
    const person = await undefinedOnSlackError(answer, 'gone', 'rejected');
    return person !== undefined && !person.deleted && !person.is_bot;
  }

  /** False if Slack does not name the scopes. */
  const lacksGroups = (): boolean => scopes !== undefined && !scopes.includes(GROUPS_SCOPE);

  /** @throws SlackFailure */
  async function readMembers(usergroup: string, team: string | undefined): Promise<string[]> {
    if (lacksGroups()) throw createNamedFailure('usergroups.users.list', 'missing_scope', GROUPS_SCOPE);
    const answer = await slack.call('usergroups.users.list', { usergroup, ...makeTeamArgument(id, team) });
    return answer.users ?? [];
  }

  async function membership(user: string): Promise<Membership> {
    const person = await undefinedIfNotShown(userInfo(user));
    if (person === undefined) return 'stranger';
    if (person.is_stranger || !(await isOurs(person))) return 'stranger';
    if (person.deleted || person.is_bot) return 'inactive';
    return person.is_ultra_restricted ? 'guest' : 'member';
  }

  return {
    /**
     * Changes take effect within half a minute. A person whom Slack does not show is a stranger.
     * @throws SlackFailure if Slack cannot tell who the person is
     */
    membership,
    async isAdmin(user: string): Promise<boolean> {
      return isSlackAdmin(await userInfo(user));
    },
    /**
     * Slack's own active admins of the workspace, among the first thousands of people; at most ten minutes
     * old.
     * @param team the team, if Deckhand serves an organisation
     * @throws SlackFailure
     */
    admins: (team: string | undefined) =>
      admins.get([team ?? ''], () => findPeople(slack, makeTeamArgument(id, team), isSlackAdmin)),
    /** True if at least one of the users is a person with an active login. */
    async hasActive(users: readonly string[]): Promise<boolean> {
      for (const user of users) if (await isActive(user)) return true;
      return false;
    },
    /** Empty for an unreadable group. @param team the group's team, if Deckhand serves an organisation */
    async membersOf(usergroup: string, team: string | undefined): Promise<string[]> {
      try {
        return await members.get([usergroup], () => readMembers(usergroup, team));
      } catch (error) {
        if (!isSlackFailure(error)) throw error;
        log.warn({ event: 'user_group_unread', reason: error.reason }, 'User group not read');
        return [];
      }
    },
    lacksGroups,
    /** The team's user groups. Undefined unless the scope `usergroups:read` was granted. */
    async userGroups(team: string | undefined) {
      if (!scopes?.includes(GROUPS_SCOPE)) return undefined;
      const request = slack.call('usergroups.list', { include_count: true, ...makeTeamArgument(id, team) });
      const answer = await withTimeout(clock, GROUPS_TIMEOUT_MS, undefinedOnSlackError(request));
      return answer?.usergroups?.flatMap(({ id, name }) =>
        id === undefined ? [] : [{ id, name: name ?? id }],
      );
    },
  };
}

/** False if the user group was deleted; true if Slack does not tell. */
export async function groupExists({ slack }: { slack: WorkspaceSlack }, group: string): Promise<boolean> {
  const answer = await undefinedOnSlackError(slack.call('usergroups.list', {}));
  return answer?.usergroups?.some(({ id }) => id === group) ?? true;
}

/** Id of a person. Handles have small letters, but people may type a name or a group's handle in this form. */
const PERSON_ID = /^[UW](?=[A-Z]*\d)[A-Z0-9]{1,30}$/;

/**
 * The id of the user group or person with this handle or id. People also match by the names that Slack shows, and by e-mail
 * address. `lacksGroups`: true if Deckhand may not read groups.
 */
export async function findHandle(
  workspace: { id: string; slack: WorkspaceSlack },
  handle: string,
  ownTeam: string | undefined,
): Promise<{ id?: string | undefined; lacksGroups?: boolean }> {
  const { id, slack } = workspace;
  const team = makeTeamArgument(id, ownTeam);
  const spelling = spellName(handle);
  const isMeant = (name: string | undefined): boolean => name !== undefined && spellName(name) === spelling;
  const listed = await undefinedOnSlackError(listGroups(slack, team), 'forbidden');
  const groups = listed ?? [];
  const group = (groups.find((one) => isMeant(one.handle)) ?? groups.find((one) => one.id === handle))?.id;
  if (group !== undefined) return { id: group };
  if (PERSON_ID.test(handle) && (await readHandle(workspace, handle, ownTeam)) !== undefined)
    return { id: handle };
  const [person] = await findPeople(slack, team, (one) => listPersonNames(one).some(isMeant));
  return { id: person, lacksGroups: listed === undefined };
}

/** The user groups of a team; none if Slack refuses them by another word, such as for a plan without groups. */
async function listGroups(slack: WorkspaceSlack, team: { team_id?: string }) {
  const answer = await undefinedOnSlackError(slack.call('usergroups.list', team), 'rejected');
  return answer?.usergroups ?? [];
}

function listPersonNames({ name, real_name, profile }: Listed): Array<string | undefined> {
  return [name, profile?.display_name, real_name, profile?.real_name, profile?.email];
}

/** Returns the handle of a person or user group by its id; undefined if Slack does not tell it. */
export async function readHandle(
  { id, slack }: { id: string; slack: WorkspaceSlack },
  mention: string,
  ownTeam: string | undefined,
): Promise<string | undefined> {
  const request = mention.startsWith('S')
    ? slack
        .call('usergroups.list', makeTeamArgument(id, ownTeam))
        .then(({ usergroups }) => usergroups?.find((one) => one.id === mention)?.handle)
    : slack.call('users.info', { user: mention }).then(({ user }) => user?.name);
  return undefinedOnSlackError(request);
}

/** The team as an argument. Calls with an organisation's token need it; others do not. */
function makeTeamArgument(id: string, team: string | undefined): { team_id?: string } {
  return id.startsWith('E') && team !== undefined ? { team_id: team } : {};
}

type Listed = NonNullable<UsersListResponse['members']>[number];

/** The matching people with an active login, on the first page that has any. */
async function findPeople(
  slack: WorkspaceSlack,
  team: { team_id?: string },
  fits: (person: Listed) => boolean,
): Promise<string[]> {
  let from: { cursor?: string } = {};
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await slack.call('users.list', { limit: LISTED_PEOPLE, ...team, ...from });
    const able = (answer.members ?? []).filter(({ deleted, is_bot }) => !deleted && !is_bot);
    const ids = able.filter(fits).flatMap(({ id }) => id ?? []);
    const cursor = answer.response_metadata?.next_cursor;
    if (ids.length > 0 || !cursor) return ids;
    from = { cursor };
  }
  return [];
}

/** Slack's error words for people of other companies. */
const NOT_SHOWN: ReadonlySet<string> = new Set(['user_not_found', 'user_not_visible']);

async function undefinedIfNotShown<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isSlackFailure(error) && NOT_SHOWN.has(error.reason)) return undefined;
    throw error;
  }
}

function isSlackAdmin(person: Pick<Person, 'is_admin' | 'is_owner' | 'is_primary_owner'>): boolean {
  return Boolean(person.is_admin || person.is_owner || person.is_primary_owner);
}

/** The person's name in Slack; undefined if Slack does not give it. */
export async function readRealName(
  { slack }: { slack: WorkspaceSlack },
  user: string,
): Promise<string | undefined> {
  const answer = await undefinedOnSlackError(slack.call('users.info', { user }));
  return answer?.user?.real_name || answer?.user?.name;
}

/** The person's IANA zone in Slack; UTC if Slack gives none, or an unknown one. */
export async function readZone(
  { slack, log }: { slack: WorkspaceSlack; log: Logger },
  user: string,
): Promise<string> {
  try {
    const answer = await slack.call('users.info', { user });
    return parseZone(answer.user?.tz ?? 'UTC');
  } catch (error) {
    const reason = isSlackFailure(error) ? error.reason : 'unknown zone';
    log.warn({ event: 'zone_unknown', user, reason }, 'Time zone not read; UTC used');
    return 'UTC';
  }
}
