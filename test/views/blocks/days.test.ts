import { expect, it } from 'vitest';
import { formatDay } from '../../../src/core/time/clock.ts';
import { dateName } from '../../../src/views/blocks/formats.ts';

it.each([
  ['2026-11-20T23:30:00Z', 'Europe/Berlin', '2026-11-21', 'Nov 21, 2026'],
  ['0099-06-01T12:00:00Z', 'UTC', '0099-06-01', 'Jun 1, 99'],
  ['+012026-11-20T12:00:00Z', 'UTC', '+012026-11-20', 'Nov 20, 12026'],
  ['+275760-09-12T23:00:00Z', 'Europe/Berlin', '+275760-09-13', 'Sep 13, 275760'],
])('%s in %s is the day %s, by name %s, in whatever zone the machine is', (instant, zone, day, name) => {
  expect(formatDay(zone, instant)).toBe(day);
  expect(dateName(formatDay(zone, instant))).toBe(name);
});
