import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWithin, WorkingHours } from '../../src/records/schedules.ts';

const DAY: WorkingHours = { from: '09:00', to: '18:00', zone: 'Europe/Lisbon' };
const NIGHT: WorkingHours = { from: '22:00', to: '06:00', zone: 'Europe/Lisbon' };
const WHOLE: WorkingHours = { from: '00:00', to: '24:00', zone: 'Asia/Kolkata' };

describe('working hours', () => {
  it.each<[string, WorkingHours, string, boolean]>([
    ['the first minute counts', DAY, '2026-11-20T09:00:00Z', true],
    ['the minute before does not', DAY, '2026-11-20T08:59:59Z', false],
    ['the end does not', DAY, '2026-11-20T18:00:00Z', false],
    ['the minute before it does', DAY, '2026-11-20T17:59:59Z', true],
    ['Saturday does not', DAY, '2026-11-21T12:00:00Z', false],
    ['Sunday does not', DAY, '2026-11-22T12:00:00Z', false],
    ['Monday does', DAY, '2026-11-23T12:00:00Z', true],
    ['summer time moves them', DAY, '2026-07-17T08:00:00Z', true],
    ['on the day that the clocks go back they are by the clock', DAY, '2026-10-26T08:59:00Z', false],
    ['a night that began on Friday ends on Saturday', NIGHT, '2026-11-21T05:59:00Z', true],
    ['and no later', NIGHT, '2026-11-21T06:00:00Z', false],
    ['no night begins on Saturday', NIGHT, '2026-11-21T23:00:00Z', false],
    ['nor did one on Sunday', NIGHT, '2026-11-23T02:00:00Z', false],
    ['whole days are by the zone, from its Monday', WHOLE, '2026-11-22T18:30:00Z', true],
    ['to its Friday', WHOLE, '2026-11-20T18:30:00Z', false],
  ])('%s', (_, hours, at, expected) => {
    expect(isWithin(hours, Date.parse(at))).toBe(expected);
  });

  it('of a day and of its night never overlap, and leave no minute of a working week out', () => {
    const evening: WorkingHours = { from: '18:00', to: '09:00', zone: 'Europe/Lisbon' };
    const monday = Date.parse('2026-11-23T09:00:00Z');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5 * 24 * 60 - 1 }), (minute) => {
        const at = monday + minute * 60_000;
        const open = [DAY, evening].filter((hours) => isWithin(hours, at));
        expect(open).toHaveLength(1);
      }),
    );
  });

  it('of an unknown zone are not read', () => {
    expect(WorkingHours.safeParse({ ...DAY, zone: 'Mars/Olympus' }).success).toBe(false);
  });
});
