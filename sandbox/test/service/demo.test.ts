import { expect, test } from 'vitest';
import { DEMO_USERS } from '../../service/seed/demo-facts.ts';
import { startBench } from './caller.ts';

const { member } = DEMO_USERS;

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
