import { expect, test } from 'vitest';
import { SYNC_MS } from '../../service/world/hosting.ts';
import { addAcme, startBench } from './caller.ts';

async function openAcme() {
  const bench = await startBench();
  const { member } = addAcme(bench);
  const caller = bench.as('acme', member);
  const resource = bench.service.world.addHostedResource({
    account: 'acme',
    name: 'staging',
    status: 'error',
  });
  return { ...bench, caller, resource };
}

test('a sync brings what the provider says, but only later', async () => {
  const { caller, resource, service } = await openAcme();
  const path = `/hosted_resources/${resource.identifier}`;
  const before = (await caller.get(path)).body;
  const provider = { status: 'active', ipAddress: '203.0.113.9' } as const;
  service.world.setProviderState({ account: 'acme', resource: resource.identifier, ...provider });
  const answer = await caller.post(`${path}/sync`);
  expect(answer.body).toEqual({ status: 'sync_requested' });
  service.clock.advance(SYNC_MS - 1);
  expect((await caller.get(path)).body).toEqual(before);
  service.clock.advance(1);
  const after = (await caller.get(path)).body;
  expect(after).toMatchObject({ status: 'active', ip_address: '203.0.113.9' });
  expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
});

test('a resource costs what its size costs, and carries a real key', async () => {
  const { caller } = await openAcme();
  const [resource] = (await caller.get('/hosted_resources')).body;
  const { sizes } = (await caller.get('/managed_hosting/sizes')).body;
  const size = sizes.find(({ slug }: { slug: string }) => slug === resource.size);
  expect(resource.monthly_cost).toBe(size.monthly_cost);
  expect(resource.ssh_key).toMatchObject({
    public_key: expect.stringMatching(/^ssh-ed25519 [A-Za-z0-9+/=]{68} /),
    fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/),
  });
});

test('an unknown resource is not found, by a sync neither', async () => {
  const { caller } = await openAcme();
  expect((await caller.get('/hosted_resources/none')).status).toBe(404);
  expect((await caller.post('/hosted_resources/none/sync')).status).toBe(404);
});

test.each(['usd', 'eur', 'gbp'])('sizes are priced in %s where the account pays in it', async (currency) => {
  const bench = await startBench();
  const account = bench.service.world.addAccount({
    name: 'acme',
    currency,
    users: [{ email: 'ada@example.com' }],
  });
  const person = { email: 'ada@example.com', apiKey: account.users[0]?.apiKey };
  const { sizes } = (await bench.as('acme', person).get('/managed_hosting/sizes')).body;
  expect(sizes.map((size: { currency: string }) => size.currency)).toEqual([currency, currency, currency]);
  const usd = { usd: 8, eur: 7.6, gbp: 6.4 }[currency];
  expect(sizes[0].monthly_cost).toBe(usd);
});

test('a region is its slug and its name', async () => {
  const { caller } = await openAcme();
  const { regions } = (await caller.get('/managed_hosting/regions')).body;
  expect(regions[0]).toEqual({ slug: 'fra1', name: 'Frankfurt' });
});
