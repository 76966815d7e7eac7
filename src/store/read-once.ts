import type { WorkspaceCollection, WorkspaceStore } from './workspace-store.ts';

/**
 * The documents of a workspace for the length of one request: each is read once, and again after a write through here.
 * An `update` changes what stands in the database, whatever was read before.
 */
export function readOnce(store: WorkspaceStore): WorkspaceStore {
  return {
    collection: (name, schema) => onceCollection(store.collection(name, schema)),
    exclusive: store.exclusive,
  };
}

function onceCollection<T>(stored: WorkspaceCollection<T>): WorkspaceCollection<T> {
  const known = new Map<string, Promise<T | undefined>>();
  let all: ReturnType<typeof stored.list> | undefined;

  function forget(): void {
    known.clear();
    all = undefined;
  }

  /** Before the write, for what is read meanwhile, and after it. */
  async function writing<R>(write: () => Promise<R>): Promise<R> {
    forget();
    try {
      return await write();
    } finally {
      forget();
    }
  }

  async function find(id: string): Promise<T | undefined> {
    if (all === undefined) return stored.get(id);
    return (await all).find((row) => row.id === id)?.doc;
  }

  return {
    ...stored,
    get(id) {
      const read = known.get(id) ?? find(id);
      known.set(id, read);
      return read;
    },
    async first(ids) {
      if (all === undefined) return stored.first(ids);
      const rows = new Map((await all).map(({ id, doc }) => [id, doc]));
      return ids.map((id) => rows.get(id)).find((doc) => doc !== undefined);
    },
    list() {
      all ??= stored.list();
      return all;
    },
    put: (...row) => writing(() => stored.put(...row)),
    create: (...row) => writing(() => stored.create(...row)),
    update: (id, change) => writing(() => stored.update(id, change)),
    delete: (id) => writing(() => stored.delete(id)),
  };
}
