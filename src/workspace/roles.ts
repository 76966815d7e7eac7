import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { withTimeout } from '../core/timeout.ts';
import { createTtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { WorkspaceSlack } from '../slack/workspace-slack.ts';
import type { WorkspaceCollection, WorkspaceStore } from '../store/workspace-store.ts';

export const ROLES = ['member', 'operator', 'billing', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The roles that are given to people; everyone is a member. */
export const GIVEN_ROLES = ['admin', 'operator', 'billing'] as const;

const Holders = z.object({
  admin: z.array(z.string()),
  operator: z.array(z.string()),
  billing: z.array(z.string()),
});
export type Holders = z.infer<typeof Holders>;

/** The users of each role, by id. Until an admin sets them, Slack's own admins are admins. */
const Grants = Holders.extend({
  /** User groups by id. */
  groups: Holders.optional(),
  setBy: z.string(),
  setAt: z.number(),
});
export type Grants = z.infer<typeof Grants>;

export interface UserGroup {
  id: string;
  name: string;
}

const GRANTS_ID = 'grants';
/** A modal has to open within 3 s of the command. */
const GROUPS_TIMEOUT_MS = 1_000;
/** Slack returns the members of a group about 20 times a minute. */
const MEMBERS_FRESH_MS = 30_000;

export interface Roles {
  /**
   * True if the person may do things that need the role; an admin may do everything. Read each time; changes of a user group
   * count within half a minute.
   */
  holds(user: string, role: Role): Promise<boolean>;
  /** Mentions of the role's holders, for a refusal; empty where these are Slack's admins. */
  holders(role: Role): Promise<string[]>;
  grants(): Promise<Grants | undefined>;
  set(grants: Grants): Promise<void>;
  /** Undefined where the scope `usergroups:read` is not granted. */
  userGroups(): Promise<UserGroup[] | undefined>;
  /** True if at least one of the users is a person with an active login. */
  hasActive(users: readonly string[]): Promise<boolean>;
}

export interface RolesParts {
  store: WorkspaceStore;
  slack: WorkspaceSlack;
  /** The user who installed Deckhand. */
  installer(): Promise<string | undefined>;
  clock: Clock;
  log: Logger;
}

export function createRoles(parts: RolesParts): Roles {
  const { slack } = parts;
  const stored: WorkspaceCollection<Grants> = parts.store.collection('roles', Grants);
  const members = createTtlCache<string[]>(parts.clock, MEMBERS_FRESH_MS);

  const requestUser = async (user: string) =>
    (await slack.call('users.info', (client) => client.users.info({ user }))).user;
  /** Requests under way, since one command may need several roles at once. */
  const requests = new Map<string, ReturnType<typeof requestUser>>();

  function userInfo(user: string): ReturnType<typeof requestUser> {
    const request = requests.get(user) ?? requestUser(user).finally(() => requests.delete(user));
    requests.set(user, request);
    return request;
  }

  async function isSlackAdmin(user: string): Promise<boolean> {
    if ((await parts.installer()) === user) return true;
    const person = await userInfo(user);
    return Boolean(person?.is_admin || person?.is_owner || person?.is_primary_owner);
  }

  /** Empty for a group that cannot be read. */
  async function membersOf(usergroup: string): Promise<string[]> {
    try {
      return await members.get([usergroup], async () => {
        const answer = await slack.call('usergroups.users.list', (client) =>
          client.usergroups.users.list({ usergroup }),
        );
        return answer.users ?? [];
      });
    } catch (error) {
      if (!isSlackFailure(error)) throw error;
      parts.log.warn(
        { event: 'user_group_unread', reason: error.reason },
        'a user group cannot be read, so its members do not hold its role',
      );
      return [];
    }
  }

  async function isIn(user: string, grants: Grants, role: Role): Promise<boolean> {
    if (role === 'member') return true;
    if (grants[role].includes(user)) return true;
    for (const group of grants.groups?.[role] ?? []) if ((await membersOf(group)).includes(user)) return true;
    return false;
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

  async function hasActive(users: readonly string[]): Promise<boolean> {
    for (const user of users) if (await isActive(user)) return true;
    return false;
  }

  /** True if every admin has left: then Slack's admins are admins again. */
  async function isOrphaned({ admin, groups }: Grants): Promise<boolean> {
    const inGroups = await Promise.all((groups?.admin ?? []).map((group) => membersOf(group)));
    return !(await hasActive([...admin, ...inGroups.flat()]));
  }

  /** This is rare, so the answer is no where Slack cannot say. */
  async function mayStepIn(user: string, grants: Grants): Promise<boolean> {
    try {
      return (await isSlackAdmin(user)) && (await isOrphaned(grants));
    } catch (error) {
      if (isSlackFailure(error)) return false;
      throw error;
    }
  }

  return {
    async holds(user, role) {
      if (role === 'member') return true;
      const grants = await stored.get(GRANTS_ID);
      if (grants === undefined) return isSlackAdmin(user);
      if (await isIn(user, grants, role)) return true;
      if (role !== 'admin' && (await isIn(user, grants, 'admin'))) return true;
      return mayStepIn(user, grants);
    },
    async holders(role) {
      const grants = await stored.get(GRANTS_ID);
      if (grants === undefined || role === 'member') return [];
      const roles = role === 'admin' ? [role] : [role, 'admin' as const];
      const users = roles.flatMap((one) => grants[one].map((user) => `<@${user}>`));
      const groups = roles.flatMap((one) =>
        (grants.groups?.[one] ?? []).map((group) => `<!subteam^${group}>`),
      );
      return [...new Set([...groups, ...users])];
    },
    grants: () => stored.get(GRANTS_ID),
    set: (grants) => stored.put(GRANTS_ID, grants),
    async userGroups() {
      const asked = slack
        .call('usergroups.list', (client) => client.usergroups.list({ include_count: true }))
        .catch((error: unknown) => {
          if (isSlackFailure(error)) return undefined;
          throw error;
        });
      const answer = await withTimeout(parts.clock, GROUPS_TIMEOUT_MS, asked);
      return answer?.usergroups?.flatMap(({ id, name }) =>
        id === undefined ? [] : [{ id, name: name ?? id }],
      );
    },
    hasActive,
  };
}
