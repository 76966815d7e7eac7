import { describe, expect, test } from 'vitest';
import { addAcme, startBench } from './caller.ts';

const SERVERS = '/projects/storefront/servers';
const site = {
  server: { name: 'Docs', protocol_type: 'static_hosting' },
  hosted_website_attributes: { subdomain: 'acme-docs', spa_mode: true },
};
const machine = { server: { name: 'Reports', protocol_type: 'managed_vps' }, region: 'fra1', size: 'small' };

async function openAcme() {
  const bench = await startBench({ sitesDomain: 'sites.example.org' });
  const parts = addAcme(bench);
  const caller = bench.as('acme', parts.member);
  const look = async (identifier: string) => (await caller.get(`${SERVERS}/${identifier}`)).body;
  return { ...bench, ...parts, caller, look };
}

describe('a static site', () => {
  test('is provisioned over time and gets its address from the sites domain', async () => {
    const { caller, look, service } = await openAcme();
    const { status, body } = await caller.post(SERVERS, site);
    expect(status).toBe(201);
    expect(body.static_hosting).toMatchObject({
      subdomain: 'acme-docs',
      url: 'https://acme-docs.sites.example.org',
      spa_mode: true,
      status: 'provisioning',
      active_deployment_uuid: null,
    });
    service.clock.advance(60_000);
    expect((await look(body.identifier)).static_hosting.status).toBe('active');
    service.world.addDeployment({ account: 'acme', project: 'storefront', servers: ['Docs'] });
    expect((await look(body.identifier)).static_hosting.active_deployment_uuid).toEqual(expect.any(String));
  });

  test('shares its name with no other, in any account', async () => {
    const { caller, service, as } = await openAcme();
    await caller.post(SERVERS, site);
    const email = 'otto@example.com';
    const given = { name: 'other', users: [{ email }], projects: [{ name: 'Storefront' }] };
    const person = { email, apiKey: service.world.addAccount(given).users[0]?.apiKey };
    const answer = await as('other', person).post(SERVERS, site);
    expect(answer).toMatchObject({ status: 422, body: { subdomain: [expect.stringContaining('taken')] } });
  });
});

describe('a managed virtual server', () => {
  test('has no address before it is active, and is a hosted resource', async () => {
    const { caller, look, service } = await openAcme();
    const { body } = await caller.post(SERVERS, machine);
    expect(body.managed_vps).toMatchObject({ status: 'provisioning', ip_address: null, region: 'fra1' });
    service.clock.advance(60_000);
    const { managed_vps: block } = await look(body.identifier);
    expect(block).toMatchObject({ status: 'active', ip_address: expect.stringMatching(/^203\.0\.113\./) });
    const resource = await caller.get(`/hosted_resources/${block.hosted_resource_identifier}`);
    expect(resource.body).toMatchObject({ name: 'Reports', status: 'active', ip_address: block.ip_address });
  });

  test('can end as an error', async () => {
    const { caller, look, service } = await openAcme();
    const provisioning = { protocol: 'managed_vps', status: 'error', durationMs: 1_000 } as const;
    service.world.setProvisioning({ account: 'acme', ...provisioning });
    const { body } = await caller.post(SERVERS, machine);
    service.clock.advance(1_000);
    expect((await look(body.identifier)).managed_vps.status).toBe('error');
  });

  test('is powered off with its account, and tests say so', async () => {
    const { caller, look, service } = await openAcme();
    const { body } = await caller.post(SERVERS, machine);
    service.clock.advance(60_000);
    service.world.suspendAccount({ account: 'acme' });
    const { hostedResources } = service.world.resumeAccount({ account: 'acme' });
    expect((await look(body.identifier)).managed_vps.status).toBe('active');
    const [resource] = hostedResources;
    if (resource !== undefined) resource.status = 'suspended';
    const run = await caller.post(`${SERVERS}/${body.identifier}/test_access`);
    service.clock.advance(60_000);
    const ended = await caller.get(`/projects/storefront/test_access/${run.body.identifier}`);
    expect(ended.body.results.servers).toMatchObject([{ status: 'error', message: /suspended/ }]);
  });

  test('cannot stand in a region that is not listed, nor be of a size that nobody sells', async () => {
    const { caller } = await openAcme();
    const answer = await caller.post(SERVERS, { ...machine, region: 'syd1', size: 'vast' });
    expect([answer.status, Object.keys(answer.body)]).toEqual([422, ['region', 'size']]);
  });
});

