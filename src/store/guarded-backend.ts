import { InstallationEnded } from '../core/errors.ts';
import type { Backend } from './backend.ts';
import { asking, type Tenancy } from './store.ts';

/**
 * What fails is the database's fault, and what was not written because its tenancy has ended is told apart from what found
 * its key taken.
 */
export function guardBackend(backend: Backend): Backend {
  return {
    ...backend,
    read: (key) => asking(backend.read(key)),
    readMany: (keys) => asking(backend.readMany(keys)),
    put: (row, during) => asking(guarded(backend, backend.put(row, during), during)),
    insert: (row, during) => asking(guarded(backend, backend.insert(row, during), during)),
    replace: (from, row, during) => asking(guarded(backend, backend.replace(from, row, during), during)),
    remove: (key, from, during) => asking(guarded(backend, backend.remove(key, from, during), during)),
    range: (prefix) => asking(backend.range(prefix)),
    rangeEnd: (prefix, limit, upTo) => asking(backend.rangeEnd(prefix, limit, upTo)),
    deleteRange: (prefix) => asking(backend.deleteRange(prefix)),
  };
}

/** What was not written may not have been for the installation's end. @throws InstallationEnded */
async function guarded(
  backend: Backend,
  write: Promise<boolean>,
  during: Tenancy | undefined,
): Promise<boolean> {
  const isWritten = await write;
  if (isWritten || during === undefined) return isWritten;
  if ((await backend.read(during.key)) !== during.text) throw new InstallationEnded();
  return false;
}
