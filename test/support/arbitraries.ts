import fc, { type StringConstraints } from 'fast-check';

/** The code points that stand for half a character are no text of their own. */
const [HALVES_FROM, HALVES] = [0xd800, 0x800];

/** Any character, as `unit: 'binary'` has it; that one lists all 1.1 million of them first, which takes a second. */
const anyPoint = fc.integer({ min: 0, max: 0x10ffff - HALVES }).map(
  (index) => String.fromCodePoint(index < HALVES_FROM ? index : index + HALVES),
  (point) => {
    const code = typeof point === 'string' ? point.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== point) throw new Error('not one character');
    return code < HALVES_FROM ? code : code - HALVES;
  },
);

/** Text of any characters at all. */
export function anyText(constraints: Omit<StringConstraints, 'unit'> = {}): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: anyPoint });
}
