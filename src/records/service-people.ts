import { z } from 'zod';
import { UserError } from '../core/errors.ts';
import { code, sanitize } from '../core/mrkdwn.ts';
import { nameKey } from '../core/names.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';

/** Larger than the number of people who deploy with one account. */
const MAX_CLAIMS = 2_000;
const MAX_NAME = 100;

/** A name in events of the service that a person claimed. */
const Claim = z.object({
  name: z.string(),
  user: z.string(),
  at: z.number(),
  /** True if all events mention the person; failures alone if left out. */
  isForAll: z.boolean().optional(),
});
export interface Claim extends z.infer<typeof Claim> {}

export const Claims = z.object({ claims: z.array(Claim) });

/** Slack users by the `makePersonKey` of the names that they claimed. */
export type Mentions = ReadonlyMap<string, string>;

/** Finds the Slack user whom a message mentions for a name at the service. Undefined: it shows the name. */
export type FindMentioned = (name: string, isFailure: boolean) => string | undefined;

/** People's names at the service. Within an account, a name belongs to one person, and a person has one name. */
export function createServiceNames({
  store,
  clock,
  onClaim,
}: {
  store: WorkspaceStore;
  clock: Clock;
  onClaim: () => Promise<void>;
}) {
  const collection: Collection<z.infer<typeof Claims>> = store.collection('service-names', Claims);
  const list = async (account: string): Promise<Claim[]> => (await collection.get(account))?.claims ?? [];
  return {
    list,
    /** The name that a person claimed, in any account. */
    async findName(user: string): Promise<string | undefined> {
      const rows = await collection.list();
      return rows.flatMap(({ doc }) => doc.claims).find((claim) => claim.user === user)?.name;
    },
    async mentions(account: string): Promise<Mentions> {
      return new Map((await list(account)).map(({ name, user }) => [makePersonKey(name), user]));
    },
    /**
     * Replaces the person's earlier name.
     * @param at time of the claim, by which it can be released
     * @param isForAll as before if left out
     * @throws UserError if another person has the name
     */
    async claim(
      account: string,
      user: string,
      name: string,
      { at = clock.now(), isForAll }: Partial<Pick<Claim, 'at' | 'isForAll'>> = {},
    ): Promise<void> {
      await collection.update(account, (current) => {
        const claims = current?.claims ?? [];
        const others = claims.filter((one) => one.user !== user);
        const before = claims.find((one) => one.user === user)?.isForAll;
        const isAll = isForAll ?? before ?? false;
        const claim: Claim = {
          name: sanitize(name, MAX_NAME),
          user,
          at,
          ...(isAll ? { isForAll: true } : {}),
        };
        const existing = others.find(({ name }) => makePersonKey(name) === makePersonKey(claim.name));
        if (existing !== undefined) throw nameTaken(existing);
        if (others.length >= MAX_CLAIMS)
          throw new UserError(
            `${MAX_CLAIMS} names of this account are claimed, which is the most. An admin can release one.`,
            'me',
          );
        return { claims: [...others, claim] };
      });
      await onClaim();
    },
    /** Returns false if the person has no name there. @param at releases only a claim made at this time */
    async release(account: string, user: string, at?: number): Promise<boolean> {
      const matches = (one: Claim): boolean => one.user === user && (at ?? one.at) === one.at;
      let wasThere = false;
      await collection.update(account, (current) => {
        wasThere = current?.claims.some(matches) ?? false;
        return wasThere ? { claims: (current?.claims ?? []).filter((one) => !matches(one)) } : current;
      });
      return wasThere;
    },
  };
}

/**
 * Decides whom the messages of channels mention: people whose deployment failed, and those who asked for more.
 * @param direct people who get direct messages about their deployments, and need no mention
 */
export function createFindMentioned(
  claims: readonly Claim[],
  direct: ReadonlySet<string> = new Set(),
): FindMentioned {
  const byName = new Map(claims.map((claim) => [makePersonKey(claim.name), claim]));
  return (name, isFailure) => {
    const claim = byName.get(makePersonKey(name));
    if (claim === undefined || direct.has(claim.user)) return undefined;
    return isFailure || claim.isForAll === true ? claim.user : undefined;
  };
}

/** The key of a person's name, without spaces; empty for no name. */
export function makePersonKey(name: string): string {
  return name === '' ? '' : nameKey(sanitize(name, MAX_NAME)).replaceAll(' ', '');
}

/** The first claim wins. Otherwise Deckhand might mention the wrong person. */
function nameTaken({ name, user }: Claim): UserError {
  return new UserError(
    `<@${user}> has claimed the name ${code(name, MAX_NAME)} already. If it is yours, an admin can release it.`,
    'me',
  );
}
