import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import type { WorkspaceStore } from '../store/store.ts';

const Claim = z.object({ request: z.string().optional() });

/** Things that a workspace does once, in all replicas and across restarts. */
export function createOnce({ store, clock }: { store: WorkspaceStore; clock: Clock }) {
  const claims = store.collection('once', Claim);
  const hashKey = (key: readonly unknown[]): string => hash('sha256', JSON.stringify(key), 'base64url');
  return {
    /**
     * Returns true the first time within `ttlMs`.
     * @param request gets true again, because a request is repeated after a kill
     */
    async once(key: readonly unknown[], ttlMs: number, request?: string): Promise<boolean> {
      const id = hashKey(key);
      if (await claims.create(id, { request }, clock.now() + ttlMs)) return true;
      return request !== undefined && (await claims.get(id))?.request === request;
    },
    /** Lets the next request do it, because this one failed. */
    async undoOnce(key: readonly unknown[]): Promise<void> {
      await claims.delete(hashKey(key));
    },
  };
}
