import { expect, it } from 'vitest';
import { runChaos } from './digest-chaos.ts';

/** A short form of `npm run chaos -- digests`. */
it('loses no digest to kill -9, and doubles none but where Deckhand itself counts the doubt', async () => {
  const { kills, due, lost, doubled, uncertain } = await runChaos({ kills: 4, digests: 50 });
  expect(kills).toBe(4);
  expect(due).toBe(50);
  expect(lost).toEqual([]);
  expect(doubled.filter((name) => !uncertain.includes(name))).toEqual([]);
}, 120_000);
