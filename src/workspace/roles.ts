import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { withTimeout } from '../core/timeout.ts';
import { createTtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { Installations } from '../slack/installations.ts';
import type { Slack } from '../slack/slack.ts';
import type { Collection, Store } from '../store/store.ts';

export const ROLES = ['member', 'operator', 'billing', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The roles that are given to people; everybody is a member. */
export const GIVEN_ROLES = ['admin', 'operator', 'billing'] as const;

const Holders = z.object({
  admin: z.array(z.string()),
  operator: z.array(z.string()),
  billing: z.array(z.string()),
});
export type Holders = z.infer<typeof Holders>;

/** Who holds which role; users by id. Absent until an admin sets it: then Slack's own admins are admins. */
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
const GROUPS_PATIENCE_MS = 1_000;
/** Slack tells the members of a group about 20 times a minute. */
const MEMBERS_FRESH_MS = 30_000;

export interface Roles {
  /**
   * True if the person may do what asks for the role. An admin may do everything. Asked afresh each time; who is in a
   * user group is known within half a minute.
   */
  holds(workspace: string, user: string, role: Role): Promise<boolean>;
  /** Who can do it, as mentions for a refusal; empty where that is Slack's admins. */
  holders(workspace: string, role: Role): Promise<string[]>;
  grants(workspace: string): Promise<Grants | undefined>;
  set(workspace: string, grants: Grants): Promise<void>;
  /** Undefined where Slack does not let us see them: the scope `usergroups:read` is not granted. */
  userGroups(workspace: string): Promise<UserGroup[] | undefined>;
  /** True if at least one of the users is a person who is still there. */
  hasActive(workspace: string, users: readonly string[]): Promise<boolean>;
  /** Lets go of what is kept in memory. */
  forget(workspace: string): void;
}

export interface RolesParts {
  store: Store;
  slack: Slack;
  installations: Installations;
  clock: Clock;
  log: Logger;
}

export function createRoles(parts: RolesParts): Roles {
  const { slack } = parts;
  const stored: Collection<Grants> = parts.store.collection('roles', Grants);
  const members = createTtlCache<string[]>(parts.clock, MEMBERS_FRESH_MS);

  const askForUser = async (workspace: string, user: string) =>
    (await slack.call(workspace, 'users.info', (client) => client.users.info({ user }))).user;
  /** One command may ask for several roles at once. */
  const asking = new Map<string, ReturnType<typeof askForUser>>();

  function userInfo(workspace: string, user: string): ReturnType<typeof askForUser> {
    const key = `${workspace} ${user}`;
    const asked = asking.get(key) ?? askForUser(workspace, user).finally(() => asking.delete(key));
    asking.set(key, asked);
    return asked;
  }

  async function isSlackAdmin(workspace: string, user: string): Promise<boolean> {
    if ((await parts.installations.installer(workspace)) === user) return true;
    const person = await userInfo(workspace, user);
    return Boolean(person?.is_admin || person?.is_owner || person?.is_primary_owner);
  }

  /** A group that cannot be read gives nobody anything. */
  async function membersOf(workspace: string, usergroup: string): Promise<string[]> {
    try {
      return await members.get([workspace, usergroup], async () => {
        const answer = await slack.call(workspace, 'usergroups.users.list', (client) =>
          client.usergroups.users.list({ usergroup }),
        );
        return answer.users ?? [];
      });
    } catch (error) {
      if (!isSlackFailure(error)) throw error;
      parts.log.warn({ event: 'user_group_unread', workspace, reason: error.reason }, 'a role gives nothing');
      return [];
    }
  }

  async function isIn(workspace: string, user: string, grants: Grants, role: Role): Promise<boolean> {
    if (role === 'member') return true;
    if (grants[role].includes(user)) return true;
    for (const group of grants.groups?.[role] ?? [])
      if ((await membersOf(workspace, group)).includes(user)) return true;
    return false;
  }

  async function isActive(workspace: string, user: string): Promise<boolean> {
    try {
      const person = await userInfo(workspace, user);
      return person !== undefined && !person.deleted && !person.is_bot;
    } catch (error) {
      if (isSlackFailure(error, 'gone', 'rejected')) return false;
      throw error;
    }
  }

  async function hasActive(workspace: string, users: readonly string[]): Promise<boolean> {
    for (const user of users) if (await isActive(workspace, user)) return true;
    return false;
  }

  /** All who were named admin have left: then Slack's admins are admins again, or nobody ever could be. */
  async function isOrphaned(workspace: string, { admin, groups }: Grants): Promise<boolean> {
    const inGroups = await Promise.all((groups?.admin ?? []).map((group) => membersOf(workspace, group)));
    return !(await hasActive(workspace, [...admin, ...inGroups.flat()]));
  }

  /** Rare enough that a Slack which cannot say leaves it at the refusal. */
  async function mayStepIn(workspace: string, user: string, grants: Grants): Promise<boolean> {
    try {
      return (await isSlackAdmin(workspace, user)) && (await isOrphaned(workspace, grants));
    } catch (error) {
      if (isSlackFailure(error)) return false;
      throw error;
    }
  }

  return {
    async holds(workspace, user, role) {
      if (role === 'member') return true;
      const grants = await stored.get(workspace, GRANTS_ID);
      if (grants === undefined) return isSlackAdmin(workspace, user);
      if (await isIn(workspace, user, grants, role)) return true;
      if (role !== 'admin' && (await isIn(workspace, user, grants, 'admin'))) return true;
      return mayStepIn(workspace, user, grants);
    },
    async holders(workspace, role) {
      const grants = await stored.get(workspace, GRANTS_ID);
      if (grants === undefined || role === 'member') return [];
      const roles = role === 'admin' ? [role] : [role, 'admin' as const];
      const users = roles.flatMap((one) => grants[one].map((user) => `<@${user}>`));
      const groups = roles.flatMap((one) =>
        (grants.groups?.[one] ?? []).map((group) => `<!subteam^${group}>`),
      );
      return [...new Set([...groups, ...users])];
    },
    grants: (workspace) => stored.get(workspace, GRANTS_ID),
    set: (workspace, grants) => stored.put(workspace, GRANTS_ID, grants),
    async userGroups(workspace) {
      const asked = slack
        .call(workspace, 'usergroups.list', (client) => client.usergroups.list({ include_count: true }))
        .catch((error: unknown) => {
          if (isSlackFailure(error)) return undefined;
          throw error;
        });
      const answer = await withTimeout(parts.clock, GROUPS_PATIENCE_MS, asked);
      return answer?.usergroups?.flatMap(({ id, name }) =>
        id === undefined ? [] : [{ id, name: name ?? id }],
      );
    },
    hasActive,
    forget: (workspace) => members.forget(workspace),
  };
}
