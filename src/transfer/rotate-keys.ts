import { type Program, UsageError } from '../program.ts';
import { storeFault } from '../store/database-fault.ts';
import { parseEncryptionKeys } from '../store/encryption-keys.ts';
import { openStore } from '../store/open-store.ts';
import { rotateKeys } from '../store/sealer.ts';
import { DEFAULT_STORE, expectThere } from './store-address.ts';

export const ROTATE_KEYS: Program = {
  command: 'deckhand rotate-keys',
  options: {},
  help: `Usage: deckhand rotate-keys

Wraps the data key of every workspace in the store of STORE_URL with the first of ENCRYPTION_KEYS, while Deckhand runs.
Afterwards the other keys may be taken away. It can be run again at any time.
`,
  async run({ env, words }) {
    if (words.length > 0) throw new UsageError('Give nothing behind the name');
    const keys = parseEncryptionKeys(env.ENCRYPTION_KEYS ?? '');
    const url = env.STORE_URL || DEFAULT_STORE;
    expectThere(url);
    const store = await openStore(url, { access: 'beside' });
    const { rewrapped, current } = await rotateKeys(keys, store)
      .catch((error) => {
        throw storeFault(url, error) ?? error;
      })
      .finally(() => store.close());
    return `${rewrapped} data keys re-wrapped with ${keys[0].id}, ${current} were so already.`;
  },
};
