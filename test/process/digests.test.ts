import { expect, it } from 'vitest';
import { byLength } from '../support/length.ts';
import { runChaos } from './digest-chaos.ts';

/** A short form of `npm run chaos -- digests`. */
it('loses no digest to kill -9, and doubles none but where Deckhand itself counts the doubt', async () => {
  const digests = byLength(10, 20);
  const amid = byLength<{ amid?: number }>({ amid: 3 }, {});
  const { kills, due, lost, doubled, uncertain } = await runChaos({
    kills: byLength(1, 50),
    digests,
    ...amid,
  });
  expect(kills).toBe(byLength(1, 50));
  expect(due).toBe(digests * byLength(1, 10));
  expect(lost).toEqual([]);
  expect(doubled.filter((name) => !uncertain.includes(name))).toEqual([]);
}, 900_000);
