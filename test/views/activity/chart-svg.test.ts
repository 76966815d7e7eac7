import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DeploymentsBar, DeploymentsData } from '../../../src/views/activity/chart.ts';
import { chartSvg } from '../../../src/views/activity/chart-svg.ts';
import { daysBetween } from '../../../src/views/blocks/days.ts';
import { hostileText } from '../../support/hostile.ts';

function chart(days: number, change: Partial<DeploymentsData> = {}): DeploymentsData {
  const bars = daysBetween('2026-01-01', '2026-11-20', days).map((day) => ({ day, ...amounts(2) }));
  return { title: 'acme, the last days', zone: 'Europe/Lisbon', isTruncated: false, bars, ...change };
}

function amounts(succeeded: number, failed = 0, cancelled = 0): Omit<DeploymentsBar, 'day'> {
  return { succeeded, failed, cancelled };
}

/** The same amounts on each of seven days. */
function week(...each: Parameters<typeof amounts>): DeploymentsData {
  return chart(7, { bars: chart(7).bars.map(({ day }) => ({ day, ...amounts(...each) })) });
}

function textsIn(svg: string): string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, words = '']) => words);
}

/** The heights of an outcome's bars. */
function heightsOf(svg: string, outcome: string): number[] {
  const boxes = svg.matchAll(
    new RegExp(`<rect class="${outcome}" x="\\d+" y="\\d+" width="\\d+" height="(\\d+)"/>`, 'g'),
  );
  // The first one is in the legend.
  return [...boxes].slice(1).map(([, height]) => Number(height));
}

describe('the picture of deployments per day', () => {
  it.each([
    [2, ['Thu', 'Nov 19', 'Fri', 'Nov 20']],
    [
      7,
      [
        'Sat',
        'Nov 14',
        'Sun',
        'Nov 15',
        'Mon',
        'Nov 16',
        'Tue',
        'Nov 17',
        'Wed',
        'Nov 18',
        'Thu',
        'Nov 19',
        'Fri',
        'Nov 20',
      ],
    ],
    [30, ['Mon', 'Oct 26', 'Mon', 'Nov 2', 'Mon', 'Nov 9', 'Mon', 'Nov 16', 'Fri', 'Nov 20']],
  ])('of %i days names weekdays under its bars', (days, names) => {
    const svg = chartSvg(chart(days));
    const named = textsIn(svg).filter((words) => /^(?:[A-Z][a-z]{2}|(?:Oct|Nov) \d+)$/.test(words));
    expect(named).toEqual(names);
    expect(heightsOf(svg, 'succeeded')).toHaveLength(days);
  });

  it.each([
    [
      'what was asked',
      {},
      [
        'Deployments per day',
        'acme, the last days',
        '14 deployments: 14 succeeded',
        'Days in Europe/Lisbon.',
      ],
    ],
    [
      'what is missing',
      { isTruncated: true },
      ['Days in Europe/Lisbon. The service lists its latest events only: from Nov 14 on.'],
    ],
    ['markup as words', { title: '<script> & "acme"' }, ['&lt;script&gt; &amp; "acme"']],
    ['no control or direction marks', { title: 'ac\u0000me\u202e \u2066gpj' }, ['acme gpj']],
    ['letters that are composed', { title: 'C\u030cesko' }, ['Česko']],
    ['what is too long, cut', { title: 'a'.repeat(200) }, [`${'a'.repeat(89)}…`]],
  ])('says %s', (_what, change, expected) => {
    expect(textsIn(chartSvg(chart(7, change)))).toEqual(expect.arrayContaining(expected));
  });

  it('leaves out a name of which the font lacks a letter', () => {
    for (const title of ['مشروع in acme', '日本', 'acme 🚀', 'a\ufffeb'])
      expect(textsIn(chartSvg(chart(7, { title }))).slice(0, 2)).toEqual(
        ['Deployments per day', '14 deployments: 14 succeeded'].toSorted((one) =>
          one.startsWith('D') ? -1 : 1,
        ),
      );
  });

  it.each<[string, DeploymentsData, [succeeded: number, failed: number, cancelled: number]]>([
    ['as high as their numbers', week(3, 1), [184, 60, 0]],
    ['high enough to see one failure among many', week(90_000, 1, 1), [231, 4, 4]],
  ])('has bars %s', (_what, data, [succeeded, failed, cancelled]) => {
    const svg = chartSvg(data);
    expect(heightsOf(svg, 'succeeded')[0]).toBe(succeeded);
    expect(heightsOf(svg, 'failed')[0]).toBe(failed);
    expect(heightsOf(svg, 'cancelled')[0] ?? 0).toBe(cancelled);
  });

  it('has no bar and no number for a day without deployments', () => {
    const [first, ...rest] = week(3, 1).bars;
    const svg = chartSvg(chart(7, { bars: [{ ...first, day: '2026-11-14', ...amounts(0) }, ...rest] }));
    expect(heightsOf(svg, 'succeeded')).toHaveLength(6);
    expect(textsIn(svg).filter((words) => words === '0')).toHaveLength(1);
  });

  it('says totals and failures over its bars, huge ones short', () => {
    const words = textsIn(chartSvg(week(90_000, 1_250)));
    expect(words).toEqual(expect.arrayContaining(['91.3K', '1.3K failed']));
  });

  it('is a picture of words and shapes alone, whatever the data', () => {
    const amount = fc.oneof(fc.nat(20), fc.nat());
    const bars = fc.array(fc.tuple(amount, amount, amount), { maxLength: 62 });
    fc.assert(
      fc.property(bars, hostileText, fc.boolean(), (days, title, isTruncated) => {
        const names = daysBetween('2026-01-01', '2026-12-31', days.length);
        const data = days.map((each, at) => ({ day: names[at] ?? '', ...amounts(...each) }));
        const svg = chartSvg(chart(7, { title, isTruncated: isTruncated, bars: data }));
        const tags = new Set([...svg.matchAll(/<\/?([^ >/]+)/g)].map(([, tag]) => tag));
        expect([...tags].filter((tag) => !TAGS.has(tag ?? ''))).toEqual([]);
        expect(svg).not.toMatch(/NaN|Infinity|undefined/);
        expect(svg).not.toMatch(INVALID);
      }),
    );
  });
});

const TAGS = new Set(['svg', 'style', 'pattern', 'path', 'circle', 'rect', 'text']);
/** What no XML holds. */
const INVALID = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
