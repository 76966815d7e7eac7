import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextOccurrence, parseCron } from '../../src/core/time/cron.ts';
import { CronError, listZoneNames, parseZone } from '../../src/core/time/zone.ts';
import { byLength } from '../support/length.ts';

/** Lord Howe moves by half an hour, Casablanca twice around Ramadan, Apia once skipped a whole day. */
const ZONES = [
  'UTC',
  'Europe/Lisbon',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Asia/Kathmandu',
  'America/St_Johns',
  'Pacific/Apia',
];

function timesAfter(cron: string, zone: string, after: string, count: number): string[] {
  const times: string[] = [];
  let at = Date.parse(after);
  for (let n = 0; n < count; n += 1) {
    at = nextOccurrence(cron, zone, at);
    times.push(new Date(at).toISOString().replace(':00.000Z', 'Z'));
  }
  return times;
}

describe('the next occurrences', () => {
  test.each([
    ['day or weekday', '0 0 13 * 5', 'UTC', '2026-02-12T12:00Z', ['2026-02-13T00:00Z', '2026-02-20T00:00Z']],
    ['29 February', '0 0 29 2 *', 'UTC', '2096-03-01T00:00Z', ['2104-02-29T00:00Z']],
    [
      'a skipped time, right after the gap',
      '30 1 * * *',
      'Europe/Lisbon',
      '2026-03-28T02:00Z',
      ['2026-03-29T01:00Z', '2026-03-30T00:30Z'],
    ],
    [
      'many skipped times, once, together with the one that stands there',
      '*/30 * * * *',
      'Europe/Lisbon',
      '2026-03-29T00:00Z',
      ['2026-03-29T00:30Z', '2026-03-29T01:00Z', '2026-03-29T01:30Z'],
    ],
    [
      'every half hour, in both of two hours that have the same name',
      '*/30 * * * *',
      'America/New_York',
      '2026-11-01T05:00Z',
      ['2026-11-01T05:30Z', '2026-11-01T06:00Z', '2026-11-01T06:30Z', '2026-11-01T07:00Z'],
    ],
    [
      'listed hours, in the first of two hours that have the same name',
      '0,30 1-2 * * *',
      'America/New_York',
      '2026-11-01T05:00Z',
      ['2026-11-01T05:30Z', '2026-11-01T07:00Z', '2026-11-01T07:30Z'],
    ],
    [
      'half an hour skipped',
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-03T00:00Z',
      ['2026-10-03T15:30Z', '2026-10-04T15:15Z'],
    ],
    [
      'a skipped day',
      '0 9 * * *',
      'Pacific/Apia',
      '2011-12-29T00:00Z',
      ['2011-12-29T19:00Z', '2011-12-30T10:00Z', '2011-12-30T19:00Z'],
    ],
  ])('%s', (_, cron, zone, after, expected) => {
    expect(timesAfter(cron, zone, after, expected.length)).toEqual(expected);
  });
});

describe('for any schedule, zone and instant', () => {
  const field = (min: number, max: number): fc.Arbitrary<string> =>
    fc.oneof(
      fc.constant('*'),
      fc.integer({ min, max }).map(String),
      fc
        .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
        .map((pair) => pair.sort((a, b) => a - b).join('-')),
      fc.integer({ min: 2, max: Math.min(9, max - min + 1) }).map((step) => `*/${step}`),
    );
  // Of the days only those that every month has.
  const cron = fc
    .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
    .map((fields) => fields.join(' '));
  const zone = fc.constantFrom(...ZONES);
  const instant = fc.integer({ min: Date.parse('2010-01-01'), max: Date.parse('2040-01-01') });

  test('the next occurrence is the same for every instant before it, and there is another after it', () => {
    fc.assert(
      fc.property(
        cron,
        zone,
        instant,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (expression, where, at, part) => {
          const next = nextOccurrence(expression, where, at);
          expect(next).toBeGreaterThan(at);
          const between = at + Math.floor(part * (next - 1 - at));
          expect(nextOccurrence(expression, where, between)).toBe(next);
          expect(nextOccurrence(expression, where, next)).toBeGreaterThan(next);
        },
      ),
      { numRuns: byLength(100, 300) },
    );
  });
});

describe('what a person types', () => {
  test.each([
    ['0 9 * *', 'five fields'],
    ['61 * * * *', 'minute (0-59)'],
    ['0 9 32 * 8', 'day of month (1-31), day of week'],
    ['0 9 31 2 *', 'day of month'],
    ['0 9 * * 5#2', 'five fields'],
    ['0-99999999999 * * * *', 'five fields'],
    ['0 25 * * *', 'hour (0-23)'],
    ['0 9 * xyz *', 'month (1-12 or jan-dec)'],
    ['*/0 * * * *', 'minute (0-59)'],
  ])('“%s” is refused, saying what is wrong: %s', (text, part) => {
    expect(() => parseCron(text)).toThrow(CronError);
    expect(() => parseCron(text)).toThrow(part);
  });

  test.each([
    ['asia/calcutta', 'Asia/Kolkata'],
    ['Europe/Kiev', 'Europe/Kyiv'],
    ['America/Indianapolis', 'America/Indiana/Indianapolis'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
    ['etc/utc', 'UTC'],
    ['america/argentina/rio gallegos', 'America/Argentina/Rio_Gallegos'],
  ])('the zone typed as %s goes by its present name, %s', (typed, zone) => {
    expect(parseZone(typed)).toBe(zone);
  });

  test.each([
    ['BST', '`Europe/London` or `Asia/Dhaka`'],
    ['PST8PDT', '`America/Los_Angeles`'],
    ['UTC-03:30', '`America/St_Johns`'],
    ['+02:00', '`Africa/Cairo`'],
  ])('%s alone is no zone: the cities that it may mean are named, %s', (typed, cities) => {
    expect(() => parseZone(typed)).toThrow(CronError);
    expect(() => parseZone(typed)).toThrow(cities);
  });

  test('every zone can be typed as it is shown, with spaces, in any letter case', () => {
    for (const zone of listZoneNames().keys())
      expect(parseZone(zone.replaceAll('_', ' ').toUpperCase())).toBe(zone);
  });

  test('no zone is listed by two names, and each that is listed is one by which it is known', () => {
    const all = [...listZoneNames()];
    expect(all.length).toBeGreaterThan(400);
    for (const [zone, names] of all) expect([...new Set(names.map(parseZone))]).toEqual([zone]);
  });

  test.each(['', 'Mars/Base', '2', '../etc'])('“%s” is no time zone', (text) => {
    expect(() => parseZone(text)).toThrow('There is no time zone');
  });
});
