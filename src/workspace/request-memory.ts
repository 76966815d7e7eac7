import type { Collection, WorkspaceStore } from '../store/store.ts';

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
    putUnlocked: (id, doc, expiresAt) => written(collection.putUnlocked(id, doc, expiresAt)),
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
