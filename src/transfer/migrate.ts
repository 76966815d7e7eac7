import { randomUUID } from 'node:crypto';
import { parseEncryptionKeys } from '../store/encryption-keys.ts';
import { ARRIVED_ID, arrivals, MOVED_ID, type Moved, movedFrom } from '../store/origin.ts';
import { StoreError } from '../store/store.ts';
import { fill } from './fill.ts';
import { portableItems } from './items.ts';
import { describeFilled, type Program, runProgram, UsageError } from './program.ts';
import { openSide, type Side } from './side.ts';
import { describeStore, expectStopped, expectThere } from './store-address.ts';

export const MIGRATE: Program = {
  name: 'migrate',
  options: { from: { type: 'string' }, to: { type: 'string' } },
  help: `Usage: npm run migrate -- --from sqlite://path --to postgres://user:password@host/database

Moves everything from one store into another, empty one, counts it there, and opens every sealed value with ENCRYPTION_KEYS.
Stop Deckhand first. Afterwards set STORE_URL to the new store; Deckhand no longer starts on the old one, so that nothing is
posted twice. Where it is interrupted, run it again. It works in either direction.
`,
  async run({ env, words, options: { from, to } }) {
    if (typeof from !== 'string' || typeof to !== 'string' || words.length > 0)
      throw new UsageError('Give --from and --to, each with the address of a store');
    expectThere(from);
    if (describeStore(from) === describeStore(to)) throw new UsageError('Give two different stores');
    const keys = parseEncryptionKeys(env.ENCRYPTION_KEYS ?? '');
    for (const url of [from, to]) await expectStopped(url);
    const source = await openSide(from, { mode: 'read', alone: true });
    try {
      const target = await openSide(to, { mode: 'write', alone: true });
      return await move(source, target, { keys, name: describeStore(to) }).finally(() => target.close());
    } finally {
      await source.close();
    }
  },
};

/**
 * The old store says that it was moved before the new one has it, so that at no moment a Deckhand would start on both. What
 * was interrupted in between goes on under the same id.
 */
async function move(
  source: Side,
  target: Side,
  { keys, name }: { keys: ReturnType<typeof parseEncryptionKeys>; name: string },
): Promise<string> {
  const marks = movedFrom(source.store);
  const before = await marks.get(MOVED_ID);
  if (before !== undefined && before.to !== name)
    throw new StoreError(`This store was moved to ${before.to}. Move it on from there.`);
  const arrived = await arrivals(target.store).get(ARRIVED_ID);
  if (before !== undefined && arrived?.id === before.id) return `Everything is in ${name} already.`;
  const mark: Moved = { id: before?.id ?? randomUUID(), to: name, at: Date.now() };
  const filled = await fill(target, portableItems(source), {
    keys,
    name,
    move: mark.id,
    beforeCommit: () => marks.put(MOVED_ID, mark),
  });
  return `${describeFilled(name, filled)}\nSet STORE_URL to it; Deckhand no longer starts on the old store.`;
}

await runProgram(MIGRATE, import.meta.filename);
