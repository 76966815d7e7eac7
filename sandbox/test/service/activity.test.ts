import { expect, test } from 'vitest';
import { periodOf, type Range } from '../../service/activity/periods.ts';
import { openAcme } from './caller.ts';

const NOW = Date.parse('2026-03-11T09:30:00Z');
const HOUR = 3_600_000;

async function openFeed() {
  const acme = await openAcme({ now: () => NOW });
  const deploy = (hoursAgo: number, more: object = {}) =>
    acme.world.addDeployment({
      account: 'acme',
      project: 'storefront',
      endedAt: NOW - hoursAgo * HOUR,
      ...more,
    });
  const feed = async (range = '') =>
    (await acme.caller.get(`/activity?include=stats${range && `&range=${range}`}`)).body;
  return { ...acme, deploy, feed };
}

test.each([
  ['today', 1],
  ['this_week', 2],
  ['last_7_days', 3],
  ['last_30_days', 4],
  ['whenever', 3],
  ['constructor', 3],
  ['', 3],
])('%s holds %i events and counts as many', async (range, count) => {
  const { caller, deploy } = await openFeed();
  for (const hoursAgo of [1, 24, 5 * 24, 20 * 24, 40 * 24]) deploy(hoursAgo);
  expect((await caller.get(`/activity?range=${range}`)).body).toHaveLength(count);
  const { body } = await caller.get(`/activity.json?range=${range}&include=stats`);
  expect(body.events).toHaveLength(count);
  expect(body.stats.total_deployments).toBe(count);
});

test('today is compared with yesterday up to the same time, not with all of it', async () => {
  const { deploy, feed } = await openFeed();
  for (const [hoursAgo, succeeded, durationMs] of [
    [0, true, 60_000],
    [9.5, false, 121_000],
    [9.6, true, 900_000],
    [24, true, 900_000],
    [24 + 9.5, false, 900_000],
    [24 - 2, true, 900_000],
    [24 + 9.6, true, 900_000],
  ] as const)
    deploy(hoursAgo, { succeeded, durationMs });
  expect((await feed('today')).stats).toEqual({
    total_deployments: 2,
    total_deployments_delta: 0,
    success_rate: 50,
    success_rate_delta: 0,
    avg_duration: '1m 31s',
    active_servers: 2,
  });
});

// Each deployment by the hours since it ended; those that failed are negative.
test.each([
  ['nothing at all', [], [0, 0, null, null]],
  ['nothing before', [1], [1, 1, 100, null]],
  ['nothing now', [25], [0, -1, null, null]],
  ['only failures', [-1, 25], [1, 0, 0, -100]],
  ['better than before', [1, 2, -3, -25, 26], [3, 1, 66.7, 16.7]],
])('statistics with %s', async (_, deployments, expected) => {
  const { deploy, feed } = await openFeed();
  for (const hours of deployments) deploy(Math.abs(hours), { succeeded: hours > 0 });
  const { stats } = await feed('today');
  const { total_deployments, total_deployments_delta, success_rate, success_rate_delta } = stats;
  expect([total_deployments, total_deployments_delta, success_rate, success_rate_delta]).toEqual(expected);
});

test('at most the latest 100 events are given, and all are counted', async () => {
  const { deploy, feed } = await openFeed();
  for (let n = 0; n < 130; n += 1) deploy(n / 2, { succeeded: n < 100, durationMs: 3_719_700 });
  const { events, stats } = await feed();
  expect(events).toHaveLength(100);
  expect(events[0].created_at).toBe('2026-03-11T09:30:00.000Z');
  expect(JSON.stringify(events)).not.toContain('deploy_failed');
  expect(stats).toMatchObject({ total_deployments: 130, success_rate: 76.9, avg_duration: '1h 2m' });
});

test('deployments are blocked until an e-mail is verified', async () => {
  const { world, people, deploy } = await openFeed();
  for (const { email } of [people.admin, people.member])
    world.updateUser({ account: 'acme', email, verified: false });
  expect(() => deploy(1)).toThrow(/blocked/);
});

test.each<[what: string, Range, now: string, zone: string, from: string, before: string]>([
  ['in the morning', 'today', '11T09:30', 'UTC', '11T00:00', '10T00:00 10T09:30'],
  ['on a Wednesday', 'this_week', '11T09:30', 'UTC', '09T00:00', '02T00:00 04T09:30'],
  ['on a Monday', 'this_week', '09T00:30', 'UTC', '09T00:00', '02T00:00 02T00:30'],
  ['on a Sunday', 'this_week', '15T23:59', 'UTC', '09T00:00', '02T00:00 08T23:59'],
  ['still Tuesday there', 'today', '11T02:00', 'America/New_York', '10T04:00', '09T04:00 10T02:00'],
  ['after a day of 23 hours', 'today', '30T12:00', 'Europe/Lisbon', '29T23:00', '29T00:00 29T13:00'],
])('a range %s: %s at %s in %s', (_what, range, now, zone, from, before) => {
  const at = (short: string) => `2026-03-${short}:00.000Z`;
  const text = (ms: number) => new Date(ms).toISOString();
  const period = periodOf(range, Date.parse(at(now)), zone);
  expect([text(period.from), text(period.to - 1)]).toEqual([at(from), at(now)]);
  expect([text(period.previous.from), text(period.previous.to - 1)]).toEqual(before.split(' ').map(at));
});

test('days begin where the account is', async () => {
  const { feed, deploy, limit } = await openFeed();
  deploy(10);
  expect((await feed('today')).events).toHaveLength(0);
  limit({ zone: 'Pacific/Honolulu' });
  expect((await feed('today')).events).toHaveLength(1);
});
