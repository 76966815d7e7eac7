import { describe, expect, it } from 'vitest';
import { runChaos } from '../chaos/chaos.ts';
import type { StoreKind } from '../chaos/world.ts';

/** Long silences, and clocks that hide occurrences, are for the long form. */
const LONG = /time-out|sleep|set back|set right/;

const MAX_MS = 900_000;

/** A short form of `npm run chaos`. */
describe('while everything goes wrong', () => {
  it.each<StoreKind>(['sqlite', 'postgres'])(
    'nothing on %s is lost, doubled uncounted or wrong',
    async (store) => {
      const { lost, doubled, wrong, dishonest, counts } = await runChaos({
        store,
        seed: 9,
        forMs: 60_000,
        pace: { askMs: 250, happeningMs: 400, digests: 2 },
        weather: { pauseMs: 1_000, scale: 0.25, strikes: (name) => !LONG.test(name) },
        patienceMs: 120_000,
      });
      expect(lost).toEqual([]);
      expect(doubled).toEqual([]);
      expect(wrong).toEqual([]);
      expect(dishonest).toBe(0);
      expect(counts.runs).toBeGreaterThan(0);
    },
    MAX_MS,
  );
});
