import { z } from 'zod';
import type { GivenRole, Role } from '../core/choices.ts';
import { SlackFailure } from '../core/errors.ts';
import type { Clock } from '../core/time/clock.ts';
import { undefinedOnSlackError } from '../slack/failure.ts';
import type { WorkspaceSlack } from '../slack/slack.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import type { Membership, SlackPeople } from './slack-people.ts';

const Holders = z.object({
  admin: z.array(z.string()),
  operator: z.array(z.string()),
  billing: z.array(z.string()),
});
export type Holders = z.infer<typeof Holders>;

/** Users with each role, by id. Until an admin sets them, Slack's own admins are admins. */
export const Grants = Holders.extend({
  /** User groups by id. */
  groups: Holders.optional(),
  /** The team of each group, by its id. */
  groupTeams: z.record(z.string(), z.string()).optional(),
  /** True if guests of a single channel count as members. */
  guests: z.boolean().optional(),
  changedBy: z.string(),
  changedAt: z.number(),
});
export interface Grants extends z.infer<typeof Grants> {}

export const GRANTS_ID = 'grants';

/** Reason why a person holds no role. */
export type Excluded = Exclude<Membership, 'member'>;

export type Roles = ReturnType<typeof createRoles>;

interface RolesParts {
  store: Pick<WorkspaceStore, 'collection'>;
  people: SlackPeople;
  clock: Clock;
  /** The user who installed Deckhand. */
  installer(): Promise<string | undefined>;
}

export function createRoles({ store, people, clock, installer }: RolesParts) {
  const collection: Collection<Grants> = store.collection('roles', Grants);

  async function isSlackAdmin(user: string): Promise<boolean> {
    return (await installer()) === user || people.isAdmin(user);
  }

  async function isIn(user: string, grants: Grants, role: GivenRole): Promise<boolean> {
    if (grants[role].includes(user)) return true;
    for (const group of grants.groups?.[role] ?? [])
      if ((await people.membersOf(group, grants.groupTeams?.[group])).includes(user)) return true;
    return false;
  }

  /** True if all admins have left. Slack's admins are then admins again. */
  async function isOrphaned(grants: Grants): Promise<boolean> {
    return !(await people.hasActive(await listNamedAdmins(people, grants)));
  }

  /** False if Slack does not answer, because this case is rare. */
  async function mayStepIn(user: string, grants: Grants): Promise<boolean> {
    const answer = isSlackAdmin(user).then((isAdmin) => isAdmin && isOrphaned(grants));
    return (await undefinedOnSlackError(answer)) ?? false;
  }

  /** Slack's own admins who can act. The installer counts as one. */
  async function slackAdmins(team: string | undefined): Promise<string[]> {
    const installedBy = await findActive(people, [(await installer()) ?? []].flat());
    return [...new Set([...installedBy, ...(await people.admins(team))])];
  }

  async function haveWayIn(owners: readonly string[], grants: Grants | undefined): Promise<boolean> {
    if (grants === undefined) return true;
    for (const owner of owners) if (await isIn(owner, grants, 'admin')) return true;
    return isOrphaned(grants);
  }

  async function excluded(user: string): Promise<Excluded | undefined> {
    const membership = await people.membership(user);
    if (membership === 'member') return undefined;
    if (membership === 'guest' && (await collection.get(GRANTS_ID))?.guests) return undefined;
    return membership;
  }

  return {
    /**
     * Reason why the person holds no role, even if they were given one; undefined for members.
     * @throws SlackFailure if Slack cannot tell who the person is
     */
    excluded,
    /**
     * True if the person may do things that need the role. An admin may do everything. Changes of a user
     * group take effect within half a minute.
     */
    async holds(user: string, role: Role): Promise<boolean> {
      if ((await excluded(user)) !== undefined) return false;
      if (role === 'member') return true;
      const grants = await collection.get(GRANTS_ID);
      if (grants === undefined) return isSlackAdmin(user);
      if (await isIn(user, grants, role)) return true;
      if (role !== 'admin' && (await isIn(user, grants, 'admin'))) return true;
      return mayStepIn(user, grants);
    },
    /**
     * People who can grant a role: the named admins by id, else the installer and Slack's own admins.
     * @param team the team, if Deckhand serves an organisation
     */
    async admins(team: string | undefined): Promise<string[]> {
      const grants = await collection.get(GRANTS_ID);
      const namedAdmins =
        grants === undefined ? [] : await findActive(people, await listNamedAdmins(people, grants));
      if (namedAdmins.length > 0) return namedAdmins;
      return slackAdmins(team);
    },
    /**
     * True if a change would leave none of the workspace's own admins and owners among the admins.
     * @param admin the person who makes the change; counts as an owner if Slack lists none
     */
    async takesLastWayIn(after: Grants, admin: string, team: string | undefined): Promise<boolean> {
      const listed = (await undefinedOnSlackError(slackAdmins(team))) ?? [];
      const owners = listed.length === 0 ? [admin] : listed;
      return (await haveWayIn(owners, await collection.get(GRANTS_ID))) && !(await haveWayIn(owners, after));
    },
    /** Adds one holder. Slack's own admins stay admins if no admin was named before. */
    async give(user: string, role: GivenRole, admin: string): Promise<void> {
      await collection.update(GRANTS_ID, (before) =>
        withHolder(before, { user, role, admin, at: clock.now() }),
      );
    },
    grants: () => collection.get(GRANTS_ID),
    /** True if groups hold roles, but Deckhand lacks the scope to read them. */
    async lacksGroups(): Promise<boolean> {
      const { groups } = (await collection.get(GRANTS_ID)) ?? {};
      return groups !== undefined && Object.values(groups).flat().length > 0 && people.lacksGroups();
    },
    set: (grants: Grants) => collection.put(GRANTS_ID, grants),
    /** Like `set`, unless `check` throws for the current grants. */
    setAfter: (check: (before: Grants | undefined) => void, grants: Grants) =>
      collection.update(GRANTS_ID, (before) => {
        check(before);
        return grants;
      }),
    userGroups: people.userGroups,
    hasActive: people.hasActive,
  };
}

