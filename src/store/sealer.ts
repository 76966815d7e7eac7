import { type Clock, systemClock } from '../core/clock.ts';
import { decrypt, encrypt } from './cipher.ts';
import { type DataKey, ensureDataKey, readDataKey, wrappedKeys } from './data-keys.ts';
import type { EncryptionKeys } from './encryption-keys.ts';
import { proveKeys } from './key-proofs.ts';
import { GLOBAL, type Place, SealError, type Sealer, type Store } from './store.ts';

const VERSION = 'v1';

/** Data keys kept open in memory; briefly, so that an erase by another replica takes effect here too. */
const CACHE_SIZE = 1_000;
const CACHE_MS = 60_000;

/**
 * Seals as `v1.<data key id>.<nonce, text and tag>` with AES-256-GCM, bound to workspace, record and field.
 */
export function createSealer(keys: EncryptionKeys, store: Store, clock: Clock = systemClock): Sealer {
  const cache = createCache(clock);
  return {
    async seal(place, secret, during) {
      // Always the key as it stands: one from memory may belong to an installation that was erased.
      const dataKey = await ensureDataKey(store, keys, place.workspace, during);
      cache.set(place.workspace, dataKey);
      return `${VERSION}.${dataKey.id}.${encrypt(dataKey.key, context(place), Buffer.from(secret))}`;
    },
    async open(place, sealed) {
      const { id, body } = parseSealed(sealed);
      const dataKey = cache.get(place.workspace, id) ?? (await readDataKey(store, keys, place.workspace));
      const opened = openWith(dataKey, place, { id, body });
      if (dataKey !== undefined) cache.set(place.workspace, dataKey);
      return opened;
    },
    forget: (workspace) => cache.forget(workspace),
    check: () => check(keys, store),
  };
}

interface Sealed {
  /** Of the data key. */
  id: string;
  body: string;
}

function parseSealed(sealed: string): Sealed {
  const [version, id, body, ...more] = sealed.split('.');
  if (version !== VERSION || id === undefined || body === undefined || more.length > 0)
    throw new SealError('This is no sealed value');
  return { id, body };
}

/** Opens a value with the workspace's data key as it stands. @throws SealError */
export function openSealed(dataKey: DataKey | undefined, place: Place, sealed: string): string {
  return openWith(dataKey, place, parseSealed(sealed));
}

function openWith(dataKey: DataKey | undefined, place: Place, { id, body }: Sealed): string {
  if (dataKey?.id !== id) throw new SealError('The data key of this value is gone');
  try {
    return decrypt(dataKey.key, context(place), body).toString();
  } catch (cause) {
    throw new SealError(`The sealed ${place.field} was changed or moved here from elsewhere`, { cause });
  }
}

function context(place: Place): string[] {
  return [VERSION, place.workspace, place.record, place.field];
}

async function check(keys: EncryptionKeys, store: Store): Promise<void> {
  const given = new Set(keys.map((key) => key.id));
  const stored = await wrappedKeys(store).list(GLOBAL);
  const missing = new Set(stored.map(({ doc }) => doc.wrappedBy).filter((id) => !given.has(id)));
  if (missing.size === 0) return proveKeys(keys, store, stored);
  const names = [...missing].sort().join(', ');
  throw new SealError(
    `ENCRYPTION_KEYS lacks ${names}, which stored credentials are sealed with. Add it behind the first key, then run npm run rotate-keys before taking it away.`,
  );
}

interface Cache {
  get(workspace: string, id: string): DataKey | undefined;
  set(workspace: string, dataKey: DataKey): void;
  forget(workspace: string): void;
}

function createCache(clock: Clock): Cache {
  const entries = new Map<string, { dataKey: DataKey; until: number }>();
  return {
    get(workspace, id) {
      const entry = entries.get(workspace);
      const left = entry === undefined ? 0 : entry.until - clock.now();
      // Also over when more than its time is left: then the clock was set back.
      return entry?.dataKey.id === id && left > 0 && left <= CACHE_MS ? entry.dataKey : undefined;
    },
    forget: (workspace) => void entries.delete(workspace),
    set(workspace, dataKey) {
      const standing = entries.get(workspace);
      if (standing?.dataKey === dataKey) return;
      entries.delete(workspace);
      entries.set(workspace, { dataKey, until: clock.now() + CACHE_MS });
      const [oldest] = entries.size > CACHE_SIZE ? entries.keys() : [];
      if (oldest !== undefined) entries.delete(oldest);
    },
  };
}
