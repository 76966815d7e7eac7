import { parseEncryptionKeys } from '../store/encryption-keys.ts';
import { readBackup } from './backup-file.ts';
import { fill } from './fill.ts';
import { describeFilled, type Program, runProgram, UsageError } from './program.ts';
import { openSide } from './side.ts';
import { DEFAULT_STORE, describeStore, expectStopped } from './store-address.ts';

export const RESTORE: Program = {
  name: 'restore',
  options: {},
  help: `Usage: npm run restore -- <file>

Writes a backup into the store of STORE_URL, which must be empty, and opens every sealed value in it with ENCRYPTION_KEYS. Where
it is interrupted, the store stays empty; run it again. Stop the Deckhand that the backup is of first: both would post.
`,
  async run({ env, words }) {
    const [file, ...more] = words;
    if (file === undefined || more.length > 0) throw new UsageError('Give the one file to read');
    const keys = parseEncryptionKeys(env.ENCRYPTION_KEYS ?? '');
    const url = env.STORE_URL || DEFAULT_STORE;
    await expectStopped(url);
    const target = await openSide(url, { mode: 'write', alone: true });
    const name = describeStore(url);
    const filled = await fill(target, readBackup(file), { keys, name }).finally(() => target.close());
    return describeFilled(name, filled);
  },
};

await runProgram(RESTORE, import.meta.filename);
