import { hash } from 'node:crypto';
import { z } from 'zod';
import { INTEGRATION_FLAGS } from '../service/integrations.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';

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
  project: z.object({ permalink: z.string(), name: z.string() }),
  flags: z.array(z.enum(INTEGRATION_FLAGS)),
  savedBy: z.string(),
  savedAt: z.number(),
});
export type RememberedIntegration = z.infer<typeof RememberedIntegration>;

const ID_LENGTH = 5;

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
     * @param id the short id that it has already
     */
    async remember(
      integration: Omit<RememberedIntegration, 'id'>,
      id?: string,
    ): Promise<RememberedIntegration> {
      if (id !== undefined) {
        const doc = { ...integration, id };
        await stored.update(id, () => doc);
        return doc;
      }
      const digest = digestOf(integration);
      for (let length = ID_LENGTH; length <= digest.length; length += 1) {
        const doc = { ...integration, id: digest.slice(0, length) };
        const kept = await stored.update(doc.id, (current) =>
          current === undefined || isSame(current, doc) ? doc : current,
        );
        // Another integration has this short id already, so the next try is a letter longer.
        if (kept !== undefined && isSame(kept, doc)) return doc;
      }
      throw new TypeError('no short id is free');
    },
    /** By short id, identifier, or a name that only one has; undefined for any other. */
    async find(named: string): Promise<RememberedIntegration | undefined> {
      const wanted = named.toLowerCase();
      const all = await list();
      const exact = all.find(({ id, identifier }) => id === wanted || identifier?.toLowerCase() === wanted);
      const byName = all.filter(({ name }) => name.toLowerCase() === wanted);
      return exact ?? (byName.length === 1 ? byName[0] : undefined);
    },
  };
}

function isSame(one: RememberedIntegration, other: RememberedIntegration): boolean {
  return keyOf(one) === keyOf(other);
}

/** What one integration has alone: its identifier, or without one its type and name in its project. */
function keyOf({ account, identifier, project, hookType, name }: Omit<RememberedIntegration, 'id'>): string {
  const own = identifier === undefined ? [project.permalink, hookType, name] : [identifier];
  return JSON.stringify([account, ...own]);
}

function digestOf(integration: Omit<RememberedIntegration, 'id'>): string {
  const bytes = hash('sha256', keyOf(integration), 'buffer');
  // Without letters that are easily confused or that form words.
  return [...bytes].map((byte) => 'bcdfghjkmnpqrstvwxz23456789'[byte % 27]).join('');
}
