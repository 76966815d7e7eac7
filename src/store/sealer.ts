import { InstallationEnded } from '../core/errors.ts';
import { type Clock, systemClock } from '../core/time/clock.ts';
import { RecentMap } from '../core/ttl-cache.ts';
import { decrypt, encrypt } from './cipher.ts';
import { type DataKey, makeDataKey, readDataKey, SealError } from './data-keys.ts';
import type { EncryptionKeys } from './encryption-keys.ts';
import type { Store } from './store.ts';

/** Place of a sealed value in its workspace. The value opens nowhere else. */
export interface Field {
  record: string;
  field: string;
}

/** Seals secrets with a data key for each workspace. A key of `ENCRYPTION_KEYS` wraps the data key. */
export type Sealer = ReturnType<typeof createSealer>;

/** Seals secrets of one workspace. */
export type WorkspaceSealer = ReturnType<Sealer['of']>;

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
