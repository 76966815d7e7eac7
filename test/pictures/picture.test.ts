import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawDeployments } from '../../src/pictures/picture.ts';
import type { DeploymentsData } from '../../src/views/activity/deployments-chart.ts';
import { daysBetween } from '../../src/views/blocks/days.ts';
import { hostileText } from '../support/hostile.ts';
import { byLength } from '../support/length.ts';
import { readPng } from '../support/read-png.ts';

const WEEK: DeploymentsData = {
  title: 'acme, the last 7 days',
  zone: 'Europe/Lisbon',
  isCut: false,
  bars: daysBetween('2026-11-14', '2026-11-20').map((day, at) => ({
    day,
    succeeded: at,
    failed: at % 3,
    cancelled: 0,
  })),
};
const RATES = [80, 90, null, 95.5, 100].map((rate, at) => ({ day: `2026-11-0${at + 1}`, rate }));

const [GREEN, RED, GRAY] = ['#12967a', '#c8414f', '#b9bec9'];

/** How many pixels of a line or column have each color. */
function countColors(
  data: DeploymentsData,
  points: readonly (readonly [x: number, y: number])[],
): Map<string, number> {
  const png = readPng(drawDeployments(data));
  const counts = new Map<string, number>();
  for (const [x, y] of points) counts.set(png.colorAt(x, y), (counts.get(png.colorAt(x, y)) ?? 0) + 1);
  return counts;
}

/** From the top of the bars to their axis, in the middle of one of so many columns. */
function bar(data: DeploymentsData, at: number): Map<string, number> {
  const x = Math.round(85 + (870 * (at + 0.5)) / data.bars.length);
  return countColors(
    data,
    Array.from({ length: 310 }, (_, y) => [x, 145 + y]),
  );
}

function legend(data: DeploymentsData): Map<string, number> {
  return countColors(
    data,
    Array.from({ length: 600 }, (_, x) => [400 + x, 45]),
  );
}

describe('the picture of deployments', () => {
  it('is a PNG, wide and sharp enough for Slack, and higher with the rates under it', () => {
    const { width, height } = readPng(drawDeployments(WEEK));
    expect(width).toBe(1000);
    expect(height).toBeGreaterThan(550);
    expect(readPng(drawDeployments({ ...WEEK, rates: RATES })).height).toBeGreaterThan(height);
    expect(readPng(drawDeployments({ ...WEEK, rates: RATES.slice(0, 4) })).height).toBe(height);
  });

  it('is the same for the same data, and another for other data', () => {
    const picture = drawDeployments(WEEK);
    expect(picture.equals(drawDeployments(structuredClone(WEEK)))).toBe(true);
    expect(picture.equals(drawDeployments({ ...WEEK, zone: 'UTC' }))).toBe(false);
    expect(picture.equals(drawDeployments({ ...WEEK, isCut: true }))).toBe(false);
  });

  it('has letters without any font of the machine', () => {
    const words = drawDeployments({ ...WEEK, title: 'iiiiiiiiiiiiiiiiiiii' });
    const others = drawDeployments({ ...WEEK, title: 'MMMMMMMMMMMMMMMMMMMM' });
    expect(words.equals(others)).toBe(false);
  });

  it('has bars as high as their numbers, stacked by outcome, and none for a day without deployments', () => {
    const [nothing, two, three] = [0, 2, 3].map((at) => bar(WEEK, at));
    expect([...(nothing?.keys() ?? [])].toSorted()).toEqual(['#ececee', '#ffffff']);
    expect((three?.get(GREEN) ?? 0) / (two?.get(GREEN) ?? 0)).toBeCloseTo(3 / 2, 1);
    expect(three?.get(RED)).toBeUndefined();
    expect(two?.get(RED)).toBeGreaterThan(0);
  });

  it('shows one failure among thousands', () => {
    const bars = WEEK.bars.map((day) => ({ ...day, succeeded: 90_000, failed: 1, cancelled: 1 }));
    const colors = bar({ ...WEEK, bars }, 0);
    expect(colors.get(RED)).toBeGreaterThan(0);
    expect(colors.get(GRAY)).toBeGreaterThan(0);
  });

  it('draws a pattern for what failed and for what was cancelled, which needs no eye for color', () => {
    const bars = WEEK.bars.map((day) => ({ ...day, succeeded: 0, failed: 5, cancelled: 5 }));
    const colors = bar({ ...WEEK, bars }, 3);
    expect([...colors.keys()]).toEqual(expect.arrayContaining([RED, '#e9b3b9', GRAY, '#6c727f']));
    expect(colors.has(GREEN)).toBe(false);
  });

  it('explains what was cancelled only where there is some, and nothing where there is nothing', () => {
    const explained = (data: DeploymentsData) =>
      [GREEN, RED, GRAY].map((color) => legend(data).has(color ?? ''));
    expect(explained(WEEK)).toEqual([true, true, false]);
    expect(explained({ ...WEEK, bars: WEEK.bars.map((day) => ({ ...day, cancelled: 1 })) })).toEqual([
      true,
      true,
      true,
    ]);
    expect(explained({ ...WEEK, bars: [] })).toEqual([false, false, false]);
  });

  it('draws past rates as a line with a gap where there were no deployments', () => {
    const rates = [50, 50, null, 50, 50, 50].map((rate, at) => ({ day: `2026-11-0${at + 1}`, rate }));
    const y = 525 + 45 + 105 / 2;
    const colors = (from: number, to: number) =>
      countColors(
        { ...WEEK, rates },
        Array.from({ length: to - from }, (_, x) => [from + x, Math.round(y)]),
      );
    expect([...colors(160, 300).keys()]).toEqual(['#2b5fd9']);
    expect(colors(320, 570).has('#2b5fd9')).toBe(false);
    expect([...colors(600, 880).keys()]).toEqual(['#2b5fd9']);
  });

  it('cuts a title that is wider than the picture', () => {
    const png = readPng(drawDeployments({ ...WEEK, title: 'M'.repeat(79) }));
    const right = Array.from({ length: 40 * 24 }, (_, at) =>
      png.colorAt(960 + (at % 40), 70 + Math.floor(at / 40)),
    );
    expect(new Set(right)).toEqual(new Set(['#ffffff']));
  });

  it('is drawn for a name that JavaScript knows too, and so is the next', () => {
    for (const title of ['__proto__', 'constructor', 'acme, today'])
      expect(readPng(drawDeployments({ ...WEEK, title })).width).toBe(1000);
  });

  it('is drawn whatever the data', () => {
    const amount = fc.oneof(fc.nat(20), fc.nat());
    const dayArbitrary = fc.record({ succeeded: amount, failed: amount, cancelled: amount });
    const rate = fc.option(fc.double({ min: 0, max: 100, noNaN: true }));
    fc.assert(
      fc.property(
        fc.array(dayArbitrary, { maxLength: 62 }),
        fc.array(rate, { maxLength: 30 }),
        hostileText,
        fc.boolean(),
        (amounts, rates, title, isCut) => {
          const names = daysBetween('2026-01-01', '2026-12-31', amounts.length);
          const png = drawDeployments({
            title,
            zone: 'UTC',
            isCut,
            bars: amounts.map((amountsOfDay, at) => ({ ...amountsOfDay, day: names[at] ?? '2026-01-01' })),
            rates: rates.map((one) => ({ day: '2026-11-01', rate: one })),
          });
          expect(readPng(png).width).toBe(1000);
        },
      ),
      { numRuns: byLength(8, 100) },
    );
  });
});
