import { z } from 'zod';
import type { EncryptionKey, EncryptionKeys } from './encryption-keys.ts';
import { decrypt, encrypt, opensWith, SealError, type WrappedKey, wrappedKeys } from './sealer.ts';
import { type Collection, GLOBAL, type Store } from './store.ts';

/** A text sealed by a key of `ENCRYPTION_KEYS`, by the key's id: another key under that id does not open it. */
const KeyProof = z.object({ proof: z.string() });
type KeyProof = z.infer<typeof KeyProof>;

const TEXT = Buffer.from('deckhand');

type StoredKeys = ReadonlyArray<{ id: string; doc: WrappedKey }>;

function keyProofs(store: Store): Collection<KeyProof> {
  return store.of(GLOBAL).collection('key-proofs', KeyProof);
}

/**
 * For the start.
 * @throws SealError naming each `ENCRYPTION_KEYS` id that is in use but not given, or given with another key
 */
export async function checkKeys(keys: EncryptionKeys, store: Store): Promise<void> {
  const given = new Set(keys.map((key) => key.id));
  const stored = await wrappedKeys(store).list();
  const missing = new Set(stored.map(({ doc }) => doc.wrappedBy).filter((id) => !given.has(id)));
  if (missing.size === 0) return proveKeys(keys, store, stored);
  const names = [...missing].sort().join(', ');
  throw new SealError(
    `ENCRYPTION_KEYS lacks ${names}, which stored credentials are sealed with. Add it behind the first key, then run deckhand rotate-keys before taking it away.`,
  );
}

/**
 * Proves the first key and each that wraps a data key; where there is no proof, it is made, once a data key has opened.
 * @throws SealError naming every id whose key is not the one that it was
 */
export async function proveKeys(keys: EncryptionKeys, store: Store, stored: StoredKeys): Promise<void> {
  const used = keys.filter((key, at) => at === 0 || stored.some(({ doc }) => doc.wrappedBy === key.id));
  const wrong: string[] = [];
  for (const key of used) if (!(await isProven(key, store, stored))) wrong.push(key.id);
  if (wrong.length === 0) return;
  throw new SealError(
    `ENCRYPTION_KEYS has another key under the id ${wrong.join(', ')} than the one that stored credentials are sealed with. Put the former key back, and give a new key an id of its own.`,
  );
}

async function isProven(key: EncryptionKey, store: Store, stored: StoredKeys): Promise<boolean> {
  const proofs = keyProofs(store);
  const known = await proofs.get(key.id);
  if (known !== undefined) return opens(key, known);
  const wrapped = stored.filter(({ doc }) => doc.wrappedBy === key.id);
  const isRight = wrapped.length === 0 || wrapped.some(({ id, doc }) => opensWith(key, id, doc));
  if (!isRight) return false;
  if (await proofs.create(key.id, { proof: encrypt(key.key, contextOf(key), TEXT) })) return true;
  // Another replica was first.
  const winner = await proofs.get(key.id);
  return winner !== undefined && opens(key, winner);
}

/** Takes the proofs of keys away that nothing is sealed with any more, so that their ids are free. */
export async function dropUnusedProofs(
  keys: EncryptionKeys,
  store: Store,
  stored: StoredKeys,
): Promise<void> {
  const used = new Set([keys[0].id, ...stored.map(({ doc }) => doc.wrappedBy)]);
  for (const { id } of await keyProofs(store).list()) if (!used.has(id)) await keyProofs(store).delete(id);
}

function opens(key: EncryptionKey, { proof }: KeyProof): boolean {
  try {
    return decrypt(key.key, contextOf(key), proof).equals(TEXT);
  } catch {
    return false;
  }
}

function contextOf({ id }: EncryptionKey): string[] {
  return ['key-proof', id];
}
