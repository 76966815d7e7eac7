import type { EncryptionKeys } from './encryption-keys.ts';
import { dropUnusedProofs, proveKeys } from './key-proofs.ts';
import { rewrap, wrappedKeys } from './sealer.ts';
import type { Store } from './store.ts';

export interface Rotation {
  rewrapped: number;
  /** Wrapped by the first key before this run. */
  current: number;
}

/**
 * Wraps every workspace's data key with the first key, while the bot runs. Afterwards the others may be taken
 * out of `ENCRYPTION_KEYS`. Can be run again at any time.
 * @throws SealError naming the key that is missing, or is not the one that it was; what was re-wrapped before it stays so
 */
export async function rotateKeys(keys: EncryptionKeys, store: Store): Promise<Rotation> {
  const rotation: Rotation = { rewrapped: 0, current: 0 };
  const wrapped = wrappedKeys(store);
  await proveKeys(keys, store, await wrapped.list());
  for (const { id: workspace } of await wrapped.list()) {
    let changed = false;
    await wrapped.update(workspace, (current) => {
      changed = current !== undefined && current.wrappedBy !== keys[0].id;
      return changed && current !== undefined ? rewrap(keys, workspace, current) : current;
    });
    rotation[changed ? 'rewrapped' : 'current'] += 1;
  }
  await dropUnusedProofs(keys, store, await wrapped.list());
  return rotation;
}