/** The admins that the grants name, alone or in a group. */
async function listNamedAdmins(
  people: SlackPeople,
  { admin, groups, groupTeams }: Grants,
): Promise<string[]> {
  const inGroups = (groups?.admin ?? []).map((group) => people.membersOf(group, groupTeams?.[group]));
  return [...admin, ...(await Promise.all(inGroups)).flat()];
}

/** Maximum number of admins that are looked up. */
const MAX_NAMED_ADMINS = 10;

async function findActive(people: SlackPeople, users: readonly string[]): Promise<string[]> {
  const active: string[] = [];
  for (const user of new Set(users)) {
    if (active.length === MAX_NAMED_ADMINS) break;
    const membership = await undefinedOnSlackError(people.membership(user), 'gone', 'rejected');
    if (membership === 'member') active.push(user);
  }
  return active;
}

function withHolder(
  before: Grants = { admin: [], operator: [], billing: [], changedBy: '', changedAt: 0 },
  { user, role, admin, at }: { user: string; role: GivenRole; admin: string; at: number },
): Grants {
  // Named admins replace Slack's own, so the person who names the first one stays an admin.
  const isFirst = role === 'admin' && before.admin.length === 0 && !before.groups?.admin.length;
  const holders = new Set([...(isFirst ? [admin] : []), ...before[role], user]);
  return { ...before, [role]: [...holders], changedBy: admin, changedAt: at };
}

/** Opens direct messages only with people who may use Deckhand. */
export function onlyToMembers(slack: WorkspaceSlack, roles: Pick<Roles, 'excluded'>): WorkspaceSlack {
  async function expectMember(user: string): Promise<void> {
    if ((await roles.excluded(user)) !== undefined)
      throw new SlackFailure('conversations.open', 'gone', 'person_excluded');
  }
  return {
    ...slack,
    async openDirect(user) {
      await expectMember(user);
      return slack.openDirect(user);
    },
    async sendDirectMessage(user, message) {
      await expectMember(user);
      return slack.sendDirectMessage(user, message);
    },
  };
}
