import type { KeyvValue } from 'keyv';
import { StoreError } from '../core/errors.ts';
import { type Envelope, pagesOf, SERIALIZATION } from '../store/documents.ts';
import { ORIGIN } from '../store/open-store.ts';
import { type EncryptionKeys, parseEncryptionKeys } from '../store/sealer.ts';
import { GLOBAL } from '../store/store.ts';
import { type Program, UsageError } from './program.ts';
import {
  ALL,
  collect,
  countJobs,
  describeContents,
  describeStore,
  expectStopped,
  expectThere,
  readBack,
  type Side,
  withSide,
} from './stores.ts';

export const MIGRATE: Program = {
  command: 'deckhand migrate',
  options: { from: { type: 'string' }, to: { type: 'string' } },
  help: `Usage: deckhand migrate --from sqlite://path --to postgres://user:password@host/database

Moves everything from one store into another, empty one, counts it there, and opens every sealed value with ENCRYPTION_KEYS.
Stop Deckhand first. Afterwards set STORE_URL to the new store, and never start Deckhand on both: both would post. Where it is
interrupted, empty the new store and run it again. It works in either direction.
`,
  async run({ env, words, options: { from, to } }) {
    if (typeof from !== 'string' || typeof to !== 'string' || words.length > 0)
      throw new UsageError('Give --from and --to, each with the address of a store');
    expectThere(from);
    if (describeStore(from) === describeStore(to)) throw new UsageError('Give two different stores');
    const keys = parseEncryptionKeys(env.ENCRYPTION_KEYS ?? '');
    for (const url of [from, to]) await expectStopped(url);
    return withSide(from, 'alone', (source) => withSide(to, 'alone', (target) => move(source, target, keys)));
  },
};

async function move(source: Side, target: Side, keys: EncryptionKeys): Promise<string> {
  const name = describeStore(target.url);
  await expectEmpty(target, name);
  const sent = { documents: await moveDocuments(source, target), jobs: await moveJobs(source, target) };
  const contents = await readBack(target, keys);
  if (JSON.stringify(contents.counts) !== JSON.stringify(sent))
    throw new StoreError(`${name} did not take everything. Empty it, and run this again.`);
  return `${describeContents(name, contents)}\nSet STORE_URL to it, and start Deckhand on the old store no more: both would post.`;
}

/** What a Deckhand leaves in a store that has not been used yet. */
const HOUSEKEEPING = [ORIGIN, 'pings', 'key-proofs'].map((collection) => `${GLOBAL}/${collection}/`);

async function expectEmpty({ store, jobs }: Side, name: string): Promise<void> {
  const keys = (await collect(pagesOf(store.database, ALL))).flat().map(({ key }) => key);
  const isUsed = keys.some((key) => !HOUSEKEEPING.some((prefix) => key.startsWith(prefix)));
  if (isUsed || (await countJobs(jobs)) > 0)
    throw new StoreError(
      `${name} is not empty. Give a store that nothing is in, such as a new file or database.`,
    );
  await store.database.keyv.deleteMany(keys);
}

/** @returns how many; what has ended stays behind */
async function moveDocuments({ store: source }: Side, { store: target }: Side): Promise<number> {
  const now = Date.now();
  let moved = 0;
  for await (const rows of pagesOf(source.database, ALL)) {
    const entries = rows
      .map(({ key, value }) => ({
        key,
        value: SERIALIZATION.parse<KeyvValue<Envelope>>(value) as KeyvValue<Envelope>,
      }))
      .filter(({ value: { expires } }) => !expires || expires > now);
    await target.database.keyv.setManyRaw(entries);
    moved += entries.length;
  }
  return moved;
}

/** @returns how many wait or run */
async function moveJobs({ jobs: source }: Side, { jobs: target }: Side): Promise<number> {
  let moved = 0;
  for await (const { queue: name, ...job } of source.all()) {
    await target.insert({ name }, job);
    moved += 1;
  }
  return moved;
}
