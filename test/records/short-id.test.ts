import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shortId } from '../../src/records/schedules.ts';

it('short ids have no vowel and no digit that reads as one', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat({ max: 12 }), (seed, attempt) => {
      expect(shortId('d', seed, attempt)).toMatch(/^d[b-df-hjkmnp-tv-xz25679]{3,6}$/);
    }),
  );
});
