import { jsonSerializer } from 'keyv';
import { expect, test } from 'vitest';
import { SERIALIZATION } from '../../src/store/documents.ts';

const KEPT = { a: 1, b: ['x', null, true], c: { d: 'a":b', e: ',":', f: '' } };

test.for([
  ['plain text', KEPT],
  ['text that begins with a colon', { ...KEPT, g: ':white_check_mark: done' }],
  ['such text in a list', { ...KEPT, g: [':base64:AAAA', '::', ':bigint:1'] }],
] as const)('a row with %s is as keyv has it', ([, doc]) => {
  const row = { value: { doc }, expires: 5 };
  const text = String(SERIALIZATION.stringify(row));
  expect(text).toBe(jsonSerializer.stringify(row));
  expect(SERIALIZATION.parse(text)).toEqual(row);
});
