import type { World } from './world.ts';

const MINUTE = 60_000;
const LOOK_MS = 250;
/** Deckhand notices within half a minute that its clock was set, or when it starts. */
const BLIND_MS = 32_000;
const JUMP_MS = 2_000;
/** For so long a slot must have been the latest, with Deckhand and its store well, to be certainly due. */
const CERTAIN_MS = { sqlite: 6_000, postgres: 15_000 } as const;

/** The minutes that passed while digests could be posted: each of them is a slot that must not be lost. */
export interface SlotWatch {
  /** The slots that were certainly due, with the time since when digests must know of them. */
  due(): number[];
  end(): Promise<void>;
}

/** Watches the clock by which slots fall due. Where it jumps, the slots in between may be left out, but for the last. */
export function watchSlots(world: World, isWell: () => boolean): SlotWatch {
  const wellFor = new Map<number, number>();
  let latest = 0;
  let ahead = world.slotTime() - Date.now();
  let blindUntil = 0;
  const timer = setInterval(() => {
    const slot = Math.floor(world.slotTime() / MINUTE) * MINUTE;
    const isNew = slot >= latest;
    latest = Math.max(latest, slot);
    const nowAhead = world.slotTime() - Date.now();
    if (Math.abs(nowAhead - ahead) > JUMP_MS) blindUntil = Date.now() + BLIND_MS;
    ahead = nowAhead;
    const lastEnd = world.diary.endings.at(-1)?.at ?? 0;
    const isBlind = world.store === 'sqlite' && Date.now() < blindUntil && lastEnd < blindUntil - BLIND_MS;
    // Minutes that come again, because the clock was set back, are over already.
    if (isNew && !isBlind && isWell()) wellFor.set(slot, (wellFor.get(slot) ?? 0) + LOOK_MS);
  }, LOOK_MS);
  return {
    due: () => [...wellFor].filter(([, ms]) => ms >= CERTAIN_MS[world.store]).map(([slot]) => slot),
    end: async () => clearInterval(timer),
  };
}
