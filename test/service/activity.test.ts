import { expect, test } from 'vitest';
import { type ActivityEvent, getActivity, groupFailures } from '../../src/service/activity.ts';
import { failure, openWire } from './wire.ts';

const EVENT = {
  event: 'deploy_completed',
  properties: { end_ref: 'abc123', servers: ['web-1', 'web-2'] },
  project: { name: 'Store', permalink: 'store', identifier: 'p-1' },
  user: 'Ada',
  created_at: '2026-01-05T12:00:00Z',
};
const STATS = {
  total_deployments: 12,
  total_deployments_delta: -3,
  success_rate: 91.7,
  success_rate_delta: null,
  avg_duration: '1m 12s',
  active_servers: 7,
};

test('a deployment that the service reports twice is one event, and the feed is as long as it was', async () => {
  const twin = { ...EVENT, created_at: '2026-01-05T12:00:03Z' };
  const other = { ...twin, user: 'Lee' };
  await using wire = await openWire({ 'GET /acme/activity': [{ json: [other, twin, EVENT] }] });
  expect(await getActivity(wire.account)).toMatchObject({ events: [other, EVENT], repeated: 1 });
});

test.each([
  ['a failure', 'deploy_failed', 3],
  ['an event that ends no deployment', 'deploy_started', 2],
])('a deployment repeated within seconds after %s of its project', async (_what, between, expected) => {
  const at = (second: number) => `2026-01-05T12:00:0${second}Z`;
  const again = { ...EVENT, created_at: at(6) };
  const other = { ...EVENT, event: between, created_at: at(3) };
  await using wire = await openWire({
    'GET /acme/activity': [{ json: [again, other, { ...EVENT, created_at: at(0) }] }],
  });
  expect((await getActivity(wire.account)).events).toHaveLength(expected);
});

const WITH_STATS = 'GET /acme/activity?range=last_30_days&include=stats';
const asked = { range: 'last_30_days', stats: true } as const;

test.each<[string, unknown, unknown]>([
  ['statistics', { events: [EVENT], stats: STATS }, STATS],
  ['a service that tells none', [EVENT], undefined],
  ['events with paging beside them', { events: { data: [EVENT], meta: { total: 1 } } }, undefined],
  ['statistics of another kind', { events: [EVENT], stats: 'many' }, undefined],
  [
    'older statistics: what is missing is not told, and never 0',
    { events: [EVENT], stats: { total_deployments: '12', success_rate: null, active_servers: {} } },
    { total_deployments: 12, success_rate: null },
  ],
])('%s', async (_what, json, stats) => {
  await using wire = await openWire({ [WITH_STATS]: [{ json }] });
  expect(await getActivity(wire.account, asked)).toEqual({ events: [EVENT], stats });
});

test.each<[string, object, object]>([
  [
    'servers as text',
    { properties: { end_ref: 'a', servers: 'web-1' } },
    { end_ref: 'a', servers: ['web-1'] },
  ],
  [
    'several servers as text',
    { properties: { end_ref: 'a', servers: 'web-1, web-2' } },
    { end_ref: 'a', servers: ['web-1', 'web-2'] },
  ],
  ['no properties', { properties: null }, { end_ref: null, servers: [] }],
  [
    'odd values in them',
    { properties: { end_ref: {}, servers: [7, 'web-1', null] } },
    { end_ref: null, servers: ['web-1'] },
  ],
])('an event with %s', async (_what, change, properties) => {
  const json = [{ ...EVENT, event: 'something_new', project: undefined, user: null, ...change }];
  await using wire = await openWire({ 'GET /acme/activity': [{ json }] });
  const { events } = await getActivity(wire.account);
  expect(events).toEqual([{ ...EVENT, event: 'something_new', project: null, user: null, properties }]);
});

test('a feed without events is unexpected', async () => {
  await using wire = await openWire({ 'GET /acme/activity': [{ json: { events: 'none' } }] });
  expect(await failure(getActivity(wire.account))).toMatchObject({ kind: 'unexpected' });
});

function deployment(event: string, project: string, servers: string[] = []): ActivityEvent {
  return {
    ...EVENT,
    event,
    project: { ...EVENT.project, identifier: project, name: project },
    user: 'Kim',
    properties: { end_ref: 'ref', servers },
  };
}

test.each<[what: string, servers: string[] | undefined, isPassing: boolean]>([
  ['no success since', undefined, false],
  ['a success on another server alone', ['web-2'], false],
  ['a success on its server', ['web-1'], true],
  ['a success that names no server', [], true],
])('a project with %s', (_, servers, isPassing) => {
  const successes = servers === undefined ? [] : [deployment('deploy_completed', 'Docs', servers)];
  const events = [...successes, deployment('deploy_failed', 'Docs', ['web-1'])];
  expect(groupFailures(events)).toMatchObject([{ failed: 1, isPassing }]);
});

test('failures are counted by project', () => {
  const failures = ['Docs', 'Shop', 'Docs'].map((name) => deployment('deploy_failed', name));
  expect(groupFailures([...failures, deployment('deploy_completed', 'Web')])).toMatchObject([
    { failed: 2, isPassing: false, last: { project: { name: 'Docs' } } },
    { failed: 1, last: { project: { name: 'Shop' } } },
  ]);
});
