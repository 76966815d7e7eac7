import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../sandbox/slack/block-kit/message.ts';
import type { KnownBlock, Message } from '../../src/core/message.ts';
import { daysBetween } from '../../src/core/time/clock.ts';
import {
  type ActivityEvent,
  type ActivityStats,
  type DeploymentsBar,
  type DeploymentsData,
  deploymentBars,
} from '../../src/service/activity.ts';
import {
  type ActivityAsk,
  activityMessage,
  eventLine,
  statsBlocks,
} from '../../src/views/activity/activity-message.ts';
import { chartBlock, chartWords, withCharts } from '../../src/views/activity/chart.ts';

const ASK: ActivityAsk = { account: 'acme', range: 'last_7_days', stats: false, page: 0, zone: 'UTC' };
const EVENT: ActivityEvent = {
  event: 'deploy_completed',
  properties: { end_ref: 'abcdef0123456789', servers: ['web-1', 'web-2'] },
  project: { name: 'Storefront', permalink: 'storefront', identifier: 'p-1' },
  user: 'Ada',
  created_at: '2026-11-20T12:00:00Z',
};
const onServers = (servers: string[]) => ({ properties: { end_ref: null, servers } });

describe('an event', () => {
  it.each<[string, Partial<ActivityEvent>, string]>([
    ['an unknown type', { event: 'ssl_cert_renewed' }, '*Storefront*  ssl cert renewed'],
    ['a name of JavaScript’s own', { event: 'constructor' }, ':small_blue_diamond: '],
    ['no project', { project: null }, '*no project*'],
    ['no servers', { ...onServers([]), user: null }, '*Storefront*  deploy completed'],
    ['very many servers', onServers(Array.from({ length: 40 }, (_, at) => `web-${at}`)), 'on 40 servers'],
  ])('%s', (_what, change, expected) => {
    expect(eventLine({ ...EVENT, ...change })).toContain(expected);
  });
});

describe('the feed', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ ...EVENT, user: `person ${at}` }));
  const show = (events: ActivityEvent[], change: Partial<ActivityAsk> = {}) =>
    JSON.stringify(
      activityMessage(
        { ...ASK, ...change },
        { events, stats: undefined, since: undefined, gaps: [] },
        PRIVATE,
      ),
    );

  it('is grouped by day in the reader’s zone', () => {
    const events = ['2026-11-20T03:00:00Z', '2026-11-19T12:00:00Z'].map((at) => ({
      ...EVENT,
      created_at: at,
    }));
    expect(show(events)).toMatch(/Friday, Nov 20.*Thursday, Nov 19/);
    expect(show(events, { zone: 'America/New_York' })).not.toContain('Friday');
  });

  it('has pages, and shows the last page of a shorter one', () => {
    expect(show(many(100))).toContain('page 1 of 9');
    expect(show(many(100))).toContain('Older');
    expect(show(many(100))).not.toContain('Newer');
    expect(show(many(100), { page: 8 })).toMatch(/person 99.*Newer/);
    expect(show(many(100), { page: 8 })).not.toContain('Older');
    expect(show(many(3), { page: 7 })).toContain('person 2');
  });

  it('says that nothing happened', () => {
    expect(show([])).toContain('Activity of `acme`, the last 7 days: nothing happened');
  });
});

const PRIVATE = { kind: 'person', isShared: false } as const;
const STATS: ActivityStats = {
  total_deployments: 1234,
  total_deployments_delta: 5,
  success_rate: 95.24,
  success_rate_delta: -1.26,
  avg_duration: '1m 12s',
  active_servers: 7,
};

