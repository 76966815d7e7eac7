import { count } from '../core/mrkdwn.ts';
import { rotateKeys } from '../store/data-keys.ts';
import { parseEncryptionKeys } from '../store/encryption-keys.ts';
import type { Program } from './program.ts';
import { existingStore, withStore } from './stores.ts';

export const ROTATE_KEYS: Program = {
  command: 'deckhand rotate-keys',
  help: `Usage: deckhand rotate-keys

Wraps the data key of every workspace in the store of STORE_URL with the first of ENCRYPTION_KEYS, while Deckhand runs.
Afterwards you can remove the other keys. It can be run again at any time.
`,
  async main({ env }) {
    const keys = parseEncryptionKeys(env.ENCRYPTION_KEYS ?? '');
    const { rewrapped, current } = await withStore(existingStore(env), 'beside', (store) =>
      rotateKeys(keys, store),
    );
    return `${count(rewrapped, 'data key')} wrapped with ${keys[0].id}, ${current} already were.`;
  },
};
