import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import type { WorkspaceStore } from '../store/workspace-store.ts';
import { GIVEN_ROLES } from './roles.ts';

/** A person asks for a role once in so long, whatever the answer is. */
const KEPT_MS = 24 * 60 * 60_000;

const Outcome = z.object({ by: z.string(), isAllowed: z.boolean(), requestId: z.string() });
export type AccessOutcome = z.infer<typeof Outcome>;

const AccessRequest = z.object({
  user: z.string(),
  role: z.enum(GIVEN_ROLES),
  /** The command that was refused. */
  command: z.string(),
  /** The messages that admins were asked by. */
  asked: z.array(z.object({ channel: z.string(), ts: z.string() })),
  outcome: Outcome.optional(),
});
export type AccessRequest = z.infer<typeof AccessRequest>;

export type Wish = Pick<AccessRequest, 'user' | 'role' | 'command'>;

/** Who asked for a role today, and what an admin answered. */
export function createAccessRequests({ store, clock }: { store: WorkspaceStore; clock: Clock }) {
  const stored = store.collection('access-requests', AccessRequest);
  return {
    /** Undefined where the person asked for this role already. */
    async open(wish: Wish): Promise<string | undefined> {
      const id = idOf(wish);
      const isFirst = await stored.create(id, { ...wish, asked: [] }, clock.now() + KEPT_MS);
      return isFirst ? id : undefined;
    },
    get: (id: string) => stored.get(id),
    standing: (wish: Wish) => stored.get(idOf(wish)),
    asked: (id: string, asked: AccessRequest['asked']) =>
      stored.update(id, (request) => request && { ...request, asked }),
    /** The first answer counts: the request as it stands then, undefined where it is too old. */
    answer: (id: string, outcome: AccessOutcome) =>
      stored.update(id, (request) => request && { ...request, outcome: request.outcome ?? outcome }),
    /** The person may ask again. */
    drop: (id: string) => stored.delete(id),
  };
}

function idOf({ user, role }: Wish): string {
  return `${user} ${role}`;
}
