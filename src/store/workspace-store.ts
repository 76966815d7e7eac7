import type { AskTenancy, Collection, Place, Sealer, Store } from './store.ts';
import type { Shape } from './versions.ts';

type WithoutWorkspace<F> = F extends (workspace: string, ...rest: infer Rest) => infer Result
  ? (...rest: Rest) => Result
  : never;

/** A collection of one workspace; the methods are those of `Collection`. */
export type WorkspaceCollection<T> = {
  [Method in keyof Collection<T>]: WithoutWorkspace<Collection<T>[Method]>;
};

/** The documents of one workspace. */
export interface WorkspaceStore {
  collection<T>(name: string, shape: Shape<T>): WorkspaceCollection<T>;
  /** As `Store.exclusive`; keys of other workspaces are others. */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** Where a sealed value stands in its workspace. */
export type Field = Omit<Place, 'workspace'>;

/** Seals secrets of one workspace. */
export interface WorkspaceSealer {
  seal(field: Field, secret: string): Promise<string>;
  /** Rejects with `SealError` if the value was moved, changed, or sealed with a key that is not at hand. */
  open(field: Field, sealed: string): Promise<string>;
}

/** Every write is refused once the tenancy `during` has ended. */
export function bindStore(store: Store, workspace: string, during: AskTenancy | undefined): WorkspaceStore {
  return {
    collection: (name, shape) => bindCollection(store.collection(name, shape, during), workspace),
    exclusive: (key, work) => store.exclusive(`${workspace} ${key}`, work),
  };
}

export function bindSealer(
  sealer: Sealer,
  workspace: string,
  during: AskTenancy | undefined,
): WorkspaceSealer {
  return {
    seal: (field, secret) => sealer.seal({ workspace, ...field }, secret, during),
    open: (field, sealed) => sealer.open({ workspace, ...field }, sealed),
  };
}

function bindCollection<T>(collection: Collection<T>, workspace: string): WorkspaceCollection<T> {
  return {
    get: (id) => collection.get(workspace, id),
    first: (ids) => collection.first(workspace, ids),
    put: (id, doc, expiresAt) => collection.put(workspace, id, doc, expiresAt),
    create: (id, doc, expiresAt) => collection.create(workspace, id, doc, expiresAt),
    update: (id, change) => collection.update(workspace, id, change),
    delete: (id) => collection.delete(workspace, id),
    list: () => collection.list(workspace),
    latest: (limit, upTo) => collection.latest(workspace, limit, upTo),
  };
}
