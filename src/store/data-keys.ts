import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { decrypt, encrypt } from './cipher.ts';
import type { EncryptionKey, EncryptionKeys } from './encryption-keys.ts';
import { type AskTenancy, type Collection, DATA_KEYS, GLOBAL, SealError, type Store } from './store.ts';

/** A workspace's data key as it is stored: wrapped by one of `ENCRYPTION_KEYS`. */
export const WrappedKey = z.object({ id: z.string(), wrappedBy: z.string(), wrapped: z.string() });
export type WrappedKey = z.infer<typeof WrappedKey>;

export interface DataKey {
  /** Told apart from the key of an earlier installation of the same workspace. */
  id: string;
  key: KeyObject;
}

const DATA_KEY_BYTES = 32;

export function wrappedKeys(store: Store, during?: AskTenancy | undefined): Collection<WrappedKey> {
  return store.collection(DATA_KEYS, WrappedKey, during);
}

/** The workspace's data key as it stands in the store; undefined if the workspace has none. */
export async function readDataKey(
  store: Store,
  keys: EncryptionKeys,
  workspace: string,
): Promise<DataKey | undefined> {
  const wrapped = await wrappedKeys(store).get(GLOBAL, workspace);
  return wrapped && unwrap(keys, workspace, wrapped);
}

/** As `readDataKey`, but makes one where none is; of two replicas that do so at once, one wins. */
export async function ensureDataKey(
  store: Store,
  keys: EncryptionKeys,
  workspace: string,
  during?: AskTenancy | undefined,
): Promise<DataKey> {
  const standing = await readDataKey(store, keys, workspace);
  if (standing !== undefined) return standing;
  const made = wrap(keys[0], workspace, randomBytes(6).toString('base64url'), randomBytes(DATA_KEY_BYTES));
  await wrappedKeys(store, during).create(GLOBAL, workspace, made);
  const winner = await readDataKey(store, keys, workspace);
  if (winner === undefined) throw new SealError('The workspace was erased meanwhile');
  return winner;
}

/** The same data key wrapped by the first of the keys. */
export function rewrap(keys: EncryptionKeys, workspace: string, wrapped: WrappedKey): WrappedKey {
  return wrap(keys[0], workspace, wrapped.id, unwrap(keys, workspace, wrapped).key.export());
}

function wrap(by: EncryptionKey, workspace: string, id: string, key: Buffer): WrappedKey {
  return { id, wrappedBy: by.id, wrapped: encrypt(by.key, context(workspace, id), key) };
}

/** Whether this key wrapped the workspace's data key. */
export function opensWith(by: EncryptionKey, workspace: string, wrapped: WrappedKey): boolean {
  try {
    decrypt(by.key, context(workspace, wrapped.id), wrapped.wrapped);
    return true;
  } catch {
    return false;
  }
}

/** @throws SealError */
export function unwrap(keys: EncryptionKeys, workspace: string, wrapped: WrappedKey): DataKey {
  const by = keys.find((key) => key.id === wrapped.wrappedBy);
  if (by === undefined) throw new SealError(`ENCRYPTION_KEYS lacks the key ${wrapped.wrappedBy}`);
  try {
    const key = createSecretKey(decrypt(by.key, context(workspace, wrapped.id), wrapped.wrapped));
    return { id: wrapped.id, key };
  } catch (cause) {
    const message = `A data key does not open with the key ${by.id} of ENCRYPTION_KEYS; was it replaced under the same id?`;
    throw new SealError(message, { cause });
  }
}

function context(workspace: string, id: string): string[] {
  return ['data-key', workspace, id];
}
