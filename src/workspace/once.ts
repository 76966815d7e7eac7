import { z } from 'zod';
import { hashJson } from '../core/json.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';

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

type Documents = Pick<WorkspaceStore, 'collection'>;

/** A store for one request. It reads each document once, and again after a write to the collection. */
export function rememberDocuments(store: Documents): Documents {
  return { collection: (name, shape) => rememberReads(store.collection(name, shape)) };
}

function rememberReads<T>(collection: Collection<T>): Collection<T> {
  const documents = new Map<string, Promise<T | undefined>>();
  const lists = new Map<string, ReturnType<typeof collection.list>>();
  const written = <R>(work: Promise<R>): Promise<R> =>
    work.finally(() => {
      documents.clear();
      lists.clear();
    });
  return {
    get: (id) => rememberKey(documents, id, () => collection.get(id)),
    list: (beginning = '') => rememberKey(lists, beginning, () => collection.list(beginning)),
    latest: (limit, from) => collection.latest(limit, from),
    put: (id, doc, expiresAt) => written(collection.put(id, doc, expiresAt)),
    create: (id, doc, expiresAt) => written(collection.create(id, doc, expiresAt)),
    update: (id, change, expiresAt) => written(collection.update(id, change, expiresAt)),
    delete: (id) => written(collection.delete(id)),
    trim: (amount) => written(collection.trim(amount)),
  };
}

/** Failures are not remembered. */
function rememberKey<K, V>(reads: Map<K, Promise<V>>, key: K, read: () => Promise<V>): Promise<V> {
  const value = reads.get(key) ?? read();
  reads.set(key, value);
  value.catch(() => reads.delete(key));
  return value;
}
