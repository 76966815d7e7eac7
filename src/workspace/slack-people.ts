import type { Clock } from '../core/clock.ts';
import { withTimeout } from '../core/timeout.ts';
import { createTtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { WorkspaceSlack } from '../slack/slack.ts';

/** A modal has to open within 3 s of the command. */
const GROUPS_TIMEOUT_MS = 1_000;
/** Slack returns the members of a group about 20 times a minute. */
const MEMBERS_FRESH_MS = 30_000;

export interface UserGroup {
  id: string;
  name: string;
}

/** Slack's people and user groups, as roles need them. */
export interface SlackPeople {
  isAdmin(user: string): Promise<boolean>;
  /** True if at least one of the users is a person with an active login. */
  hasActive(users: readonly string[]): Promise<boolean>;
  /** Empty for a group that cannot be read. */
  membersOf(usergroup: string): Promise<string[]>;
  /** Undefined where the scope `usergroups:read` is not granted. */
  userGroups(): Promise<UserGroup[] | undefined>;
}

export function createSlackPeople(parts: { slack: WorkspaceSlack; clock: Clock; log: Logger }): SlackPeople {
  const { slack, clock, log } = parts;
  const members = createTtlCache<string[]>(clock, MEMBERS_FRESH_MS);
  const requestUser = async (user: string) =>
    (await slack.call('users.info', (client) => client.users.info({ user }))).user;
  /** Requests under way, since one command may need several roles at once. */
  const requests = new Map<string, ReturnType<typeof requestUser>>();

  function userInfo(user: string): ReturnType<typeof requestUser> {
    const request = requests.get(user) ?? requestUser(user).finally(() => requests.delete(user));
    requests.set(user, request);
    return request;
  }

  async function isActive(user: string): Promise<boolean> {
    try {
      const person = await userInfo(user);
      return person !== undefined && !person.deleted && !person.is_bot;
    } catch (error) {
      if (isSlackFailure(error, 'gone', 'rejected')) return false;
      throw error;
    }
  }

  async function readMembers(usergroup: string): Promise<string[]> {
    const answer = await slack.call('usergroups.users.list', (client) =>
      client.usergroups.users.list({ usergroup }),
    );
    return answer.users ?? [];
  }

  return {
    async isAdmin(user) {
      const person = await userInfo(user);
      return Boolean(person?.is_admin || person?.is_owner || person?.is_primary_owner);
    },
    async hasActive(users) {
      for (const user of users) if (await isActive(user)) return true;
      return false;
    },
    async membersOf(usergroup) {
      try {
        return await members.get([usergroup], () => readMembers(usergroup));
      } catch (error) {
        if (!isSlackFailure(error)) throw error;
        log.warn(
          { event: 'user_group_unread', reason: error.reason },
          'a user group cannot be read, so its members do not hold its role',
        );
        return [];
      }
    },
    async userGroups() {
      const request = slack
        .call('usergroups.list', (client) => client.usergroups.list({ include_count: true }))
        .catch((error: unknown) => {
          if (isSlackFailure(error)) return undefined;
          throw error;
        });
      const answer = await withTimeout(clock, GROUPS_TIMEOUT_MS, request);
      return answer?.usergroups?.flatMap(({ id, name }) =>
        id === undefined ? [] : [{ id, name: name ?? id }],
      );
    },
  };
}
