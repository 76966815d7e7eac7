import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { InstallationEnded } from '../core/errors.ts';
import { decrypt, encrypt } from './cipher.ts';
import type { EncryptionKey, EncryptionKeys } from './encryption-keys.ts';
import { type Collection, DATA_KEYS, GLOBAL, type Store } from './store.ts';

/** A sealed value does not open, or a key is missing. Never holds the value or a key. */
export class SealError extends Error {
  readonly code = 'seal_error';
  override readonly name = 'SealError';
}

/** A workspace's stored data key, wrapped by one of `ENCRYPTION_KEYS`. */
export const WrappedKey = z.object({ id: z.string(), wrappedBy: z.string(), wrapped: z.string() });

type WrappedKey = z.infer<typeof WrappedKey>;

export interface DataKey {
  /** Differs from the key of an earlier installation of the workspace. */
  id: string;
  key: KeyObject;
}

const DATA_KEY_BYTES = 32;

export function openWrappedKeys(store: Store): Collection<WrappedKey> {
  return store.of(GLOBAL).collection(DATA_KEYS, WrappedKey);
}

/** The workspace's stored data key, if any. */
export async function readDataKey(
  store: Store,
  keys: EncryptionKeys,
  workspace: string,
): Promise<DataKey | undefined> {
  const wrapped = await openWrappedKeys(store).get(workspace);
  return wrapped && unwrap(keys, workspace, wrapped);
}

/** If two replicas make one at the same time, both use the first. */
export async function makeDataKey(
  store: Store,
  keys: EncryptionKeys,
  workspace: string,
  isInstalled: () => Promise<boolean>,
): Promise<DataKey> {
  if (!(await isInstalled())) throw new InstallationEnded();
  const wrappedKey = wrapKey(
    keys[0],
    workspace,
    randomBytes(6).toString('base64url'),
    randomBytes(DATA_KEY_BYTES),
  );
  await openWrappedKeys(store).create(workspace, wrappedKey);
  const winner = await readDataKey(store, keys, workspace);
  if (winner === undefined) throw new InstallationEnded();
  return winner;
}

/** Wraps the same data key with the first of the keys. */
function rewrap(keys: EncryptionKeys, workspace: string, wrapped: WrappedKey): WrappedKey {
  return wrapKey(keys[0], workspace, wrapped.id, unwrap(keys, workspace, wrapped).key.export());
}

function wrapKey(wrappingKey: EncryptionKey, workspace: string, id: string, key: Buffer): WrappedKey {
  return {
    id,
    wrappedBy: wrappingKey.id,
    wrapped: encrypt(wrappingKey.key, wrapContext(workspace, id), key),
  };
}

/** @throws SealError */
export function unwrap(keys: EncryptionKeys, workspace: string, wrapped: WrappedKey): DataKey {
  const wrappingKey = keys.find((key) => key.id === wrapped.wrappedBy);
  if (wrappingKey === undefined)
    throw new SealError(
      `ENCRYPTION_KEYS lacks ${wrapped.wrappedBy}, which stored credentials are sealed with. Add it behind the first key, then run deckhand rotate-keys before taking it away.`,
    );
  try {
    const key = createSecretKey(
      decrypt(wrappingKey.key, wrapContext(workspace, wrapped.id), wrapped.wrapped),
    );
    return { id: wrapped.id, key };
  } catch (cause) {
    throw new SealError(
      `ENCRYPTION_KEYS has another key under the id ${wrappingKey.id} than the one that stored credentials are sealed with. Put the former key back, and give a new key an id of its own.`,
      { cause },
    );
  }
}

function wrapContext(workspace: string, id: string): string[] {
  return ['data-key', workspace, id];
}

/**
 * Checks at the start that the keys open the stored data keys.
 * @throws SealError with the id of a key that is in use but missing from `ENCRYPTION_KEYS`, or differs there
 */
export async function checkKeys(keys: EncryptionKeys, store: Store): Promise<void> {
  const byKey = Map.groupBy(await openWrappedKeys(store).list(), ({ doc }) => doc.wrappedBy);
  for (const wrapped of byKey.values()) {
    const faults = wrapped.map(({ id, doc }) => sealFault(keys, id, doc));
    // If some data keys open, the key is right and the others are damaged.
    if (!faults.includes(undefined)) throw faults[0];
  }
}

/** The reason why a data key does not open; undefined if it opens. */
function sealFault(keys: EncryptionKeys, workspace: string, wrapped: WrappedKey): SealError | undefined {
  try {
    unwrap(keys, workspace, wrapped);
    return undefined;
  } catch (error) {
    if (error instanceof SealError) return error;
    throw error;
  }
}

/**
 * Wraps every workspace's data key with the first key, also while Deckhand runs. Afterwards the other keys
 * may be removed from `ENCRYPTION_KEYS`. Safe to repeat.
 * @returns the numbers of keys that were re-wrapped, and of those that the first key had wrapped before
 * @throws SealError with the id of a missing or different key; keys that were already re-wrapped stay so
 */
export async function rotateKeys(keys: EncryptionKeys, store: Store) {
  const rotation = { rewrapped: 0, current: 0 };
  const wrapped = openWrappedKeys(store);
  await checkKeys(keys, store);
  for (const { id: workspace } of await wrapped.list()) {
    let changed = false;
    await wrapped.update(workspace, (current) => {
      changed = current !== undefined && current.wrappedBy !== keys[0].id;
      return changed && current !== undefined ? rewrap(keys, workspace, current) : current;
    });
    rotation[changed ? 'rewrapped' : 'current'] += 1;
  }
  return rotation;
}
