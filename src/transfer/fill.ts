import { storeFault } from '../store/database-fault.ts';
import type { EncryptionKeys } from '../store/encryption-keys.ts';
import { ARRIVED_ID, ORIGIN } from '../store/origin.ts';
import { GLOBAL, StoreError } from '../store/store.ts';
import { type Counts, type Item, itemsOf, Tally } from './items.ts';
import { SealCheck } from './seals.ts';
import type { Side } from './side.ts';

export interface Filled {
  counts: Counts;
  /** How many sealed values were opened where they are now. */
  opened: number;
  /** What did not open; it is as it was. */
  shut: readonly string[];
}

export interface FillOptions {
  keys: EncryptionKeys;
  /** How the operator calls the store in a sentence. */
  name: string;
  /** Names the move, where it is one. */
  move?: string;
  /** Called when all is there and verified, right before it stays. */
  beforeCommit?: () => Promise<void>;
}

const BATCH = 500;
/** What a Deckhand leaves in a store that has not been used yet. */
const HOUSEKEEPING = [ORIGIN, 'pings', 'key-proofs'].map((collection) => `${GLOBAL}/${collection}/`);

/**
 * Writes everything into an empty store, reads it back, counts it and opens every seal; all in one transaction, so that
 * after an interruption the store is as empty as before.
 * @throws StoreError naming the store, where its database fails
 */
export async function fill(target: Side, items: AsyncIterable<Item>, options: FillOptions): Promise<Filled> {
  return fillAll(target, items, options).catch((error) => {
    throw storeFault(target.url, error) ?? error;
  });
}

async function fillAll(target: Side, items: AsyncIterable<Item>, options: FillOptions): Promise<Filled> {
  await expectEmpty(target, options.name);
  await target.documents.clear();
  const sent = await write(target, items);
  const { found, seals } = await readBack(target, options.keys);
  if (!found.equals(sent))
    throw new StoreError(`${options.name} did not take everything. It is empty again; try once more.`);
  const { move } = options;
  if (move !== undefined) await target.documents.add([arrived(move)]);
  await options.beforeCommit?.();
  await target.commit();
  return { counts: found.counts, opened: seals.opened, shut: seals.shut };
}

async function expectEmpty(target: Side, name: string): Promise<void> {
  for await (const item of itemsOf(target)) {
    const isHousekeeping =
      'document' in item && HOUSEKEEPING.some((prefix) => item.document.key.startsWith(prefix));
    if (isHousekeeping) continue;
    throw new StoreError(
      `${name} is not empty. Give a store that nothing is in, such as a new file or database.`,
    );
  }
}

async function write(target: Side, items: AsyncIterable<Item>): Promise<Tally> {
  const sent = new Tally();
  let batch: Item[] = [];
  for await (const item of items) {
    sent.add(item);
    batch.push(item);
    if (batch.length < BATCH) continue;
    await writeBatch(target, batch);
    batch = [];
  }
  await writeBatch(target, batch);
  return sent;
}

async function writeBatch({ documents, jobs }: Side, batch: readonly Item[]): Promise<void> {
  await documents.add(batch.flatMap((item) => ('document' in item ? item.document : [])));
  await jobs.addSchedules(batch.flatMap((item) => ('schedule' in item ? item.schedule : [])));
  await jobs.addJobs(batch.flatMap((item) => ('job' in item ? item.job : [])));
}

async function readBack(target: Side, keys: EncryptionKeys): Promise<{ found: Tally; seals: SealCheck }> {
  const found = new Tally();
  const seals = new SealCheck(keys);
  for await (const item of itemsOf(target)) {
    found.add(item);
    seals.add(item);
  }
  return { found, seals };
}

function arrived(id: string): { key: string; value: string; expires: null } {
  const value = JSON.stringify({ value: { doc: { id } } });
  return { key: `${GLOBAL}/${ORIGIN}/${ARRIVED_ID}`, value, expires: null };
}
