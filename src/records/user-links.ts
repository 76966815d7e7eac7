import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { defined } from '../core/json.ts';
import type { Tokens } from '../service/oauth.ts';
import type { Field, WorkspaceSealer } from '../store/sealer.ts';
import type { WorkspaceStore } from '../store/store.ts';

/** A person's link to their own user at the service. API 5.3 (docs/service-api.md). */
const Link = z.object({
  /** The whole answer of the token endpoint. */
  sealedTokens: z.string(),
  scope: z.string().optional(),
  /** The person's at the service, where it says so. */
  email: z.string().optional(),
  /** Milliseconds since the epoch. */
  linkedAt: z.number(),
  /** When the token ends, where the service says so. */
  expiresAt: z.number().optional(),
});
export type Link = z.infer<typeof Link>;

export function createUserLinks(parts: { store: WorkspaceStore; sealer: WorkspaceSealer; clock: Clock }) {
  const stored = parts.store.collection('links', Link);

  async function isLinkedToAnother(user: string, email: string): Promise<boolean> {
    const links = await stored.list();
    return links.some(
      ({ id, doc }) => id !== user && doc.email !== undefined && isSameUser(doc.email, email),
    );
  }

  async function store(user: string, tokens: Tokens, email: string | undefined): Promise<Link> {
    const now = parts.clock.now();
    const { scope, expires_in: seconds } = tokens;
    const link: Link = {
      sealedTokens: await parts.sealer.seal(fieldOf(user), JSON.stringify(tokens)),
      linkedAt: now,
      ...defined({ scope, email, expiresAt: seconds === undefined ? undefined : now + seconds * 1000 }),
    };
    await stored.put(user, link);
    return link;
  }

  return {
    get: (user: string) => stored.get(user),
    /**
     * Encrypts the tokens; replaces an older link. One user of the service is one person's: undefined where another person
     * of the workspace is linked to it already.
     */
    keep: (user: string, tokens: Tokens, email?: string): Promise<Link | undefined> =>
      parts.store.exclusive('links', async () => {
        const isTaken = email !== undefined && (await isLinkedToAnother(user, email));
        return isTaken ? undefined : store(user, tokens, email);
      }),
    /** Deletes the tokens; false if there were none, or, where `linkedAt` is given, if the link is another one. */
    async remove(user: string, linkedAt?: number): Promise<boolean> {
      if (linkedAt !== undefined && (await stored.get(user))?.linkedAt !== linkedAt) return false;
      return stored.delete(user);
    },
  };
}

function isSameUser(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function fieldOf(user: string): Field {
  return { record: `links/${user}`, field: 'tokens' };
}
