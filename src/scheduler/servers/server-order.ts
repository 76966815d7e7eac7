import { z } from 'zod';
import { DAY_MS } from '../../core/clock.ts';
import { UserError } from '../../core/errors.ts';
import { AccountFailure } from '../../records/accounts.ts';
import { Draft, Wanted } from '../../records/server-drafts.ts';
import { listServers, type Server } from '../../service/servers.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** A confirmed order of a managed server, kept so that it is made once. */
export const ServerOrder = z.object({
  user: z.string(),
  /** The modal that it was confirmed in. */
  viewId: z.string(),
  draft: Draft.extend({
    project: Draft.shape.project.unwrap(),
    wanted: Wanted,
    order: z.string(),
  }),
  /** Where a mention is answered. */
  answerTs: z.string().optional(),
  orderedAt: z.number(),
  /** Set before the service is asked: if the process dies from then on, the outcome is unknown. */
  asked: z.boolean(),
  /** The servers that had its name before, where the service lists servers: another one is the ordered one. */
  namesakes: z.array(z.string()).optional(),
  created: z.object({ identifier: z.string(), name: z.string() }).optional(),
  messageRef: z.object({ channel: z.string(), ts: z.string() }).optional(),
  /** It was made and is followed, or its person was told why not. */
  isDone: z.boolean().optional(),
});
export type ServerOrder = z.infer<typeof ServerOrder>;

/** A form that was cut off by a kill is carried out again, and must find its order until then. */
const KEPT_MS = 30 * DAY_MS;

/** The orders by their id. */
export function createOrders({ store }: Pick<Workspace, 'store'>) {
  const stored = store.collection('server-orders', ServerOrder);
  return {
    get: (id: string) => stored.get(id),
    /** Leaves one alone that is there already. */
    create: (order: ServerOrder) => stored.create(order.draft.order, order, order.orderedAt + KEPT_MS),
    put: (order: ServerOrder) => stored.put(order.draft.order, order, order.orderedAt + KEPT_MS),
  };
}

/** A request that was cut off may still be carried out, so its server is looked for more than once. */
const LOOKS = 4;

/** The identifiers of the servers that have the ordered one's name; undefined where they cannot be listed. */
export async function namesakesOf(workspace: Workspace, order: ServerOrder): Promise<string[] | undefined> {
  const servers = await listNamesakes(workspace, order);
  return servers?.map(({ identifier }) => identifier);
}

/**
 * Finds a server whose order was not answered: the one of its name and kind that was not there before.
 * @returns undefined where that is not certain
 */
export async function findOrdered(
  workspace: Workspace,
  order: ServerOrder,
  signal: AbortSignal,
): Promise<ServerOrder['created']> {
  const { namesakes, draft } = order;
  if (namesakes === undefined) return undefined;
  for (let look = 1; look <= LOOKS; look += 1) {
    if (look > 1) await workspace.clock.sleep(workspace.config.POLL_INTERVAL_MS, signal);
    const servers = await listNamesakes(workspace, order);
    const made = servers?.filter(
      ({ identifier, protocol_type }) =>
        !namesakes.includes(identifier) && protocol_type === draft.wanted.protocol_type,
    );
    const [only, ...others] = made ?? [];
    if (others.length > 0) return undefined;
    if (only !== undefined) return { identifier: only.identifier, name: only.name };
  }
  return undefined;
}

async function listNamesakes(
  workspace: Workspace,
  { user, draft }: ServerOrder,
): Promise<Server[] | undefined> {
  const { account: name, project, wanted } = draft;
  try {
    const account = await workspace.accounts.resolve({ user }, name);
    const servers = await workspace.accounts.use(account, (client) => listServers(client, project.permalink));
    return servers?.filter((server) => server.name === wanted.name);
  } catch (error) {
    // What keeps the list back is met again, and explained, where it matters.
    if (error instanceof AccountFailure || error instanceof UserError) return undefined;
    throw error;
  }
}
