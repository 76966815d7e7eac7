import { expect, it } from 'vitest';
import { cachePerQuarterHour } from '../../src/core/quarters.ts';

const minuteOf = (zone: string, instant: number): string =>
  new Date(instant).toLocaleTimeString('en-US', { timeZone: zone, minute: '2-digit', second: '2-digit' });
const hourOf = (zone: string, instant: number): string =>
  new Intl.DateTimeFormat('en-US', { timeZone: zone, hour: '2-digit', day: '2-digit' }).format(instant);

it('what holds throughout a quarter of an hour is asked for three times, and what changes in it each time', () => {
  const asked: number[] = [];
  const remembered = cachePerQuarterHour((zone, instant) => {
    asked.push(instant);
    return hourOf(zone, instant);
  });
  const start = Date.parse('2026-11-20T09:15:00Z');
  for (let second = 0; second < 900; second += 60)
    expect(remembered('Europe/Berlin', start + second * 1000)).toBe(
      hourOf('Europe/Berlin', start + second * 1000),
    );
  expect(asked).toHaveLength(3);

  const changing = cachePerQuarterHour(minuteOf);
  for (const instant of [start, start + 1000, start + 60_000])
    expect(changing('UTC', instant)).toBe(minuteOf('UTC', instant));
});

it('the first and the last instant that there are have their hour', () => {
  const remembered = cachePerQuarterHour(hourOf);
  for (const instant of [-8.64e15, 8.64e15]) expect(remembered('UTC', instant)).toBe(hourOf('UTC', instant));
});
