import { z } from 'zod';
import { ProjectRef, projectId } from '../core/project-ref.ts';
import type { WorkspaceStore } from '../store/store.ts';

/**
 * An integration at the service that tells Deckhand about a project's deployments. It remains there while it
 * is switched off.
 */
export const Push = z.object({
  account: z.string(),
  project: ProjectRef,
  /** `ending`: Deckhand has yet to switch it off at the service. */
  state: z.enum(['on', 'ending', 'off']),
  /** Identifier of the integration; undefined if the service gave none. */
  integration: z.string().optional(),
  /** True if the integration was removed at the service. */
  isRemoved: z.boolean().optional(),
  /** Digest of the token in its address; undefined while it is switched off. */
  token: z.string().optional(),
  /** `PUBLIC_URL` when it was switched on. */
  publicUrl: z.string(),
  /** The person who asked for it. */
  requestedBy: z.string().optional(),
  /** The channel of their watch. */
  channel: z.string().optional(),
  /** Time of the request, milliseconds since the epoch. */
  requestedAt: z.number().optional(),
  /** True until the service's answer about the integration is stored. */
  isUnanswered: z.boolean().optional(),
  /** Digest of the token that it replaces. Both are valid until the answer is stored. */
  earlierToken: z.string().optional(),
  /** The request that removed the watches and so switched it off. */
  removalRequest: z.string().optional(),
  /** Time of the latest call, milliseconds since the epoch; undefined before the first. */
  arrivedAt: z.number().optional(),
  /** Mark of the project's newest deployment; empty if it had none. */
  newest: z.string().optional(),
  /** Time of a poll that found a deployment without a call. */
  awaitedSince: z.number().optional(),
  /** True if the call for such a deployment never came. */
  isMissing: z.boolean().optional(),
});
export interface Push extends z.infer<typeof Push> {}

export type PushPlace = Pick<Push, 'account' | 'project'>;

export function createPushes(store: WorkspaceStore) {
  const collection = store.collection('pushes', Push);
  const key = ({ account, project }: PushPlace): string => `${account} ${projectId(project)}`;
  return {
    get: (place: PushPlace) => collection.get(key(place)),
    /** @param account all accounts if left out */
    async list(account?: string): Promise<Push[]> {
      const all = await collection.list(account === undefined ? undefined : `${account} `);
      return all.map(({ doc }) => doc);
    },
    put: (push: Push) => collection.put(key(push), push),
    change: (place: PushPlace, change: (current: Push) => Push) =>
      collection.update(key(place), (current) => current && change(current)),
  };
}
