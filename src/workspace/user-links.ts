import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import type { Tokens } from '../service/oauth.ts';
import type { Place, Sealer, Store } from '../store/store.ts';

/** A person's link to their own user at the service. Spec 5.3. */
const Link = z.object({
  /** The whole answer of the token endpoint. */
  sealedTokens: z.string(),
  scope: z.string().optional(),
  /** Milliseconds since the epoch. */
  linkedAt: z.number(),
  /** When the token ends, where the service says so. */
  expiresAt: z.number().optional(),
});
export type Link = z.infer<typeof Link>;

export interface UserLinks {
  get(workspace: string, user: string): Promise<Link | undefined>;
  /** Seals the tokens; replaces an older link. */
  keep(workspace: string, user: string, tokens: Tokens): Promise<Link>;
  /** Deletes the tokens; false if there were none. */
  remove(workspace: string, user: string): Promise<boolean>;
}

export function createUserLinks(parts: { store: Store; sealer: Sealer; clock: Clock }): UserLinks {
  const stored = parts.store.collection('links', Link);
  return {
    get: (workspace, user) => stored.get(workspace, user),
    async keep(workspace, user, tokens) {
      const now = parts.clock.now();
      const { scope, expires_in: seconds } = tokens;
      const link: Link = {
        sealedTokens: await parts.sealer.seal(placeOf(workspace, user), JSON.stringify(tokens)),
        linkedAt: now,
        ...(scope === undefined ? {} : { scope }),
        ...(seconds === undefined ? {} : { expiresAt: now + seconds * 1000 }),
      };
      await stored.put(workspace, user, link);
      return link;
    },
    remove: (workspace, user) => stored.delete(workspace, user),
  };
}

function placeOf(workspace: string, user: string): Place {
  return { workspace, record: `links/${user}`, field: 'tokens' };
}
