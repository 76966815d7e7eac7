import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { InstallationEnded } from '../core/errors.ts';
import { type Clock, systemClock } from '../core/time/clock.ts';
import { RecentMap } from '../core/ttl-cache.ts';
import { type Collection, DATA_KEYS, GLOBAL, type Store } from './store.ts';

/** Place of a sealed value in its workspace. The value opens nowhere else. */
export interface Field {
  record: string;
  field: string;
}

/** Seals secrets with a data key for each workspace. A key of `ENCRYPTION_KEYS` wraps the data key. */
export type Sealer = ReturnType<typeof createSealer>;

/** Seals secrets of one workspace. */
export type WorkspaceSealer = ReturnType<Sealer['of']>;

/** A sealed value does not open, or a key is missing. Never holds the value or a key. */
export class SealError extends Error {
  readonly code = 'seal_error';
  override readonly name = 'SealError';
}

const VERSION = 'v1';

/** Data keys stay in memory only briefly, so that an erase by another replica takes effect. */
const CACHE_SIZE = 1_000;
const CACHE_MS = 60_000;

/** Seals as `v1.<data key id>.<nonce, text and tag>` with AES-256-GCM, bound to workspace, record and field. */
export function createSealer(keys: EncryptionKeys, store: Store, clock: Clock = systemClock) {
  const cache = new RecentMap<string, { dataKey: DataKey; until: number }>(CACHE_SIZE);
  function cached(workspace: string, id: string): DataKey | undefined {
    const { dataKey, until = 0 } = cache.get(workspace) ?? {};
    return dataKey?.id === id && clock.now() < until ? dataKey : undefined;
  }
  function remember(workspace: string, dataKey: DataKey): void {
    if (cache.get(workspace)?.dataKey !== dataKey)
      cache.set(workspace, { dataKey, until: clock.now() + CACHE_MS });
  }
  return {
    /** @param isInstalled called if there is no data key. If it returns false, nothing is sealed any more */
    of: (workspace: string, isInstalled = async () => true) => ({
      /** @throws InstallationEnded */
      async seal(field: Field, secret: string): Promise<string> {
        // Not from memory, because that key may belong to an erased installation.
        const dataKey =
          (await readDataKey(store, keys, workspace)) ??
          (await makeDataKey(store, keys, workspace, isInstalled));
        remember(workspace, dataKey);
        const context = makeContext(workspace, field);
        return `${VERSION}.${dataKey.id}.${encrypt(dataKey.key, context, Buffer.from(secret))}`;
      },
      /**
       * Rejects with `SealError` if the value was moved, changed, or sealed with a missing key.
       * @throws InstallationEnded
       */
      async open(field: Field, sealed: string): Promise<string> {
        const { id } = parseSealed(sealed);
        const dataKey = cached(workspace, id) ?? (await readDataKey(store, keys, workspace));
        if (dataKey === undefined && !(await isInstalled())) throw new InstallationEnded();
        const opened = openSealed(dataKey, workspace, field, sealed);
        if (dataKey !== undefined) remember(workspace, dataKey);
        return opened;
      },
    }),
    /** Drops the workspace's data key from memory. */
    forget: (workspace: string) => void cache.delete(workspace),
  };
}

/** @returns the id of the data key, and the sealed body */
function parseSealed(sealed: string): { id: string; body: string } {
  const [version, id, body, ...more] = sealed.split('.');
  if (version !== VERSION || id === undefined || body === undefined || more.length > 0)
    throw new SealError('This is no sealed value');
  return { id, body };
}

/** Opens a value with the workspace's data key. @throws SealError */
export function openSealed(
  dataKey: DataKey | undefined,
  workspace: string,
  field: Field,
  sealed: string,
): string {
  const { id, body } = parseSealed(sealed);
  if (dataKey?.id !== id) throw new SealError('The data key of this value is gone');
  try {
    return decrypt(dataKey.key, makeContext(workspace, field), body).toString();
  } catch (cause) {
    throw new SealError(`The sealed ${field.field} was changed or moved here from elsewhere`, { cause });
  }
}

function makeContext(workspace: string, { record, field }: Field): string[] {
  return [VERSION, workspace, record, field];
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
async function readDataKey(
  store: Store,
  keys: EncryptionKeys,
  workspace: string,
): Promise<DataKey | undefined> {
  const wrapped = await openWrappedKeys(store).get(workspace);
  return wrapped && unwrap(keys, workspace, wrapped);
}

/** If two replicas make one at the same time, both use the first. */
async function makeDataKey(
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

const ALGORITHM = 'aes-256-gcm';

const NONCE_BYTES = 12;

const TAG_BYTES = 16;

/** AES-256-GCM. @param context binds the text; each part counts, even if empty */
function encrypt(key: KeyObject, context: readonly string[], text: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(encodeContext(context));
  const body = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url');
}

/** @throws if the text was changed, or made with another key or context */
function decrypt(key: KeyObject, context: readonly string[], sealed: string): Buffer {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new RangeError('the sealed text is too short');
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(encodeContext(context))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** JSON, because joined parts would be ambiguous. */
function encodeContext(context: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(context));
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

/** One key of `ENCRYPTION_KEYS`. A `KeyObject` never prints its bytes. */
export interface EncryptionKey {
  id: string;
  key: KeyObject;
}

/** The first key seals; all keys open. */
export type EncryptionKeys = readonly [EncryptionKey, ...EncryptionKey[]];

/** All faults of `ENCRYPTION_KEYS`, by position and id; never holds a key. */
export class EncryptionKeysError extends Error {
  readonly code = 'encryption_keys_error';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`ENCRYPTION_KEYS ${faults.join('; ')}`);
    this.name = 'EncryptionKeysError';
    this.faults = faults;
  }
}

const KEY_BYTES = 32;
const ID = /^[A-Za-z0-9_-]{1,32}$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * Reads `id:base64-of-32-bytes[,id:…]`.
 * @throws EncryptionKeysError with all faults at once
 */
export function parseEncryptionKeys(text: string): EncryptionKeys {
  if (text.trim() === '') throw new EncryptionKeysError(['is not set']);
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .map((entry, index) => parseEntry(entry, `entry ${index + 1}`));
  const faults = entries.flatMap((entry) => (typeof entry === 'string' ? [entry] : []));
  const keys = entries.flatMap((entry) => (typeof entry === 'string' ? [] : [entry]));
  for (const id of findRepeated(keys.map((key) => key.id))) faults.push(`has the id ${id} more than once`);
  const [first, ...rest] = keys;
  if (first === undefined || faults.length > 0) throw new EncryptionKeysError(faults);
  return [first, ...rest];
}

function parseEntry(entry: string, where: string): EncryptionKey | string {
  if (entry === '') return `${where} is empty`;
  const colon = entry.indexOf(':');
  // Without a colon the entry may be the key itself, so no message may quote it.
  if (colon === -1) return `${where} has no id: write id:key`;
  const id = entry.slice(0, colon);
  if (!ID.test(id)) return `${where} has an id of other than 1 to 32 letters, digits, - and _`;
  const encoded = entry.slice(colon + 1);
  if (!BASE64.test(encoded)) return `${where} (${id}) is not base64`;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== KEY_BYTES) return `${where} (${id}) has ${bytes.length} bytes instead of ${KEY_BYTES}`;
  return { id, key: createSecretKey(bytes) };
}

function findRepeated(ids: string[]): Set<string> {
  return new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
}
