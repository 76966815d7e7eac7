import type { KeyvValue } from 'keyv';
import { StoreError } from '../core/errors.ts';
import { type Envelope, pagesOf, SERIALIZATION } from '../store/documents.ts';
import { type EncryptionKeys, parseEncryptionKeys } from '../store/encryption-keys.ts';
import { ORIGIN } from '../store/open-store.ts';
import { GLOBAL } from '../store/store.ts';
import { type Program, usageError } from './program.ts';
import {
  ALL,
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

Moves everything from one store into another, empty one. Then counts it there and opens every sealed value with
ENCRYPTION_KEYS. It works in either direction. Stop Deckhand first. Afterwards set STORE_URL to the new store, and never start
Deckhand on both: both would post. If it is interrupted, empty the new store and run it again.
`,
  async main({ env, options: { from, to } }) {
    if (typeof from !== 'string' || typeof to !== 'string')
      throw usageError('Give --from and --to, each with the address of a store');
    expectThere(from, 'Give --from the file of a store');
    if (describeStore(from) === describeStore(to)) throw usageError('Give two different stores');
    const keys = parseEncryptionKeys(env.ENCRYPTION_KEYS ?? '');
    for (const url of [from, to]) await expectStopped(url);
    return withSide(from, 'alone', (source) => withSide(to, 'alone', (target) => move(source, target, keys)));
  },
};

async function move(source: Side, target: Side, keys: EncryptionKeys): Promise<string> {
  const name = describeStore(target.url);
  await expectEmpty(target, name);
  const documents = await moveDocuments(source, target);
  const jobs = await moveJobs(source, target);
  const contents = await readBack(target, keys);
  if (contents.documents !== documents || contents.jobs !== jobs)
    throw new StoreError(`${name} did not take everything. Empty it, and run this again.`);
  return `${describeContents(name, contents)}\nSet STORE_URL to it, and do not start Deckhand on the old store again: both would post.`;
}

/** Collections that Deckhand writes before anybody uses it. */
const HOUSEKEEPING = [ORIGIN, 'service-descriptions', 'pings', 'key-proofs'].map(
  (collection) => `${GLOBAL}/${collection}/`,
);

async function expectEmpty({ store, jobs }: Side, name: string): Promise<void> {
  const keys: string[] = [];
  for await (const rows of pagesOf(store.database, ALL)) keys.push(...rows.map(({ key }) => key));
  const isUsed = keys.some((key) => !HOUSEKEEPING.some((prefix) => key.startsWith(prefix)));
  if (isUsed || (await countJobs(jobs)) > 0)
    throw new StoreError(`${name} is not empty. Give an empty store, such as a new file or database.`);
  await store.database.keyv.deleteMany(keys);
}

/** Expired documents stay behind. @returns the number of documents moved */
async function moveDocuments({ store: source }: Side, { store: target }: Side): Promise<number> {
  const now = Date.now();
  let moved = 0;
  for await (const rows of pagesOf(source.database, ALL)) {
    const all = rows.map(({ key, value }) => {
      return { key, value: SERIALIZATION.parse<KeyvValue<Envelope>>(value) as KeyvValue<Envelope> };
    });
    const entries = all.filter(({ value: { expires } }) => !expires || expires > now);
    await target.database.keyv.setManyRaw(entries);
    moved += entries.length;
  }
  return moved;
}

/** Moves jobs that wait or run. @returns their number */
async function moveJobs({ jobs: source }: Side, { jobs: target }: Side): Promise<number> {
  let moved = 0;
  for await (const { queue: name, ...job } of source.all()) {
    await target.insert({ name }, job);
    moved += 1;
  }
  return moved;
}
