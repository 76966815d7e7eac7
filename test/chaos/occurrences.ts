import type { World } from './world.ts';

const MINUTE = 60_000;
const LOOK_MS = 250;
/** Deckhand notices within half a minute that its clock was set, or when it starts. */
const BLIND_MS = 32_000;
const JUMP_MS = 2_000;
/** For so long an occurrence must have been the latest, with Deckhand and its store well, to be certainly due. */
const CERTAIN_MS = { sqlite: 6_000, postgres: 15_000 } as const;

/** The minutes that passed while digests could be posted: each of them is an occurrence that must not be lost. */
export interface SlotWatch {
  /** The occurrences that were certainly due, with the time since when digests must know of them. */
  due(): number[];
  end(): Promise<void>;
}

/** Watches the clock by which occurrences fall due. Where it jumps, the occurrences in between may be left out, but for the last. */
export function watchOccurrences(world: World, isWell: () => boolean): SlotWatch {
  const wellFor = new Map<number, number>();
  let latest = 0;
  let ahead = world.occurrenceTime() - Date.now();
  let blindUntil = 0;
  const timer = setInterval(() => {
    const occurrence = Math.floor(world.occurrenceTime() / MINUTE) * MINUTE;
    const isNew = occurrence >= latest;
    latest = Math.max(latest, occurrence);
    const nowAhead = world.occurrenceTime() - Date.now();
    if (Math.abs(nowAhead - ahead) > JUMP_MS) blindUntil = Date.now() + BLIND_MS;
    ahead = nowAhead;
    const lastEnd = world.diary.endings.at(-1)?.at ?? 0;
    const isBlind = world.store === 'sqlite' && Date.now() < blindUntil && lastEnd < blindUntil - BLIND_MS;
    // Minutes that come again, because the clock was set back, are over already.
    if (isNew && !isBlind && isWell()) wellFor.set(occurrence, (wellFor.get(occurrence) ?? 0) + LOOK_MS);
  }, LOOK_MS);
  return {
    due: () =>
      [...wellFor].filter(([, ms]) => ms >= CERTAIN_MS[world.store]).map(([occurrence]) => occurrence),
    end: async () => clearInterval(timer),
  };
}