describe('the figures', () => {
  it.each<[string, Partial<ActivityStats>, string]>([
    ['a fall', {}, '*Success rate*\n95.2 %  ▼ 1.3 points'],
    ['no change', { total_deployments_delta: 0 }, '1,234  no change'],
    ['null', { success_rate: null, success_rate_delta: null }, '*Success rate*\n—'],
    ['nothing to compare with', { success_rate_delta: null }, '95.2 %  —'],
    ['not told', { active_servers: undefined }, '*Active servers now*\nn/a'],
    ['a delta not told', { total_deployments_delta: undefined }, '1,234  n/a'],
    ['almost all', { success_rate: 99.97 }, '99.9 %'],
    ['all', { success_rate: 100 }, '100 %'],
    ['no duration', { avg_duration: null }, '*Average duration*\n—'],
    ['no deployments', { total_deployments: 0, avg_duration: '0s' }, '*Average duration*\n—'],
  ])('%s', (_what, change, expected) => {
    const [tiles] = statsBlocks({ ...STATS, ...change }, 'today');
    const shown = tiles?.type === 'section' ? tiles.fields?.map(({ text }) => text) : [];
    expect(shown?.some((text) => text.includes(expected))).toBe(true);
  });

  it.each([
    ['today', 'Compared with the same part of yesterday'],
    ['last_7_days', 'Compared with the 7 days before'],
    ['last_30_days', 'Compared with the 30 days before'],
    ['this_week', 'Compared with the same part of last week'],
  ] as const)('of %s say what they compare with', (range, expected) => {
    expect(JSON.stringify(statsBlocks(STATS, range))).toContain(expected);
  });
});

const NOW = Date.parse('2026-11-20T12:00:00Z');
const day = (name: string, succeeded = 0, failed = 0, cancelled = 0): DeploymentsBar => ({
  day: name,
  succeeded,
  failed,
  cancelled,
});

describe('deployments by day', () => {
  type Window = Parameters<typeof deploymentBars>[1];
  const count = (events: [at: string, type?: string][], change: Partial<Window> = {}) =>
    deploymentBars(
      events.map(([created_at, type = 'deploy_completed']) => ({ ...EVENT, event: type, created_at })),
      { range: 'this_week', zone: 'UTC', now: NOW, isTruncated: false, ...change },
    );

  it.each([
    ['this_week', 5, '2026-11-16'],
    ['last_7_days', 7, '2026-11-14'],
    ['last_30_days', 30, '2026-10-22'],
  ] as const)('of %s are %i days from %s, also empty ones', (range, amount, first) => {
    const days = count([], { range });
    expect(days).toHaveLength(amount);
    expect([days[0], days.at(-1)]).toEqual([day(first), day('2026-11-20')]);
  });

  it('count how each ended, but neither other events nor deployments that run', () => {
    const ended = [
      'deploy_completed',
      'deploy_completed',
      'deploy_failed',
      'deploy_aborted',
      'deploy_cancelled',
    ];
    const others = ['deploy_started', 'project_created', 'toString'];
    const days = count([...ended, ...others].map((type) => ['2026-11-20T01:00:00Z', type]));
    expect(days.at(-1)).toEqual(day('2026-11-20', 2, 1, 2));
  });

  it('of today are one day, also if the service’s day began before that of the zone', () => {
    const window = { range: 'today', zone: 'America/New_York' } as const;
    const events: [string, string?][] = [['2026-11-20T03:10:00Z'], ['2026-11-20T09:59:59Z', 'deploy_failed']];
    expect(count(events, window)).toEqual([day('2026-11-20', 1, 1)]);
  });

  it('reach as far as a service whose clock is a little ahead', () => {
    const window = { range: 'last_7_days', now: Date.parse('2026-11-20T23:59:59Z') } as const;
    const days = count([['2026-11-21T00:00:01Z'], ['2026-11-22T12:00:00Z']], window);
    expect(days.at(-1)).toEqual(day('2026-11-21', 1));
  });

  it('begin in the zone, also if its clocks change', () => {
    const events: [string][] = [['2026-11-20T03:00:00Z'], ['2026-11-01T05:30:00Z'], ['2026-11-01T06:30:00Z']];
    const days = count(events, { range: 'last_30_days', zone: 'America/New_York' });
    expect(days.filter(({ succeeded }) => succeeded > 0)).toEqual([
      day('2026-11-01', 2),
      day('2026-11-19', 1),
    ]);
    expect(new Set(days.map((one) => one.day)).size).toBe(days.length);
  });

  it('begin with the oldest event of a rolling week, and of a cut feed with its first day', () => {
    expect(count([['2026-11-13T13:00:00Z']], { range: 'last_7_days' })[0]).toEqual(day('2026-11-13', 1));
    const cut = count([['2026-11-19T13:00:00Z']], { range: 'last_30_days', isTruncated: true });
    expect(cut.map((one) => one.day)).toEqual(['2026-11-19', '2026-11-20']);
  });
});

