import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../../sandbox/slack/block-kit/message.ts';
import type { DeploymentsData } from '../../../src/views/activity/chart.ts';
import { chartBlock, chartImage, chartWords } from '../../../src/views/activity/chart.ts';
import { daysBetween } from '../../../src/views/blocks/days.ts';
import { hostileText } from '../../support/hostile.ts';

const amount = fc.nat(1_000_000_000);
const days: fc.Arbitrary<DeploymentsData['bars']> = fc
  .array(fc.record({ succeeded: amount, failed: amount, cancelled: amount }), { minLength: 1, maxLength: 62 })
  .map((bars) => {
    const names = daysBetween('2026-01-01', '2026-12-31', bars.length);
    return bars.map((bar, at) => ({ ...bar, day: names[at] ?? '' }));
  });
const chart = fc.record({
  title: hostileText,
  zone: fc.constantFrom('UTC', 'America/Argentina/ComodRivadavia'),
  isTruncated: fc.boolean(),
  bars: days,
});

describe('the chart of deployments', () => {
  it('is a block that Slack takes, whatever it shows', () => {
    fc.assert(
      fc.property(chart, (data) => {
        const drawn = chartBlock(data);
        const others = [chartImage(data, 'F1', 500), chartWords(data, 30)];
        const blocks = [...(drawn === undefined ? [] : [drawn]), ...others];
        expect(checkMessageBlocks(blocks)).toEqual([]);
        expect(drawn === undefined).toBe(data.bars.length > 20);
      }),
    );
  });

  it('names weekdays, and what was cancelled only where there is some', () => {
    const bars = [
      { day: '2026-11-19', succeeded: 4, failed: 0, cancelled: 0 },
      { day: '2026-11-20', succeeded: 0, failed: 2, cancelled: 0 },
    ];
    expect(chartBlock({ title: 'acme', zone: 'Europe/Lisbon', isTruncated: false, bars })?.chart).toEqual({
      type: 'bar',
      series: [
        {
          name: 'Succeeded',
          data: [
            { label: 'Thu, Nov 19', value: 4 },
            { label: 'Fri, Nov 20', value: 0 },
          ],
        },
        {
          name: 'Failed',
          data: [
            { label: 'Thu, Nov 19', value: 0 },
            { label: 'Fri, Nov 20', value: 2 },
          ],
        },
      ],
      axis_config: { categories: ['Thu, Nov 19', 'Fri, Nov 20'], x_label: 'Days in Europe/Lisbon' },
    });
  });

  it('says in words what each busy day had, the longest bar first in size', () => {
    const bars = [
      { day: '2026-11-19', succeeded: 4, failed: 0, cancelled: 0 },
      { day: '2026-11-20', succeeded: 0, failed: 0, cancelled: 0 },
      { day: '2026-11-21', succeeded: 0, failed: 1, cancelled: 0 },
    ];
    const words = JSON.stringify(chartWords({ title: 'acme', zone: 'UTC', isTruncated: false, bars }, 30));
    expect(words).toContain(
      `Thu, Nov 19  ${'▇'.repeat(16)} 4 succeeded\\nSat, Nov 21  ${'▇'.repeat(4)} 1 failed`,
    );
  });
});
