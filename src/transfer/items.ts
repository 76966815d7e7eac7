import { hash } from 'node:crypto';
import { z } from 'zod';
import { PortableJob, PortableSchedule } from '../jobs/jobs-table.ts';
import { storeFault } from '../store/database-fault.ts';
import { PortableDocument } from '../store/documents-table.ts';
import { ORIGIN, RELEASE_KEY } from '../store/origin.ts';
import { GLOBAL } from '../store/store.ts';
import type { Side } from './side.ts';

/** What a store holds, piece by piece: documents, then schedules, then jobs. */
export const Item = z.union([
  z.object({ document: PortableDocument }),
  z.object({ schedule: PortableSchedule }),
  z.object({ job: PortableJob }),
]);
export type Item = z.infer<typeof Item>;

/** All that stays when the store goes elsewhere: not what has ended, nor what is about this store itself. */
export async function* portableItems(side: Side): AsyncGenerator<Item> {
  const now = Date.now();
  for await (const item of itemsOf(side)) {
    const isOver = 'document' in item && item.document.expires !== null && item.document.expires <= now;
    if (!isOver) yield item;
  }
}

/** @throws StoreError naming the store, where its database fails */
export async function* itemsOf(side: Side): AsyncGenerator<Item> {
  try {
    yield* read(side);
  } catch (error) {
    throw storeFault(side.url, error) ?? error;
  }
}

async function* read({ documents, jobs }: Side): AsyncGenerator<Item> {
  for await (const document of documents.read()) {
    const { key } = document;
    // What is about this store itself stays in it.
    if (!key.startsWith(`${GLOBAL}/${ORIGIN}/`) || key === RELEASE_KEY) yield { document };
  }
  for (const schedule of await jobs.schedules()) yield { schedule };
  for await (const job of jobs.jobs()) yield { job };
}

/** How much there is. */
export const Counts = z.object({ documents: z.number(), schedules: z.number(), jobs: z.number() });
export type Counts = z.infer<typeof Counts>;

/** Counts items, and adds up what each of them is, in whatever order they come. */
export class Tally {
  readonly counts: Counts = { documents: 0, schedules: 0, jobs: 0 };
  #sum = 0n;

  add(item: Item): void {
    if ('document' in item) this.counts.documents += 1;
    else if ('schedule' in item) this.counts.schedules += 1;
    else this.counts.jobs += 1;
    // A job's time is kept as a wait, so it differs by milliseconds.
    const same = 'job' in item ? { job: { ...item.job, due: 0 } } : item;
    this.#sum += hash('sha256', JSON.stringify(same), 'buffer').readBigUInt64BE();
  }

  equals(other: Tally): boolean {
    return this.#sum === other.#sum && JSON.stringify(this.counts) === JSON.stringify(other.counts);
  }
}

export function describeCounts({ documents, schedules, jobs }: Counts): string {
  return `${amount(documents, 'document')}, ${amount(schedules, 'schedule')} and ${amount(jobs, 'job')}`;
}

function amount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
