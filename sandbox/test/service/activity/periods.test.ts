import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { periodOf, RANGES, type Range, readRange } from '../../../service/activity/periods.ts';

function at(text: string): number {
  return Date.parse(text);
}

function inWords(range: Range, now: string, zone: string) {
  const { from, to, previous } = periodOf(range, at(now), zone);
  const text = (ms: number) => new Date(ms).toISOString();
  return { from: text(from), to: text(to - 1), before: [text(previous.from), text(previous.to - 1)] };
}

describe('a range', () => {
  test.each<[Range, string, string, string, [string, string]]>([
    // Wednesday morning: yesterday up to the same time, last week up to Wednesday.
    [
      'today',
      '2026-03-11T09:30:00Z',
      'UTC',
      '2026-03-11T00:00:00.000Z',
      ['2026-03-10T00:00:00.000Z', '2026-03-10T09:30:00.000Z'],
    ],
    [
      'this_week',
      '2026-03-11T09:30:00Z',
      'UTC',
      '2026-03-09T00:00:00.000Z',
      ['2026-03-02T00:00:00.000Z', '2026-03-04T09:30:00.000Z'],
    ],
    // On a Monday the week has just begun; on a Sunday it is nearly over.
    [
      'this_week',
      '2026-03-09T00:30:00Z',
      'UTC',
      '2026-03-09T00:00:00.000Z',
      ['2026-03-02T00:00:00.000Z', '2026-03-02T00:30:00.000Z'],
    ],
    [
      'this_week',
      '2026-03-15T23:59:59Z',
      'UTC',
      '2026-03-09T00:00:00.000Z',
      ['2026-03-02T00:00:00.000Z', '2026-03-08T23:59:59.000Z'],
    ],
    // Days begin where the account is: it is still Tuesday in New York.
    [
      'today',
      '2026-03-11T02:00:00Z',
      'America/New_York',
      '2026-03-10T04:00:00.000Z',
      ['2026-03-09T04:00:00.000Z', '2026-03-10T02:00:00.000Z'],
    ],
    // Lisbon's clocks went forward on Sunday 29 March 2026, a day of 23 hours.
    [
      'today',
      '2026-03-30T12:00:00Z',
      'Europe/Lisbon',
      '2026-03-29T23:00:00.000Z',
      ['2026-03-29T00:00:00.000Z', '2026-03-29T13:00:00.000Z'],
    ],
    [
      'today',
      '2026-03-30T22:59:00Z',
      'Europe/Lisbon',
      '2026-03-29T23:00:00.000Z',
      ['2026-03-29T00:00:00.000Z', '2026-03-29T22:59:59.999Z'],
    ],
  ])('%s at %s in %s', (range, now, zone, from, before) => {
    expect(inWords(range, now, zone)).toEqual({ from, to: new Date(at(now)).toISOString(), before });
  });

  test.each<[Range, number]>([
    ['last_7_days', 7],
    ['last_30_days', 30],
  ])('%s is compared with as many days right before', (range, days) => {
    const now = at('2026-03-11T09:30:00Z');
    const { from, to, previous } = periodOf(range, now, 'UTC');
    expect({ length: to - from, before: previous.to }).toEqual({ length: days * 86_400_000, before: from });
    expect(previous.to - previous.from).toBe(to - from);
  });

  test.each([
    ['today', 'today'],
    ['this_week', 'this_week'],
    [undefined, 'last_7_days'],
    ['', 'last_7_days'],
    ['THIS_WEEK', 'last_7_days'],
    ['constructor', 'last_7_days'],
  ])('%j is read as %s', (text, range) => {
    expect(readRange(text)).toBe(range);
  });
});

test('whatever the time and zone, now is inside, and nothing is counted twice', () => {
  const zones = fc.constantFrom('UTC', 'Europe/Lisbon', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Apia');
  const times = fc.integer({ min: at('2000-01-01T00:00:00Z'), max: at('2040-01-01T00:00:00Z') });
  fc.assert(
    fc.property(fc.constantFrom(...RANGES), times, zones, (range, now, zone) => {
      const { from, to, previous } = periodOf(range, now, zone);
      expect(from).toBeLessThanOrEqual(now);
      expect(to).toBe(now + 1);
      expect(previous.to).toBeLessThanOrEqual(from);
      expect(previous.from).toBeLessThan(previous.to);
      expect(previous.to - previous.from).toBeLessThanOrEqual(to - from);
    }),
  );
});
