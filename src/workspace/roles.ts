import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { withTimeout } from '../core/timeout.ts';
import { createTtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { WorkspaceSlack } from '../slack/slack.ts';
import type { WorkspaceCollection, WorkspaceStore } from '../store/workspace-store.ts';

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
  holds(user: string, role: Role): Promise<boolean>;
  /** Who can do it, as mentions for a refusal; empty where that is Slack's admins. */
  holders(role: Role): Promise<string[]>;
  grants(): Promise<Grants | undefined>;
  set(grants: Grants): Promise<void>;
  /** Undefined where Slack does not let us see them: the scope `usergroups:read` is not granted. */
  userGroups(): Promise<UserGroup[] | undefined>;
  /** True if at least one of the users is a person who is still there. */
  hasActive(users: readonly string[]): Promise<boolean>;
}

export interface RolesParts {
  store: WorkspaceStore;
  slack: WorkspaceSlack;
  /** Who installed Deckhand. */
  installer(): Promise<string | undefined>;
  clock: Clock;
  log: Logger;
}

export function createRoles(parts: RolesParts): Roles {
  const { slack } = parts;
  const stored: WorkspaceCollection<Grants> = parts.store.collection('roles', Grants);
  const members = createTtlCache<string[]>(parts.clock, MEMBERS_FRESH_MS);

  const askForUser = async (user: string) =>
    (await slack.call('users.info', (client) => client.users.info({ user }))).user;
  /** One command may ask for several roles at once. */
  const asking = new Map<string, ReturnType<typeof askForUser>>();

  function userInfo(user: string): ReturnType<typeof askForUser> {
    const key = user;
    const asked = asking.get(key) ?? askForUser(user).finally(() => asking.delete(key));
    asking.set(key, asked);
    return asked;
  }

  async function isSlackAdmin(user: string): Promise<boolean> {
    if ((await parts.installer()) === user) return true;
    const person = await userInfo(user);
    return Boolean(person?.is_admin || person?.is_owner || person?.is_primary_owner);
  }

  /** A group that cannot be read gives nobody anything. */
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
      parts.log.warn({ event: 'user_group_unread', reason: error.reason }, 'a role gives nothing');
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

  /** All who were named admin have left: then Slack's admins are admins again, or nobody ever could be. */
  async function isOrphaned({ admin, groups }: Grants): Promise<boolean> {
    const inGroups = await Promise.all((groups?.admin ?? []).map((group) => membersOf(group)));
    return !(await hasActive([...admin, ...inGroups.flat()]));
  }

  /** Rare enough that a Slack which cannot say leaves it at the refusal. */
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
      const answer = await withTimeout(parts.clock, GROUPS_PATIENCE_MS, asked);
      return answer?.usergroups?.flatMap(({ id, name }) =>
        id === undefined ? [] : [{ id, name: name ?? id }],
      );
    },
    hasActive,
  };
}
