import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRetryAfter } from '../../src/core/retry.ts';

const NOW = Date.UTC(1994, 10, 6, 8, 49, 0);

test.each([
  ['7', 7_000],
  [' 120 ', 120_000],
  ['0', 0],
  ['1.5', 1_500],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
  ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
])('%j waits %i ms', (header, wait) => {
  expect(parseRetryAfter(header, NOW)).toBe(NOW + wait);
});

test.each([
  undefined,
  '',
  '-5',
  'soon',
  '1e3',
  '5 minutes',
  '6 Nov 1994',
  'Sun, 36 Nov 1994 08:49:37 GMT',
  'NaN',
])('%j is no time', (header) => {
  expect(parseRetryAfter(header, NOW)).toBeUndefined();
});

describe('any header', () => {
  test('gives nothing, or a date that is not before now', () => {
    const headers = fc.oneof(fc.string(), fc.nat().map(String), fc.stringMatching(/^\d{1,400}$/));
    fc.assert(
      fc.property(headers, (header) => {
        const at = parseRetryAfter(header, NOW);
        if (at === undefined) return;
        expect(at).toBeGreaterThanOrEqual(NOW);
        expect(Number.isNaN(new Date(at).getTime())).toBe(false);
      }),
    );
  });

  test('reads back every date it is given, to the second', () => {
    const seconds = fc.integer({ min: 1, max: 300 * 24 * 3600 });
    fc.assert(
      fc.property(seconds, (second) => {
        const at = NOW + second * 1000;
        expect(parseRetryAfter(new Date(at).toUTCString(), NOW)).toBe(at);
      }),
    );
  });
});
