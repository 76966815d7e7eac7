import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeFreeId } from '../../src/store/store.ts';

it('short ids have no vowel, no digit that reads as one, and are free', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat({ max: 12 }), (seed, amount) => {
      const taken: string[] = [];
      for (let made = 0; made <= amount; made += 1)
        taken.push(makeFreeId('d', seed, (id) => taken.includes(id)));
      expect(new Set(taken).size).toBe(amount + 1);
      for (const id of taken) expect(id).toMatch(/^d[b-df-hjkmnp-tv-xz25679]{3,7}$/);
    }),
  );
});
