import { describe, expect, it } from 'vitest';
import type { ActivityEvent } from '../../../src/service/activity.ts';
import { type DeploymentsBar, deploymentBars } from '../../../src/service/activity.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

function event(created_at: string, type = 'deploy_completed'): ActivityEvent {
  return { event: type, properties: { end_ref: null, servers: [] }, project: null, user: null, created_at };
}

function day(name: string, succeeded = 0, failed = 0, cancelled = 0): DeploymentsBar {
  return { day: name, succeeded, failed, cancelled };
}

describe('deployments by day', () => {
  it.each([
    ['this_week', 5, '2026-11-16'],
    ['last_7_days', 7, '2026-11-14'],
    ['last_30_days', 30, '2026-10-22'],
  ] as const)('of %s are %i days from %s, also empty ones', (range, count, first) => {
    const days = deploymentBars([], { range, zone: 'UTC', now: NOW, isTruncated: false });
    expect(days).toHaveLength(count);
    expect(days[0]).toEqual(day(first));
    expect(days.at(-1)?.day).toBe('2026-11-20');
  });

  it('count how each ended, and nothing that is no deployment or goes on', () => {
    const types = [
      ...['deploy_completed', 'deploy_completed', 'deploy_failed', 'deploy_aborted', 'deploy_cancelled'],
      ...['deploy_started', 'project_created', 'toString'],
    ];
    const events = types.map((type) => event('2026-11-20T01:00:00Z', type));
    const days = deploymentBars(events, { range: 'this_week', zone: 'UTC', now: NOW, isTruncated: false });
    expect(days.at(-1)).toEqual(day('2026-11-20', 2, 1, 2));
  });

  it('of today are one day, also where the service’s day began before that of the zone', () => {
    const window = { range: 'today', zone: 'America/New_York', now: NOW, isTruncated: false } as const;
    const events = [event('2026-11-20T03:10:00Z'), event('2026-11-20T09:59:59Z', 'deploy_failed')];
    expect(deploymentBars(events, window)).toEqual([day('2026-11-20', 1, 1)]);
  });

  it('reach as far as a service whose clock is a little ahead', () => {
    const window = { range: 'last_7_days', zone: 'UTC', now: Date.parse('2026-11-20T23:59:59Z') } as const;
    const events = [event('2026-11-21T00:00:01Z'), event('2026-11-22T12:00:00Z')];
    expect(deploymentBars(events, { ...window, isTruncated: false }).at(-1)).toEqual(day('2026-11-21', 1));
  });

  it('begin in the zone, also where clocks change', () => {
    const events = [
      event('2026-11-20T03:00:00Z'),
      event('2026-11-01T05:30:00Z'),
      event('2026-11-01T06:30:00Z'),
    ];
    const days = deploymentBars(events, {
      range: 'last_30_days',
      zone: 'America/New_York',
      now: NOW,
      isTruncated: false,
    });
    expect(days.filter(({ succeeded }) => succeeded > 0)).toEqual([
      day('2026-11-01', 2),
      day('2026-11-19', 1),
    ]);
    expect(new Set(days.map((one) => one.day)).size).toBe(days.length);
  });

  it('begin with the oldest event of a rolling week', () => {
    const days = deploymentBars([event('2026-11-13T13:00:00Z')], {
      range: 'last_7_days',
      zone: 'UTC',
      now: NOW,
      isTruncated: false,
    });
    expect(days[0]).toEqual(day('2026-11-13', 1));
  });

  it('of a cut feed leave out the days of which nothing is known', () => {
    const days = deploymentBars([event('2026-11-19T13:00:00Z')], {
      range: 'last_30_days',
      zone: 'UTC',
      now: NOW,
      isTruncated: true,
    });
    expect(days.map((one) => one.day)).toEqual(['2026-11-19', '2026-11-20']);
  });
});
