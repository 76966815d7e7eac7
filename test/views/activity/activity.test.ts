import { describe, expect, it } from 'vitest';
import type { ActivityEvent, ActivityStats } from '../../../src/service/activity.ts';
import {
  type ActivityAsk,
  activityMessage,
  eventLine,
  statsBlocks,
} from '../../../src/views/activity/activity.ts';

const PRIVATE = { kind: 'person', isShared: false } as const;
const ASK: ActivityAsk = { account: 'acme', range: 'last_7_days', stats: false, page: 0, zone: 'UTC' };
const EVENT: ActivityEvent = {
  event: 'deploy_completed',
  properties: { end_ref: 'abcdef0123456789', servers: ['web-1', 'web-2'] },
  project: { name: 'Storefront', permalink: 'storefront', identifier: 'p-1' },
  user: 'Ada',
  created_at: '2026-11-20T12:00:00Z',
};

function feed(events: ActivityEvent[], stats?: ActivityStats) {
  return { events, stats };
}

function many(count: number): ActivityEvent[] {
  return Array.from({ length: count }, (_, at) => ({ ...EVENT, user: `person ${at}` }));
}

function textOf(blocks: unknown): string {
  return JSON.stringify(blocks);
}

describe('an event', () => {
  it.each<[string, Partial<ActivityEvent>, string]>([
    ['all of it', {}, '*Storefront*  deploy completed  `abcdef0`  on web-1, web-2  by Ada'],
    ['an unknown type', { event: 'ssl_cert_renewed' }, ':small_blue_diamond: '],
    ['an unknown type in words', { event: 'ssl_cert_renewed' }, 'ssl cert renewed'],
    ['a name of JavaScript’s own', { event: 'constructor' }, ':small_blue_diamond: '],
    ['a failure', { event: 'deploy_failed' }, ':x: '],
    [
      'nothing to tell',
      { properties: { end_ref: null, servers: [] }, user: null },
      '*Storefront*  deploy completed',
    ],
    ['no project', { project: null }, '*no project*'],
    [
      'many servers',
      { properties: { end_ref: null, servers: ['a', 'b', 'c', 'd', 'e'] } },
      'on a, b, c, d, e',
    ],
    [
      'very many servers',
      { properties: { end_ref: null, servers: Array.from({ length: 40 }, (_, at) => `web-${at}`) } },
      'on 40 servers',
    ],
    ['markup', { user: '<!channel>' }, 'by &lt;!channel&gt;'],
  ])('%s', (_what, change, expected) => {
    expect(eventLine({ ...EVENT, ...change })).toContain(expected);
  });
});

describe('the feed', () => {
  it('is grouped by day in the reader’s zone, and says which', () => {
    const events = [
      { ...EVENT, created_at: '2026-11-20T03:00:00Z' },
      { ...EVENT, created_at: '2026-11-19T12:00:00Z' },
    ];
    const inUtc = textOf(activityMessage(ASK, feed(events), PRIVATE).blocks);
    expect(inUtc).toContain('Friday, Nov 20');
    expect(inUtc).toContain('Thursday, Nov 19');
    const inNewYork = textOf(
      activityMessage({ ...ASK, zone: 'America/New_York' }, feed(events), PRIVATE).blocks,
    );
    expect(inNewYork).not.toContain('Friday');
    expect(inNewYork).toContain('America/New_York');
  });

  it('has pages, and says when it holds the latest 100 only', () => {
    const first = textOf(activityMessage(ASK, feed(many(100)), PRIVATE).blocks);
    expect(first).toContain('page 1 of 9');
    expect(first).toContain('latest 100 events only');
    expect(first).toContain('Older');
    expect(first).not.toContain('Newer');
    const last = textOf(activityMessage({ ...ASK, page: 8 }, feed(many(100)), PRIVATE).blocks);
    expect(last).toContain('person 99');
    expect(last).toContain('Newer');
    expect(last).not.toContain('Older');
    expect(textOf(activityMessage(ASK, feed(many(99)), PRIVATE).blocks)).not.toContain('latest 100');
  });

  it('shows the last page where the feed became shorter meanwhile', () => {
    expect(textOf(activityMessage({ ...ASK, page: 7 }, feed(many(3)), PRIVATE).blocks)).toContain('person 2');
  });

  it('of one project leaves the others out, and says so of the figures', () => {
    const other = { ...EVENT, project: { name: 'Other', permalink: 'other', identifier: 'p-2' } };
    const ask = { ...ASK, stats: true, project: { permalink: 'storefront', name: 'Storefront' } };
    const message = activityMessage(ask, feed([EVENT, other]), PRIVATE);
    expect(message.text).toContain('1 event');
    expect(textOf(message.blocks)).not.toContain('Other');
    expect(textOf(message.blocks)).toContain('Whole account: ');
  });

  it('says that nothing happened', () => {
    expect(activityMessage(ASK, feed([]), PRIVATE).text).toBe(
      'Activity of `acme`, the last 7 days: nothing happened',
    );
  });

  it('has no buttons in a channel, but who shared it', () => {
    const blocks = activityMessage(ASK, feed(many(50)), { kind: 'channel', sharedBy: 'U1' }).blocks;
    expect(textOf(blocks)).not.toContain('actions');
    expect(textOf(blocks)).toContain('shared by <@U1>');
  });
});

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
    ['a rise', {}, '*Deployments*\n1,234  ▲ 5'],
    ['a fall', {}, '*Success rate*\n95.2 %  ▼ 1.3 points'],
    ['no change', { total_deployments_delta: 0 }, '1,234  no change'],
    ['null', { success_rate: null, success_rate_delta: null }, '*Success rate*\n—  —'],
    ['nothing to compare with', { success_rate_delta: null }, '95.2 %  —'],
    ['not told', { active_servers: undefined }, '*Active servers now*\nn/a'],
    ['a delta not told', { total_deployments_delta: undefined }, '1,234  n/a'],
    ['almost all', { success_rate: 99.97 }, '99.9 %'],
    ['all', { success_rate: 100 }, '100 %'],
    ['a duration', {}, '*Average duration*\n1m 12s'],
    ['no duration', { avg_duration: null }, '*Average duration*\n—'],
    ['no deployments', { total_deployments: 0, avg_duration: '0s' }, '*Average duration*\n—'],
  ])('%s', (_what, change, expected) => {
    const [tiles] = statsBlocks({ ...STATS, ...change }, 'today');
    const shown = tiles?.type === 'section' ? tiles.fields?.map(({ text }) => text) : [];
    expect(shown?.some((text) => text.includes(expected))).toBe(true);
  });

  it.each([
    ['today', '▲ ▼ against the same part of yesterday'],
    ['last_7_days', '▲ ▼ against the 7 days before'],
    ['last_30_days', '▲ ▼ against the 30 days before'],
    ['this_week', '▲ ▼ against the same part of last week'],
  ] as const)('of %s say what they compare with', (range, expected) => {
    expect(textOf(statsBlocks(STATS, range))).toContain(expected);
  });

  it.each([
    ['none', undefined],
    ['an unknown shape', {} as ActivityStats],
  ])('of %s are said to be unknown, not shown as 0', (_what, stats) => {
    const shown = textOf(statsBlocks(stats, 'today'));
    expect(shown).toContain('No readable figures');
    expect(shown).not.toContain('0');
  });
});