describe('managed servers', () => {
  test('need the beta, and are limited by the plan', async () => {
    const { caller, service } = await openAcme();
    service.world.updateAccount({ account: 'acme', betaFeatures: false });
    expect((await caller.post(SERVERS, machine)).status).toBe(403);
    service.world.updateAccount({ account: 'acme', betaFeatures: true });
    service.world.updateAccount({ account: 'acme', managedServerLimit: 1 });
    await caller.post(SERVERS, machine);
    expect(await caller.post(SERVERS, site)).toMatchObject({ status: 422, body: { base: [/plan/] } });
  });

  test('are made only so fast, and the answer says when again', async () => {
    const { caller, service } = await openAcme();
    service.world.updateAccount({ account: 'acme', provisioningLimit: 1 });
    await caller.post(SERVERS, machine);
    service.clock.advance(1_000_000);
    const answer = await caller.post(SERVERS, site);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '2600']);
    service.clock.advance(2_600_000);
    expect((await caller.post(SERVERS, site)).status).toBe(201);
  });
});

describe('a plain server', () => {
  test('takes a port as a number or as text, and is listed', async () => {
    const { caller } = await openAcme();
    const plain = { name: 'web-3', protocol_type: 'ssh', hostname: 'web-3.example.net', port: '2222' };
    const { status, body } = await caller.post(SERVERS, { server: plain });
    expect({ status, port: body.port }).toEqual({ status: 201, port: 2222 });
    expect(body).not.toHaveProperty('static_hosting');
    expect((await caller.get(SERVERS)).body).toHaveLength(3);
  });

  test.each([
    [{}, { base: ['server is missing'] }],
    [{ server: {} }, { name: ["can't be blank"], protocol_type: ["can't be blank"] }],
    [{ server: { name: ' ', protocol_type: 'ssh' } }, { name: ["can't be blank"] }],
    [{ server: { name: 'x', protocol_type: 'ssh' } }, { hostname: ["can't be blank"] }],
    [{ server: { name: 'x', protocol_type: 'pigeon' } }, { protocol_type: [/must be one of/] }],
    [{ server: site.server }, { subdomain: ["can't be blank"] }],
    [{ ...site, hosted_website_attributes: { subdomain: 'No spaces' } }, { subdomain: [/lower-case/] }],
  ])('from %j is refused by field', async (body, fields) => {
    const { caller } = await openAcme();
    const answer = await caller.post(SERVERS, body);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject(fields);
  });
});

test('a new server is news', async () => {
  const { caller, service } = await openAcme();
  await caller.post(SERVERS, site);
  service.clock.advance(1);
  const created = { event: 'server_created', user: 'Kim Example' };
  expect((await caller.get('/activity')).body).toMatchObject([created]);
});

test('a build configuration names its versions and servers', async () => {
  const { caller, project } = await openAcme();
  const identifier = project.buildConfigurations[0]?.identifier;
  const { body } = await caller.get(`/projects/storefront/build_configurations/${identifier}`);
  expect(body).toMatchObject({ identifier, packages: { node: '24', php: '8.4' }, default: true });
  expect(body.servers).toMatchObject([{ name: 'web-1' }, { name: 'web-2' }]);
  expect((await caller.get('/projects/storefront/build_configurations/none')).status).toBe(404);
});
