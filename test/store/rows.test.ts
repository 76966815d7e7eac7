import fc from 'fast-check';
import { Keyv } from 'keyv';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { decode, rowOf } from '../../src/store/backend.ts';

const keyv = new Keyv();
const text = fc.oneof(fc.string(), fc.constantFrom(':', '::', ':tada:', ':base64:aGk=', ':bigint:5', '",":'));
const doc = fc.dictionary(
  text,
  fc.jsonValue({ stringUnit: 'grapheme' }).chain((value) => fc.constantFrom(value, [':x', value])),
);

it('what is stored is the text that keyv makes of it, and is read as it was, colons at the beginning too', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(text, fc.array(text), doc), async (value) => {
      const row = rowOf(systemClock, 'T/c/1', value, undefined);
      const plain = JSON.parse(JSON.stringify({ value: { doc: value } }));
      expect(decode(row.text)).toEqual(plain.value);
      expect(await keyv.decode(row.text)).toEqual(plain);
      expect(row.text).toBe(await keyv.encode({ value: { doc: value } }));
    }),
    { numRuns: 500 },
  );
});
