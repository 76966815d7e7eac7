import { z } from 'zod';
import type { Installations } from './slack/installations.ts';
import type { Slack } from './slack/slack.ts';
import type { Collection, Store } from './store/store.ts';

export const ROLES = ['member', 'operator', 'billing', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Who holds which role; users by id. Absent until an admin sets it: then Slack's own admins are admins. */
const Grants = z.object({
  admin: z.array(z.string()),
  operator: z.array(z.string()),
  billing: z.array(z.string()),
  setBy: z.string(),
  setAt: z.number(),
});
export type Grants = z.infer<typeof Grants>;

const GRANTS_ID = 'grants';

export interface Roles {
  /** True if the person may do what asks for the role. An admin may do everything. Asked afresh each time. */
  holds(workspace: string, user: string, role: Role): Promise<boolean>;
  /** Who can do it, as mentions for a refusal; empty where that is Slack's admins. */
  holders(workspace: string, role: Role): Promise<string[]>;
  grants(workspace: string): Promise<Grants | undefined>;
  set(workspace: string, grants: Grants): Promise<void>;
}

export function createRoles(parts: { store: Store; slack: Slack; installations: Installations }): Roles {
  const stored: Collection<Grants> = parts.store.collection('roles', Grants);

  async function isSlackAdmin(workspace: string, user: string): Promise<boolean> {
    if ((await parts.installations.installer(workspace)) === user) return true;
    const answer = await parts.slack.call(workspace, 'users.info', (client) => client.users.info({ user }));
    return Boolean(answer.user?.is_admin || answer.user?.is_owner || answer.user?.is_primary_owner);
  }

  return {
    async holds(workspace, user, role) {
      if (role === 'member') return true;
      const grants = await stored.get(workspace, GRANTS_ID);
      if (grants === undefined) return isSlackAdmin(workspace, user);
      return grants.admin.includes(user) || (role !== 'admin' && grants[role].includes(user));
    },
    async holders(workspace, role) {
      const grants = await stored.get(workspace, GRANTS_ID);
      if (grants === undefined || role === 'member') return [];
      return role === 'admin' ? grants.admin : [...grants[role], ...grants.admin];
    },
    grants: (workspace) => stored.get(workspace, GRANTS_ID),
    set: (workspace, grants) => stored.put(workspace, GRANTS_ID, grants),
  };
}
