import { z } from 'zod';
import { type Collection, GLOBAL, type Store, StoreError } from './store.ts';

/** The collection, under `GLOBAL`, of what is known about the store as a whole. */
export const ORIGIN = 'store';

const Written = z.object({ release: z.string() });
/** The store's contents went to another one, from where Deckhand runs now. */
const Moved = z.object({ id: z.string(), to: z.string(), at: z.number() });
export type Moved = z.infer<typeof Moved>;
/** The move that filled this store. */
const Arrived = z.object({ id: z.string() });

const RELEASE_ID = 'release';
export const RELEASE_KEY = `${GLOBAL}/${ORIGIN}/${RELEASE_ID}`;

export function movedFrom(store: Store): Collection<Moved> {
  return store.of(GLOBAL).collection(ORIGIN, Moved);
}
export const MOVED_ID = 'moved';

export function arrivals(store: Store): Collection<z.infer<typeof Arrived>> {
  return store.of(GLOBAL).collection(ORIGIN, Arrived);
}
export const ARRIVED_ID = 'arrived';

/**
 * For the start: leaves in the store which release writes it from now on.
 * @throws StoreError where a newer one wrote it, or where its contents were moved away
 */
export async function takeOver(store: Store, release: string): Promise<void> {
  await expectReadable(store, release);
  const moved = await movedFrom(store).get(MOVED_ID);
  if (moved !== undefined) {
    const day = new Date(moved.at).toISOString().slice(0, 10);
    throw new StoreError(
      `This store was moved to ${moved.to} on ${day}. Set STORE_URL to that one, or repeat npm run migrate if it was interrupted.`,
    );
  }
  const written = store.of(GLOBAL).collection(ORIGIN, Written);
  if ((await written.get(RELEASE_ID))?.release !== release) await written.put(RELEASE_ID, { release });
}

/** @throws StoreError where a newer release wrote the store */
export async function expectReadable(store: Store, release: string): Promise<void> {
  const written = await store.of(GLOBAL).collection(ORIGIN, Written).get(RELEASE_ID);
  if (written !== undefined) expectOlder(written.release, release, 'The store');
}

/** Releases up to 0.2.0 left none. @throws StoreError naming both releases, where the one that wrote is newer */
export function expectOlder(wrote: string, ours: string, what: string): void {
  if (compareReleases(wrote, ours) <= 0) return;
  throw new StoreError(
    `${what} was written by Deckhand ${wrote}, and this is ${ours}. Start ${wrote} or newer, or restore a backup from before the upgrade.`,
  );
}

/** By the three numbers. */
function compareReleases(one: string, other: string): number {
  const [a, b] = [one, other].map((release) => release.split(/[.+-]/, 3).map(Number));
  const differing = a?.findIndex((number, at) => number !== b?.[at]) ?? -1;
  return differing === -1 ? 0 : (a?.[differing] ?? 0) - (b?.[differing] ?? 0);
}
