import { expect, test } from 'vitest';
import { addAcme, type Bench, startBench } from '../caller.ts';

const NOW = Date.parse('2026-03-11T09:30:00Z');
const HOUR = 3_600_000;

async function openAcme() {
  const bench: Bench = await startBench({ now: () => NOW });
  const parts = addAcme(bench);
  const deploy = (hoursAgo: number, succeeded = true) =>
    bench.service.world.addDeployment({
      account: 'acme',
      project: 'storefront',
      succeeded,
      endedAt: NOW - hoursAgo * HOUR,
    });
  return { ...bench, ...parts, deploy, caller: bench.as('acme', parts.member) };
}

test('events come newest first, with their project and what was deployed where', async () => {
  const { caller, deploy, project } = await openAcme();
  deploy(5);
  deploy(2, false);
  const { body } = await caller.get('/activity');
  expect(body.map(({ event }: { event: string }) => event)).toEqual(['deploy_failed', 'deploy_completed']);
  expect(body[0]).toEqual({
    event: 'deploy_failed',
    properties: { end_ref: expect.stringMatching(/^[0-9a-f]{40}$/), servers: ['web-1', 'web-2'] },
    project: { name: 'Storefront', permalink: 'storefront', identifier: project.identifier },
    user: 'Kim Example',
    created_at: '2026-03-11T07:30:00.000Z',
  });
});

test.each([
  ['today', 1],
  ['this_week', 2],
  ['last_7_days', 3],
  ['last_30_days', 4],
  ['whenever', 3],
])('%s holds %i events and counts as many', async (range, count) => {
  const { caller, deploy } = await openAcme();
  for (const hoursAgo of [1, 24, 5 * 24, 20 * 24, 40 * 24]) deploy(hoursAgo);
  expect((await caller.get(`/activity?range=${range}`)).body).toHaveLength(count);
  const { body } = await caller.get(`/activity.json?range=${range}&include=stats`);
  expect(body.events).toHaveLength(count);
  expect(body.stats.total_deployments).toBe(count);
});

test('today is compared with yesterday up to the same time, not with all of it', async () => {
  const { caller, deploy } = await openAcme();
  deploy(1);
  deploy(24 + 1);
  deploy(24 + 1, false);
  deploy(24 - 2);
  const { body } = await caller.get('/activity?range=today&include=stats');
  expect(body.stats).toEqual({
    total_deployments: 1,
    total_deployments_delta: -1,
    success_rate: 100,
    success_rate_delta: 50,
    avg_duration: '1m 30s',
    active_servers: 2,
  });
});

test('rates without deployments are null, not zero', async () => {
  const { caller } = await openAcme();
  const { body } = await caller.get('/activity?include=stats');
  expect(body.stats).toMatchObject({ total_deployments: 0, success_rate: null, success_rate_delta: null });
});

test('at most the latest 100 events are given, and all are counted', async () => {
  const { caller, deploy } = await openAcme();
  for (let n = 0; n < 130; n += 1) deploy(n / 2);
  const { body } = await caller.get('/activity?include=stats');
  expect(body.events).toHaveLength(100);
  expect(body.events[0].created_at).toBe('2026-03-11T09:30:00.000Z');
  expect(body.stats.total_deployments).toBe(130);
});

test('what the user may not see is neither listed nor counted; disabled servers are not active', async () => {
  const { caller, deploy, service, member } = await openAcme();
  deploy(1);
  service.world.addProject({ account: 'acme', name: 'Secret', servers: [{ name: 'vault' }] });
  service.world.addDeployment({ account: 'acme', project: 'secret' });
  service.world.addServer({ account: 'acme', project: 'storefront', name: 'old', enabled: false });
  service.world.updateUser({ account: 'acme', email: member.email, projects: ['storefront'] });
  const { body } = await caller.get('/activity?include=stats');
  expect(body.events).toHaveLength(1);
  expect(body.stats).toMatchObject({ total_deployments: 1, active_servers: 2 });
});

test('days begin where the account is', async () => {
  const { caller, deploy, service } = await openAcme();
  deploy(10);
  expect((await caller.get('/activity?range=today')).body).toHaveLength(0);
  service.world.updateAccount({ account: 'acme', zone: 'America/New_York' });
  service.world.updateAccount({ account: 'acme', zone: 'Pacific/Honolulu' });
  expect((await caller.get('/activity?range=today')).body).toHaveLength(1);
});

test('deployments are blocked until an e-mail is verified', async () => {
  const { service, admin, member, deploy } = await openAcme();
  for (const { email } of [admin, member]) {
    service.world.updateUser({ account: 'acme', email, verified: false });
  }
  expect(() => deploy(1)).toThrow(/blocked/);
});

test('failures that a hundred later deployments pushed out of the feed are still counted', async () => {
  const bench = await startBench();
  const { member } = addAcme(bench);
  const { world, clock } = bench.service;
  const place = { account: 'acme', project: 'storefront', everyMs: 1_000 };
  world.addDeployments({ ...place, count: 40, succeeded: false, endedAt: clock.now() - 200_000 });
  world.addDeployments({ ...place, count: 100 });
  const { events, stats } = (await bench.as('acme', member).get('/activity?include=stats')).body;
  expect(stats).toMatchObject({ total_deployments: 140, success_rate: 71.4 });
  const kinds = new Set(events.map(({ event }: { event: string }) => event));
  expect({ kinds, held: events.length }).toEqual({ kinds: new Set(['deploy_completed']), held: 100 });
});
