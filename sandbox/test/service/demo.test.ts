import { expect, test } from 'vitest';
import { DEMO_IDS, DEMO_USERS } from '../../service/seed/demo-facts.ts';
import { startBench } from './caller.ts';

const { admin, member, billing } = DEMO_USERS;

test('everybody can sign in, and their keys cannot be taken for real ones', async () => {
  const { as } = await startBench({ seed: 'demo' });
  for (const person of Object.values(DEMO_USERS)) {
    expect(person.apiKey).toMatch(/^demo-key-of-[a-z0-9-]{28}$/);
    expect((await as(person.account, person).get('/profile')).body.email_address).toBe(person.email);
  }
});

test('the storefront has seven servers, of which one cannot be reached', async () => {
  const { as, service } = await startBench({ seed: 'demo' });
  const caller = as('acme', member);
  const projects = (await caller.get('/projects')).body;
  expect(projects.map(({ permalink }: { permalink: string }) => permalink)).toEqual([
    'billing-api',
    'docs-site',
    'storefront',
  ]);
  const { body } = await caller.post('/projects/storefront/test_access');
  service.clock.advance(30_000);
  const { results } = (await caller.get(`/projects/storefront/test_access/${body.identifier}`)).body;
  const failing = results.servers.filter(({ status }: { status: string }) => status === 'error');
  expect(results.servers).toHaveLength(7);
  expect(failing).toMatchObject([{ name: 'web-3', message: /timed out/ }]);
});

test('there is enough to look at: activity with failures and deltas, an unpaid invoice, hosting', async () => {
  const { as, service } = await startBench({ seed: 'demo' });
  const caller = as('acme', billing);
  const { body } = await caller.get('/activity?range=last_30_days&include=stats');
  expect(body.events.length).toBeGreaterThan(50);
  expect(body.stats.success_rate).toBeGreaterThan(60);
  expect(body.stats.success_rate).toBeLessThan(100);
  expect(body.stats.success_rate_delta).not.toBeNull();
  const invoices = (await caller.get('/account/invoices')).body;
  expect(invoices.map(({ paid }: { paid: boolean }) => paid)).toEqual([false, true, true, true]);
  expect((await as('acme', member).get('/account/invoices')).status).toBe(403);
  const broken = `/hosted_resources/${DEMO_IDS.stagingMachine}`;
  expect((await caller.get(broken)).body.status).toBe('error');
  await caller.post(`${broken}/sync`);
  service.clock.advance(10_000);
  expect((await caller.get(broken)).body.status).toBe('active');
});

test('identifiers that commands ask for are the same after every start', async () => {
  for (const _ of [1, 2]) {
    const { as } = await startBench({ seed: 'demo' });
    const caller = as('acme', admin);
    const build = `/projects/storefront/build_configurations/${DEMO_IDS.storefrontBuild}`;
    expect((await caller.get(build)).body.servers).toHaveLength(3);
    const change = { integration: { name: 'Room' } };
    const path = `/projects/storefront/integrations/${DEMO_IDS.storefrontChat}`;
    expect((await caller.patch(path, change)).body.name).toBe('Room');
  }
});
