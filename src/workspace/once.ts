import { z } from 'zod';
import { hashJson } from '../core/json.ts';
import type { Clock } from '../core/time/clock.ts';
import type { WorkspaceStore } from '../store/store.ts';

export const Claim = z.object({ request: z.string().optional() });

export type Once = ReturnType<typeof createOnce>;

/** Does things once in a workspace, across replicas and restarts. */
export function createOnce({ store, clock }: { store: WorkspaceStore; clock: Clock }) {
  const claims = store.collection('once', Claim);
  return {
    /**
     * Returns true the first time within `ttlMs`.
     * @param request a repeat of the same request after a kill gets true again
     */
    async once(key: readonly unknown[], ttlMs: number, request?: string): Promise<boolean> {
      const id = hashJson(key);
      if (await claims.create(id, { request }, clock.now() + ttlMs)) return true;
      return request !== undefined && (await claims.get(id))?.request === request;
    },
    /** Returns true within the `ttlMs` of the first time. */
    wasDone: async (key: readonly unknown[]): Promise<boolean> =>
      (await claims.get(hashJson(key))) !== undefined,
    /** Call it after a failure, so that the next request may try again. */
    async undoOnce(key: readonly unknown[]): Promise<void> {
      await claims.delete(hashJson(key));
    },
  };
}
