import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../../sandbox/slack/block-kit/message.ts';
import type { KnownBlock, Message } from '../../../src/core/message.ts';
import { daysBetween } from '../../../src/core/time/clock.ts';
import type { DeploymentsBar, DeploymentsData } from '../../../src/service/activity.ts';
import { chartBlock, chartWords, withCharts } from '../../../src/views/activity/chart.ts';

const amount = fc.nat(1_000_000_000);
const days: fc.Arbitrary<DeploymentsData['bars']> = fc
  .array(fc.record({ succeeded: amount, failed: amount, cancelled: amount }), { minLength: 1, maxLength: 62 })
  .map((bars) => {
    const names = daysBetween('2026-01-01', '2026-12-31', bars.length);
    return bars.map((bar, at) => ({ ...bar, day: names[at] ?? '' }));
  });
const chart = fc.record({
  zone: fc.constantFrom('UTC', 'America/Argentina/ComodRivadavia'),
  isTruncated: fc.boolean(),
  bars: days,
});

function dataOf(...bars: DeploymentsBar[]): DeploymentsData {
  return { zone: 'Europe/Lisbon', isTruncated: false, bars };
}

const day = (name: string, succeeded = 0, failed = 0): DeploymentsBar => ({
  day: name,
  succeeded,
  failed,
  cancelled: 0,
});

describe('the chart of deployments', () => {
  it('is a block that Slack takes, whatever it shows, and leaves no deployment out', () => {
    fc.assert(
      fc.property(chart, (data) => {
        const drawn = chartBlock(data);
        expect(checkMessageBlocks([drawn, chartWords(data, 30)])).toEqual([]);
        const [succeeded] = drawn.chart.series;
        const shown = succeeded?.data.reduce((sum, { value }) => sum + value, 0);
        expect(shown).toBe(data.bars.reduce((sum, bar) => sum + bar.succeeded, 0));
      }),
    );
  });

  it('names weekdays, and what was cancelled only where there is some', () => {
    const { title, chart } = chartBlock(dataOf(day('2026-11-19', 4), day('2026-11-20', 0, 2)));
    expect(title).toBe('Deployments per day');
    expect(chart).toEqual({
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

  it.each([
    ['2026-11-01', 20, 'Deployments per day', 'Sun, Nov 1', 'Fri, Nov 20'],
    ['2026-10-31', 11, 'Deployments, 2 days a bar', 'Sat, Oct 31', 'Nov 19–20'],
    ['2026-10-22', 15, 'Deployments, 2 days a bar', 'Oct 22–23', 'Nov 19–20'],
    ['2026-09-20', 16, 'Deployments, 4 days a bar', 'Sep 20–21', 'Nov 17–20'],
  ])('from %s has %i bars, the last of which ends today', (from, count, title, first, last) => {
    const bars = daysBetween(from, '2026-11-20').map((name) => day(name, 1));
    const drawn = chartBlock(dataOf(...bars));
    const { categories } = drawn.chart.axis_config;
    expect([drawn.title, categories.length]).toEqual([title, count]);
    expect([categories[0], categories.at(-1)]).toEqual([first, last]);
  });

  it('names both months of a bar that has the end of one', () => {
    const bars = daysBetween('2026-10-10', '2026-11-10').map((name) => day(name, 1));
    expect(chartBlock(dataOf(...bars)).chart.axis_config.categories).toContain('Oct 30–31');
    expect(chartBlock(dataOf(...bars.slice(0, -1))).chart.axis_config.categories).toContain('Oct 31–Nov 1');
  });

  it('says in words what each busy day had, the longest bar first in size', () => {
    const data = dataOf(day('2026-11-19', 4), day('2026-11-20'), day('2026-11-21', 0, 1));
    expect(JSON.stringify(chartWords(data, 30))).toContain(
      `Thu, Nov 19  ${'▇'.repeat(16)} 4 succeeded\\nSat, Nov 21  ${'▇'.repeat(4)} 1 failed`,
    );
  });
});

describe('a message with charts', () => {
  const busy = dataOf(day('2026-11-19', 1), day('2026-11-20', 2));
  const build = (charts: ReadonlyMap<string, KnownBlock>): Message => ({
    text: [...charts.keys()].join(),
    blocks: [...charts.values()],
  });
  const typesOf = (message: Message | undefined) => message?.blocks.map(({ type }) => type);

  it('has the two that Slack draws and words for others, and words alone where Slack refuses charts', () => {
    const message = withCharts(new Map(['a', 'b', 'c'].map((name) => [name, busy])), build);
    expect(message.text).toBe('a,b,c');
    expect(typesOf(message)).toEqual(['data_visualization', 'data_visualization', 'section']);
    expect(typesOf(message.fallback?.())).toEqual(['section', 'section', 'section']);
  });

  it.each([
    ['a single day, whose figures the message has', dataOf(day('2026-11-20', 3))],
    ['no deployments', dataOf(day('2026-11-19'), day('2026-11-20'))],
  ])('has none of %s', (_what, data) => {
    expect(withCharts(new Map([['a', data]]), build)).toEqual({ text: '', blocks: [] });
  });
});
