import { z } from 'zod';
import { defined } from '../core/json.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Identity } from '../service/oauth.ts';
import type { WorkspaceStore } from '../store/store.ts';

/** A person's link to their own user at the service, which holds no token. API 5.3 (docs/service-api.md). */
export const Link = z.object({
  /** Name at the service, if the service tells it. */
  name: z.string().optional(),
  /** E-mail address at the service, if the service tells it. */
  email: z.string().optional(),
  /** Milliseconds since the epoch. */
  linkedAt: z.number(),
});
export interface Link extends z.infer<typeof Link> {}

/** Release 1.0.0 also stored the tokens, which nothing ever used. */
export const Links = {
  schema: Link,
  upgrades: [({ sealedTokens: _, expiresAt: __, ...link }: Readonly<Record<string, unknown>>) => link],
  writesBack: true,
};

export function createUserLinks({ store, clock }: { store: WorkspaceStore; clock: Clock }) {
  const collection = store.collection('links', Links);

  async function isLinkedToAnother(user: string, email: string): Promise<boolean> {
    const links = await collection.list();
    return links.some(({ id, doc }) => id !== user && doc.email?.toLowerCase() === email.toLowerCase());
  }

  return {
    get: (user: string) => collection.get(user),
    /**
     * Replaces an older link. Returns undefined if another person of the workspace is linked to the same user of the
     * service.
     */
    keep: (user: string, { name, email }: Identity): Promise<Link | undefined> =>
      store.exclusive('links', async () => {
        if (email !== undefined && (await isLinkedToAnother(user, email))) return undefined;
        const link: Link = { linkedAt: clock.now(), ...defined({ name, email }) };
        await collection.put(user, link);
        return link;
      }),
    /**
     * Returns the deleted link, or undefined if there was none.
     * @param linkedAt deletes only a link made at this time
     */
    async remove(user: string, linkedAt?: number): Promise<Link | undefined> {
      const link = await collection.get(user);
      if (link === undefined || link.linkedAt !== (linkedAt ?? link.linkedAt)) return undefined;
      return (await collection.delete(user)) ? link : undefined;
    },
  };
}
