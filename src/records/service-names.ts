import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { UserError } from '../core/errors.ts';
import { code, sanitize } from '../core/mrkdwn.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';

/** Far more people than deploy with one account. */
const MAX_CLAIMS = 2_000;
const MAX_NAME = 100;

/** A person's name at the service, as events have it, which they said is theirs. */
const Claim = z.object({ name: z.string(), user: z.string(), at: z.number() });
export type Claim = z.infer<typeof Claim>;

const Claims = z.object({ claims: z.array(Claim) });

/** Slack users by the name that they claimed, as `nameKey` spells it. */
export type Mentions = ReadonlyMap<string, string>;

/** Who is called what at the service; a name of an account is one person's, and a person has one name there. */
export function createServiceNames({ store, clock }: { store: WorkspaceStore; clock: Clock }) {
  const stored: Collection<z.infer<typeof Claims>> = store.collection('service-names', Claims);
  const list = async (account: string): Promise<Claim[]> => (await stored.get(account))?.claims ?? [];
  return {
    /** Oldest first. */
    list,
    async mentions(account: string): Promise<Mentions> {
      return new Map((await list(account)).map(({ name, user }) => [nameKey(name), user]));
    },
    /** Takes the place of the person's earlier name. @throws UserError where another person has the name */
    async claim(account: string, user: string, typed: string): Promise<void> {
      const made: Claim = { name: sanitize(typed, MAX_NAME), user, at: clock.now() };
      await stored.update(account, (current) => {
        const claims = current?.claims ?? [];
        const others = claims.filter((one) => one.user !== user);
        const existing = others.find(({ name }) => nameKey(name) === nameKey(made.name));
        if (existing !== undefined) throw taken(existing);
        if (others.length >= MAX_CLAIMS)
          throw new UserError(`${MAX_CLAIMS} names of this account are claimed, which is the most.`);
        return { claims: [...others, made] };
      });
    },
    /** False where the person has no name there. @param at only the one that was claimed then */
    async release(account: string, user: string, at?: number): Promise<boolean> {
      const isMeant = (one: Claim): boolean => one.user === user && (at ?? one.at) === one.at;
      let wasThere = false;
      await stored.update(account, (current) => {
        wasThere = current?.claims.some(isMeant) ?? false;
        return wasThere ? { claims: (current?.claims ?? []).filter((one) => !isMeant(one)) } : current;
      });
      return wasThere;
    },
  };
}

/** Names that differ only in case, spaces, or how their letters are encoded or drawn, are one. */
export function nameKey(name: string): string {
  return sanitize(name, MAX_NAME).normalize('NFKC').toLowerCase().replace(/\s+/gu, '');
}

/** The first claim stands, so that no one is mentioned in another person's stead; an admin decides. */
function taken({ name, user }: Claim): UserError {
  return new UserError(
    `<@${user}> has claimed the name ${code(name, MAX_NAME)} already. If it is yours, an admin can release it.`,
    'me',
  );
}
