import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { optionOf } from '../../src/pictures/deployments-chart-options.ts';
import { drawDeployments } from '../../src/pictures/picture.ts';
import type { DeploymentsData } from '../../src/views/activity/deployments-chart.ts';
import { daysBetween } from '../../src/views/blocks/time.ts';
import { hostileText } from '../support/hostile.ts';
import { byLength } from '../support/length.ts';

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

/** Width and height out of a PNG's first chunk. */
function sizeOf(png: Buffer): { width: number; height: number } {
  expect(png.subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
}

describe('the picture of deployments', () => {
  it('is a PNG, wide and sharp enough for Slack, and higher with the rates under it', async () => {
    const { width, height } = sizeOf(await drawDeployments(WEEK));
    expect(width).toBe(1000);
    expect(height).toBeGreaterThan(550);
    expect(sizeOf(await drawDeployments({ ...WEEK, rates: RATES })).height).toBeGreaterThan(height);
    expect(sizeOf(await drawDeployments({ ...WEEK, rates: RATES.slice(0, 4) })).height).toBe(height);
  });

  it('is the same for the same data, and another for other data', async () => {
    const [one, again, other] = await Promise.all([
      drawDeployments(WEEK),
      drawDeployments(structuredClone(WEEK)),
      drawDeployments({ ...WEEK, zone: 'UTC' }),
    ]);
    expect(one?.equals(again ?? Buffer.alloc(0))).toBe(true);
    expect(one?.equals(other ?? Buffer.alloc(0))).toBe(false);
  });

  it('has letters without any font of the machine', async () => {
    const words = await drawDeployments({ ...WEEK, title: 'iiiiiiiiiiiiiiiiiiii' });
    const others = await drawDeployments({ ...WEEK, title: 'MMMMMMMMMMMMMMMMMMMM' });
    expect(words.equals(others)).toBe(false);
  });

  it('draws a pattern for what failed, and leaves days without deployments empty', () => {
    const { series, legend } = optionOf(WEEK, 'Any');
    const [succeeded, failed] = Array.isArray(series) ? series : [];
    expect(failed).toMatchObject({ name: 'Failed', itemStyle: { decal: expect.anything() } });
    expect(succeeded).toMatchObject({ data: ['-', 1, 2, 3, 4, 5, 6] });
    expect(legend).toMatchObject({ data: ['Succeeded', 'Failed'] });
  });

  it('is drawn for a name that JavaScript knows too, and so is the next', async () => {
    for (const title of ['__proto__', 'constructor', 'acme, today'])
      expect(sizeOf(await drawDeployments({ ...WEEK, title })).width).toBe(1000);
  });

  it('is drawn whatever the data', async () => {
    const amount = fc.oneof(fc.nat(20), fc.nat());
    const dayArbitrary = fc.record({ succeeded: amount, failed: amount, cancelled: amount });
    const rate = fc.option(fc.double({ min: 0, max: 100, noNaN: true }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(dayArbitrary, { maxLength: 62 }),
        fc.array(rate, { maxLength: 30 }),
        hostileText,
        fc.boolean(),
        async (amounts, rates, title, isCut) => {
          const names = daysBetween('2026-01-01', '2026-12-31', amounts.length);
          const png = await drawDeployments({
            title,
            zone: 'UTC',
            isCut,
            bars: amounts.map((amountsOfDay, at) => ({ ...amountsOfDay, day: names[at] ?? '2026-01-01' })),
            rates: rates.map((one) => ({ day: '2026-11-01', rate: one })),
          });
          expect(sizeOf(png).width).toBe(1000);
        },
      ),
      { numRuns: byLength(8, 100) },
    );
  });
});
