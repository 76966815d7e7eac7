import { z } from 'zod';
import { type Collection, GLOBAL, type Store, StoreError } from './store.ts';

const Written = z.object({ release: z.string() });
const RELEASE_ID = 'release';
/** The collection, under `GLOBAL`, of what is known about the store as a whole. */
export const ORIGIN = 'store';

/** The collections, under `GLOBAL`, where 0.1.0 alone kept its jobs and schedules. */
const OF_FIRST_RELEASE = ['jobs', 'schedules'];

/**
 * For the start: leaves in the store which release writes it from now on.
 * @throws StoreError where a newer one wrote it, or one that is too old
 */
export async function takeOver(store: Store, release: string): Promise<void> {
  const wrote = await expectReadable(store, release);
  if (wrote !== release) await originOf(store).put(RELEASE_ID, { release });
}

/**
 * @returns the release that wrote the store
 * @throws StoreError naming both releases, where that one is newer or too old
 */
export async function expectReadable(store: Store, release: string): Promise<string | undefined> {
  const wrote = (await originOf(store).get(RELEASE_ID))?.release;
  if (wrote !== undefined) expectOlder(wrote, release, 'The store');
  else if (await isOfFirstRelease(store))
    throw new StoreError(
      `The store was written by Deckhand 0.1.0, whose jobs and schedules ${release} cannot read. Move it away to start empty, or start 0.1.0.`,
    );
  return wrote;
}

function originOf(store: Store): Collection<z.infer<typeof Written>> {
  return store.of(GLOBAL).collection(ORIGIN, Written);
}

/** Releases up to 0.2.0 left no word of themselves. */
async function isOfFirstRelease(store: Store): Promise<boolean> {
  for (const name of OF_FIRST_RELEASE)
    if ((await store.of(GLOBAL).collection(name, z.unknown()).latest(1)).length > 0) return true;
  return false;
}

/** @throws StoreError naming both releases, where the one that wrote is newer */
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
