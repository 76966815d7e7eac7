import { existsSync, realpathSync } from 'node:fs';
import { type EncryptionKeys, EncryptionKeysError, parseEncryptionKeys } from './encryption-keys.ts';
import { dropUnusedProofs, proveKeys } from './key-proofs.ts';
import { openStore } from './open-store.ts';
import { rewrap, wrappedKeys } from './sealer.ts';
import { SealError, type Store, StoreError } from './store.ts';

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
    await wrapped.update(workspace, (standing) => {
      changed = standing !== undefined && standing.wrappedBy !== keys[0].id;
      return changed && standing !== undefined ? rewrap(keys, workspace, standing) : standing;
    });
    rotation[changed ? 'rewrapped' : 'current'] += 1;
  }
  await dropUnusedProofs(keys, store, await wrapped.list());
  return rotation;
}

/** `npm run rotate-keys`: reads `STORE_URL` and `ENCRYPTION_KEYS`. */
async function main(env: NodeJS.ProcessEnv): Promise<number> {
  try {
    const keys = parseEncryptionKeys(env.ENCRYPTION_KEYS ?? '');
    const url = env.STORE_URL || 'sqlite://data/deckhand.sqlite';
    const store = await openStore(url, { alone: false });
    const { rewrapped, current } = await rotateKeys(keys, store).finally(() => store.close());
    process.stdout.write(
      `${rewrapped} data keys re-wrapped with ${keys[0].id}, ${current} were so already.\n`,
    );
    return 0;
  } catch (error) {
    if (!isExpected(error)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error instanceof EncryptionKeysError ? 78 : 1;
  }
}

function isExpected(error: unknown): error is Error {
  return error instanceof EncryptionKeysError || error instanceof SealError || error instanceof StoreError;
}

// The path may lead through a link, such as that of the current release.
if (import.meta.filename === realpathSync(process.argv[1] ?? '.')) {
  if (existsSync('.env')) process.loadEnvFile();
  process.exitCode = await main(process.env);
}
