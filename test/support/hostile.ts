import fc from 'fast-check';

/** Text as the worst service or person would give it: markup, direction marks, half emoji, and far too much. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.constantFrom(
    '',
    ' ',
    '\u202eevil',
    '<!channel>',
    '<https://evil.example|https://ok.example>',
    '`*_~',
    '&'.repeat(10_000),
    'x'.repeat(10_000),
    '👩‍👩‍👧‍👦'.repeat(500),
    'שלום עולם',
    '\ud800',
  ),
);