describe('the chart of deployments', () => {
  const dataOf = (...bars: DeploymentsBar[]): DeploymentsData => ({
    zone: 'Europe/Lisbon',
    bars,
  });

  it('names weekdays and the zone', () => {
    const { chart } = chartBlock(dataOf(day('2026-11-19', 4), day('2026-11-20', 0, 2)));
    const categories = ['Thu, Nov 19', 'Fri, Nov 20'];
    expect(chart.axis_config).toEqual({ categories, x_label: 'Days in Europe/Lisbon' });
    expect(chart.series.map(({ name, data }) => [name, ...data.map(({ value }) => value)])).toEqual([
      ['Succeeded', 4, 0],
      ['Failed', 0, 2],
    ]);
  });

  it.each([
    ['2026-11-01', 20, 'Deployments per day', 'Sun, Nov 1', 'Fri, Nov 20'],
    ['2026-10-31', 11, 'Deployments, 2 days a bar', 'Sat, Oct 31', 'Nov 19–20'],
    ['2026-10-22', 15, 'Deployments, 2 days a bar', 'Oct 22–23', 'Nov 19–20'],
    ['2026-09-20', 16, 'Deployments, 4 days a bar', 'Sep 20–21', 'Nov 17–20'],
  ])(
    'from %s has %i bars for all deployments, the last of which ends today',
    (from, bars, title, first, last) => {
      const days = daysBetween(from, '2026-11-20').map((name) => day(name, 1));
      const drawn = chartBlock(dataOf(...days));
      expect(checkMessageBlocks([drawn, chartWords(dataOf(...days), 30)])).toEqual([]);
      expect(drawn.chart.series[0]?.data.reduce((sum, { value }) => sum + value, 0)).toBe(days.length);
      const { categories } = drawn.chart.axis_config;
      expect([drawn.title, categories.length]).toEqual([title, bars]);
      expect([categories[0], categories.at(-1)]).toEqual([first, last]);
    },
  );

  it('names both months of a bar that has the end of one', () => {
    const bars = daysBetween('2026-10-10', '2026-11-09').map((name) => day(name, 1));
    expect(chartBlock(dataOf(...bars)).chart.axis_config.categories).toContain('Oct 31–Nov 1');
  });

  it('says in words how many each busy day had, by bars relative to the longest', () => {
    const data = dataOf(day('2026-11-19', 4), day('2026-11-20'), day('2026-11-21', 0, 1));
    expect(JSON.stringify(chartWords(data, 30))).toContain(
      `Thu, Nov 19  ${'▇'.repeat(16)} 4 succeeded\\nSat, Nov 21  ${'▇'.repeat(4)} 1 failed`,
    );
  });

  it('is drawn by Slack twice in a message, then in words, and always in words if Slack rejects charts', () => {
    const busy = dataOf(day('2026-11-19', 1), day('2026-11-20', 2));
    const build = (charts: ReadonlyMap<string, KnownBlock>): Message => ({
      text: 'x',
      blocks: [...charts.values()],
    });
    const message = withCharts(new Map(['a', 'b', 'c'].map((name) => [name, busy])), build);
    const typesIn = ({ blocks }: Message) => blocks.map(({ type }) => type);
    expect(typesIn(message)).toEqual(['data_visualization', 'data_visualization', 'section']);
    expect(message.fallback && typesIn(message.fallback())).toEqual(['section', 'section', 'section']);
  });
});
