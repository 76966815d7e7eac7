import type { UsersInfoResponse } from '@slack/web-api';
import { SlackFailure } from '../core/errors.ts';
import { type Clock, HOUR_MS, MINUTE_MS, withTimeout } from '../core/time/clock.ts';
import { parseZone } from '../core/time/zone.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import { failureNamed, GROUPS_SCOPE, isSlackFailure, undefinedOnSlackError } from '../slack/failure.ts';
import type { WorkspaceSlack } from '../slack/slack.ts';

/** A modal has to open within 3 s of the command. */
const GROUPS_TIMEOUT_MS = 1_000;
/** Slack returns the members of a group about 20 times a minute. */
const MEMBERS_FRESH_MS = 30_000;
/** Every request asks who the person is; Slack answers about 100 times a minute. */
const PERSON_FRESH_MS = 30_000;
/** An organisation takes a workspace in about as often as a workspace is founded. */
const HOME_FRESH_MS = HOUR_MS;

/** Refusals name admins, and Slack lists a workspace's people about 20 pages a minute. */
const ADMINS_FRESH_MS = 10 * MINUTE_MS;

/** Slack's own advice for a page. */
const LISTED_PEOPLE = 200;
/** Slack lets a workspace be listed 20 pages a minute. */
const MAX_PAGES = 15;

type Person = NonNullable<UsersInfoResponse['user']>;

/**
 * What a person is to the workspace.
 * - `member`: of the workspace or its organisation, multi-channel guests too
 * - `guest`: a guest of a single channel
 * - `stranger`: of another company, in a shared channel
 * - `inactive`: has left, or is an app
 */
export type Membership = 'member' | 'guest' | 'stranger' | 'inactive';

/** Slack's people and user groups, as roles need them. */
export type SlackPeople = ReturnType<typeof createSlackPeople>;

interface SlackPeopleParts {
  /** The workspace's, or the organisation's for which Deckhand is installed. */
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

  /** As Slack's latest answer names them; everybody who asks was looked up before. */
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
    // Slack names everybody's team; an answer without one says nothing of another company.
    if (team === undefined && enterprise === undefined) return true;
    return enterprise !== undefined && enterprise === (await home.get([], requestEnterprise));
  }

  /** Asked anew: roles are given and come back rarely, and then who left counts at once. */
  async function isActive(user: string): Promise<boolean> {
    const asked = people.renew([user], () => requestUser(user));
    const person = await undefinedOnSlackError(asked, 'gone', 'rejected');
    return person !== undefined && !person.deleted && !person.is_bot;
  }

  /** A token of an organisation has to name the team, and one of a workspace needs none. */
  function ofTeam(team: string | undefined): { team_id?: string } {
    return id.startsWith('E') && team !== undefined ? { team_id: team } : {};
  }

  /** False where Slack does not name the scopes. */
  const lacksGroups = (): boolean => scopes !== undefined && !scopes.includes(GROUPS_SCOPE);

  /** @throws SlackFailure */
  async function readMembers(usergroup: string, team: string | undefined): Promise<string[]> {
    if (lacksGroups()) throw failureNamed('usergroups.users.list', 'missing_scope', GROUPS_SCOPE);
    const answer = await slack.call('usergroups.users.list', { usergroup, ...ofTeam(team) });
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
     * Changes count within half a minute. Somebody whom Slack does not show is a stranger.
     * @throws SlackFailure if Slack cannot say who it is
     */
    membership,
    async isAdmin(user: string): Promise<boolean> {
      return isSlackAdmin(await userInfo(user));
    },
    /**
     * Slack's own admins of the workspace who can act, of the first thousands that it lists; empty where there are none.
     * The list is at most ten minutes old.
     * @param team whose admins, where Deckhand serves an organisation
     * @throws SlackFailure
     */
    admins: (team: string | undefined) => admins.get([team ?? ''], () => listAdmins(slack, ofTeam(team))),
    /** True if at least one of the users is a person with an active login. */
    async hasActive(users: readonly string[]): Promise<boolean> {
      for (const user of users) if (await isActive(user)) return true;
      return false;
    },
    /** Empty for a group that cannot be read. @param team the group's, where Deckhand serves an organisation */
    async membersOf(usergroup: string, team: string | undefined): Promise<string[]> {
      try {
        return await members.get([usergroup], () => readMembers(usergroup, team));
      } catch (error) {
        if (!isSlackFailure(error)) throw error;
        log.warn(
          { event: 'user_group_unread', reason: error.reason },
          'a user group cannot be read, so its members do not hold its role',
        );
        return [];
      }
    },
    lacksGroups,
    /** Those of the team. Undefined unless the scope `usergroups:read` is known to be granted. */
    async userGroups(team: string | undefined) {
      if (!scopes?.includes(GROUPS_SCOPE)) return undefined;
      const request = slack.call('usergroups.list', { include_count: true, ...ofTeam(team) });
      const answer = await withTimeout(clock, GROUPS_TIMEOUT_MS, undefinedOnSlackError(request));
      return answer?.usergroups?.flatMap(({ id, name }) =>
        id === undefined ? [] : [{ id, name: name ?? id }],
      );
    },
  };
}

/** Of the first page that has one. */
async function listAdmins(slack: WorkspaceSlack, team: { team_id?: string }): Promise<string[]> {
  let from: { cursor?: string } = {};
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await slack.call('users.list', { limit: LISTED_PEOPLE, ...team, ...from });
    const able = (answer.members ?? []).filter(({ deleted, is_bot }) => !deleted && !is_bot);
    const admins = able.filter(isSlackAdmin).flatMap(({ id }) => id ?? []);
    const cursor = answer.response_metadata?.next_cursor;
    if (admins.length > 0 || !cursor) return admins;
    from = { cursor };
  }
  return [];
}

/** Reasons of Slack for not showing somebody: they are of elsewhere. */
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

/** The person's IANA zone in Slack; UTC where Slack gives none that is known here. */
export async function zoneOf(
  { slack, log }: { slack: WorkspaceSlack; log: Logger },
  user: string,
): Promise<string> {
  try {
    const answer = await slack.call('users.info', { user });
    return parseZone(answer.user?.tz ?? 'UTC');
  } catch (error) {
    const reason = isSlackFailure(error) ? error.reason : 'unknown zone';
    log.warn({ event: 'zone_unknown', user, reason }, 'a person’s time zone is not known, UTC is used');
    return 'UTC';
  }
}
