import { z } from 'zod';
import { NameIndex, pickNamed } from '../core/names.ts';
import { ProjectRef, projectId } from '../core/project-ref.ts';
import { INTEGRATION_FLAGS } from '../service/integrations.ts';
import { type Collection, makeFreeId, type WorkspaceStore } from '../store/store.ts';

/** An integration that Deckhand created or changed, as the service returned it, without its properties. */
export const RememberedIntegration = z.object({
  /** Short id for people; always the same for an integration. */
  id: z.string(),
  /** Absent if the service gave none, e.g. for a new one of an OAuth type. */
  identifier: z.string().optional(),
  /** The neutral label of API 4.8 (docs/service-api.md). */
  hookType: z.string(),
  name: z.string(),
  account: z.string(),
  project: ProjectRef,
  flags: z.array(z.enum(INTEGRATION_FLAGS)),
  savedAt: z.number(),
});
export interface RememberedIntegration extends z.infer<typeof RememberedIntegration> {}

type NewIntegration = Omit<RememberedIntegration, 'id'>;

export function createIntegrations(store: WorkspaceStore) {
  const collection: Collection<RememberedIntegration> = store.collection(
    'integrations',
    RememberedIntegration,
  );

  async function list(): Promise<RememberedIntegration[]> {
    const rows = await collection.list();
    return rows.map((row) => row.doc).toSorted((one, other) => other.savedAt - one.savedAt);
  }

  return {
    list,
    /**
     * Stores an integration with a short id, in place of an older record of it.
     * @param existingId its short id, if it has one
     */
    remember: (integration: NewIntegration, existingId?: string): Promise<RememberedIntegration> =>
      store.exclusive('integrations', async () => {
        const all = await list();
        const isTaken = (candidate: string): boolean => all.some(({ id }) => id === candidate);
        const key = makeKey(integration);
        const id = existingId ?? all.find((one) => makeKey(one) === key)?.id ?? makeFreeId('i', key, isTaken);
        const doc = { ...integration, id };
        await collection.put(id, doc);
        return doc;
      }),
    /** Deletes the record of an integration that is no longer at the service. */
    async forget(account: string, identifier: string): Promise<void> {
      const all = await list();
      for (const one of all)
        if (one.account === account && one.identifier === identifier) await collection.delete(one.id);
    },
    /** Finds an integration by short id, identifier, or unambiguous name. */
    async find(nameOrId: string): Promise<RememberedIntegration | undefined> {
      const all = await list();
      const index = new NameIndex(
        all.map((one) => ({ name: one.name, identifier: one.identifier, permalink: one.id, one })),
      );
      return pickNamed(index.find(nameOrId), nameOrId)?.one;
    },
  };
}

/** Key of an integration: its identifier, else its project, type and name. */
function makeKey({ account, identifier, project, hookType, name }: NewIntegration): string {
  const own = identifier === undefined ? [projectId(project), hookType, name] : [identifier];
  return JSON.stringify([account, ...own]);
}
