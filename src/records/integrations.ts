import { z } from 'zod';
import { NameIndex, pickNamed } from '../core/names.ts';
import { ProjectRef, projectId } from '../core/project-ref.ts';
import { INTEGRATION_FLAGS } from '../service/integrations.ts';
import { type Collection, freeId, type WorkspaceStore } from '../store/store.ts';

/** An integration that was set up or changed with Deckhand, as the service answered; never a property. */
export const RememberedIntegration = z.object({
  /** Short, for people; the same for the same integration. */
  id: z.string(),
  /** Absent where the service gave none, as for a new one of an OAuth type. */
  identifier: z.string().optional(),
  /** The neutral label of API 4.8 (docs/service-api.md). */
  hookType: z.string(),
  name: z.string(),
  account: z.string(),
  project: ProjectRef,
  flags: z.array(z.enum(INTEGRATION_FLAGS)),
  savedBy: z.string(),
  savedAt: z.number(),
});
export type RememberedIntegration = z.infer<typeof RememberedIntegration>;

type NewIntegration = Omit<RememberedIntegration, 'id'>;

export function createIntegrations(store: WorkspaceStore) {
  const stored: Collection<RememberedIntegration> = store.collection('integrations', RememberedIntegration);

  async function list(): Promise<RememberedIntegration[]> {
    const rows = await stored.list();
    return rows.map((row) => row.doc).toSorted((one, other) => other.savedAt - one.savedAt);
  }

  return {
    /** Latest first. */
    list,
    /**
     * Stores the integration, replacing an older record of it, and gives it its short id.
     * @param known the short id that it has already
     */
    remember: (integration: NewIntegration, known?: string): Promise<RememberedIntegration> =>
      store.exclusive('integrations', async () => {
        const all = await list();
        const isTaken = (taken: string): boolean => all.some(({ id }) => id === taken);
        const key = keyOf(integration);
        const id = known ?? all.find((one) => keyOf(one) === key)?.id ?? freeId('i', key, isTaken);
        const doc = { ...integration, id };
        await stored.put(id, doc);
        return doc;
      }),
    /** By short id, identifier, or a name that only one has; undefined for any other. */
    async find(named: string): Promise<RememberedIntegration | undefined> {
      const all = await list();
      const index = new NameIndex(
        all.map((one) => ({ name: one.name, identifier: one.identifier, permalink: one.id, one })),
      );
      return pickNamed(index.find(named), named)?.one;
    },
  };
}

/** What one integration has alone: its identifier, or without one its type and name in its project. */
function keyOf({ account, identifier, project, hookType, name }: NewIntegration): string {
  const own = identifier === undefined ? [projectId(project), hookType, name] : [identifier];
  return JSON.stringify([account, ...own]);
}
