import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { runChaos } from '../chaos/chaos.ts';
import type { StoreKind } from '../chaos/world.ts';

const { CHAOS_MINUTES = '1', CHAOS_SEED = '9' } = process.env;
const FOR_MS = Number(CHAOS_MINUTES) * 60_000;

describe('while everything goes wrong', () => {
  it.each<StoreKind>(['sqlite', 'postgres'])(
    'nothing on %s is lost, doubled uncounted or wrong',
    async (store) => {
      const { lost, doubled, wrong, explained, asks, happenings, strikes } = await runChaos({
        store,
        seed: Number(CHAOS_SEED),
        forMs: FOR_MS,
        pace: { askMs: 500, happeningMs: 800, faultMs: 4_000 },
      });
      process.stdout.write(
        `${store}: ${asks.length} requests, ${happenings.length} events, ${strikes.length} faults, ` +
          `${explained.length} doubled or lost as Deckhand counted\n`,
      );
      expect({ lost, doubled, wrong }).toEqual({ lost: [], doubled: [], wrong: [] });
    },
    FOR_MS + 900_000,
  );
});
