import { describe, expect, test } from 'vitest';
import { PERMISSIONS, type Permission } from '../../service/world/records.ts';
import { startBench } from './caller.ts';

/** One account as three people's keys meet it: the one that everybody shares, the bookkeeper's and a person's own. */
async function openKeys() {
  const bench = await startBench();
  const shared = { email: 'team@example.com', apiKey: 's'.repeat(40) };
  const billing = { email: 'bea@example.com', apiKey: 'b'.repeat(40) };
  const personal = { email: 'ben@example.com', apiKey: 'p'.repeat(40) };
  bench.service.world.addAccount({
    name: 'acme',
    users: [
      { ...shared, role: 'admin' },
      { ...billing, billing: true, permissions: ['projects'] },
      { ...personal, projects: ['storefront'], permissions: ['projects', 'servers', 'activity'] },
    ],
    projects: [{ name: 'Storefront', servers: [{ name: 'web-1' }] }, { name: 'Ledger' }],
    invoices: [{}],
  });
  const { world } = bench.service;
  world.addDeployment({ account: 'acme', project: 'storefront' });
  world.addDeployment({ account: 'acme', project: 'ledger', succeeded: false });
  return {
    ...bench,
    personal,
    keys: {
      shared: bench.as('acme', shared),
      billing: bench.as('acme', billing),
      personal: bench.as('acme', personal),
    },
  };
}

describe('three keys of one account', () => {
  test.each([
    ['invoices', '/account/invoices', { shared: 403, billing: 200, personal: 403 }],
    ['the feed', '/activity', { shared: 200, billing: 403, personal: 200 }],
    ['one project', '/projects/storefront/servers', { shared: 200, billing: 403, personal: 200 }],
    ['another project', '/projects/ledger/servers', { shared: 200, billing: 403, personal: 404 }],
    ['managed hosting', '/hosted_resources', { shared: 200, billing: 403, personal: 403 }],
  ])('%s', async (_, path, expected) => {
    const { keys } = await openKeys();
    const statuses = Object.entries(keys).map(async ([name, caller]) => [
      name,
      (await caller.get(path)).status,
    ]);
    expect(Object.fromEntries(await Promise.all(statuses))).toEqual(expected);
  });

  test('see their own projects, and only what happened in those', async () => {
    const { keys } = await openKeys();
    const names = async (caller: typeof keys.shared) =>
      (await caller.get('/projects')).body.map(({ name }: { name: string }) => name);
    expect(await names(keys.shared)).toEqual(['Ledger', 'Storefront']);
    expect(await names(keys.personal)).toEqual(['Storefront']);
    const stats = async (caller: typeof keys.shared) =>
      (await caller.get('/activity?include=stats')).body.stats;
    expect(await stats(keys.shared)).toMatchObject({ total_deployments: 2, success_rate: 50 });
    expect(await stats(keys.personal)).toMatchObject({ total_deployments: 1, success_rate: 100 });
  });

  test('act in the name of their own people', async () => {
    const { keys, service } = await openKeys();
    await keys.personal.post('/projects/storefront/servers', {
      server: { name: 'web-2', protocol_type: 'ssh', hostname: 'web-2.example.net' },
    });
    expect(service.requests.all.at(-1)).toMatchObject({ user: 'ben@example.com', status: 201 });
  });

  test('are revoked one by one', async () => {
    const { keys, service, personal } = await openKeys();
    service.world.revokeKey({ account: 'acme', email: personal.email });
    expect((await keys.personal.get('/projects')).status).toBe(401);
    expect((await keys.shared.get('/projects')).status).toBe(200);
  });
});

test('a person can be let into all projects again', async () => {
  const { keys, service, personal } = await openKeys();
  service.world.updateUser({ account: 'acme', email: personal.email, projects: null });
  expect((await keys.personal.get('/projects')).body).toHaveLength(2);
});

const PROTECTED: ReadonlyArray<[Permission, string]> = [
  ['projects', '/projects'],
  ['servers', '/projects/storefront/servers'],
  ['test_access', '/projects/storefront/test_access/none'],
  ['build_configurations', '/projects/storefront/build_configurations/none'],
  ['activity', '/activity'],
  ['hosting', '/hosted_resources'],
];

test.each(PROTECTED)('without the permission %s alone, its own 403 names it', async (permission, path) => {
  const { keys, service, personal } = await openKeys();
  const others = PERMISSIONS.filter((other) => other !== permission);
  service.world.updateUser({ account: 'acme', email: personal.email, permissions: others });
  const { status, body } = await keys.personal.get(path);
  expect({ status, code: body.error_code }).toEqual({ status: 403, code: 'permission_denied' });
  expect(body.hint).toContain(`"${permission}"`);
});
