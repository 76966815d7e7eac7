import { expect, test } from 'vitest';
import { byLength } from '../../../test/support/length.ts';
import type { SimulatedServiceOptions } from '../../service/server.ts';
import { addAcme, type Bench, type Caller, startBench } from './caller.ts';

/** Method, path, a body that is accepted, and one that is not. */
type Operation = [method: string, path: string, accepted?: unknown, refused?: unknown];

/** One operation of each kind over records that exist. */
async function fillAccount(bench: Bench) {
  const people = addAcme(bench);
  const { world } = bench.service;
  const place = { account: 'acme', project: 'storefront' };
  const [server] = people.project.servers;
  const [build] = people.project.buildConfigurations;
  const resource = world.addHostedResource({ account: 'acme', name: 'box' });
  const hook = world.addIntegration({ ...place, name: 'Hook', properties: { url: 'https://example.com' } });
  const team = world.addIntegration({ ...place, name: 'Team', hookType: 'chat_b' });
  world.addInvoice({ account: 'acme' });
  const { identifier: deployment } = world.addDeployment({ ...place, succeeded: false });
  const asAdmin = bench.as('acme', people.admin);
  const run = await asAdmin.post('/projects/storefront/test_access');
  const { steps } = (await asAdmin.get(`/projects/storefront/deployments/${deployment}`)).body;
  const integration = { hook_type: 'http_req', name: 'x', properties: { url: 'https://example.com' } };
  const plain = { name: 'x', protocol_type: 'ssh', hostname: 'x.example.net' };
  const operations: Operation[] = [
    ['GET', '/profile'],
    ['POST', '/beta/enrollments', {}, { protocol: 'gopher' }],
    ['GET', '/projects'],
    ['GET', '/projects/storefront/servers'],
    ['POST', '/projects/storefront/servers', { server: plain }, {}],
    ['GET', `/projects/storefront/servers/${server?.identifier}`],
    ['POST', '/projects/storefront/test_access'],
    ['POST', `/projects/storefront/servers/${server?.identifier}/test_access`],
    ['GET', `/projects/storefront/test_access/${run.body.identifier}`],
    ['GET', `/projects/storefront/build_configurations/${build?.identifier}`],
    ['GET', '/projects/storefront/deployments'],
    ['GET', `/projects/storefront/deployments/${deployment}`],
    ['GET', `/projects/storefront/deployments/${deployment}/steps/${steps[0].identifier}/logs`],
    ['GET', '/projects/storefront/undeployed_changes'],
    ['POST', '/projects/storefront/integrations', { integration }, {}],
    ['PATCH', `/projects/storefront/integrations/${hook.identifier}`, { integration: { name: 'y' } }, {}],
    ['GET', '/hosted_resources'],
    ['GET', `/hosted_resources/${resource.identifier}`],
    ['POST', `/hosted_resources/${resource.identifier}/sync`],
    ['GET', '/managed_hosting/regions'],
    ['GET', '/managed_hosting/sizes'],
    ['GET', '/activity?include=stats'],
    ['GET', '/activity'],
    ['GET', '/account/invoices'],
    ['GET', '/account/invoices/1001.pdf'],
  ];
  return { ...people, operations, team };
}

/** Every status that an operation ends in of itself. */
async function drive(bench: Bench, me: Caller, [method, path, accepted, refused]: Operation): Promise<void> {
  const { world } = bench.service;
  const body = accepted === undefined ? undefined : JSON.stringify(accepted);
  expect((await me.send(method, path, body)).status, `${method} ${path}`).toBeLessThan(300);
  if (refused !== undefined) await me.send(method, path, JSON.stringify(refused));
  if (method !== 'GET') await me.send(method, path, '{');
  await bench.as('acme', { email: 'x', apiKey: 'x' }).send(method, path, body);
  world.updateAccount({ account: 'acme', apiAccess: false });
  await me.send(method, path, body);
  world.updateAccount({ account: 'acme', apiAccess: true });
}

/** The statuses that it has no way to of itself. */
async function driveFaults({ service }: Bench, me: Caller, [method, path]: Operation): Promise<void> {
  for (const status of [400, 404, 429, 500, 503]) {
    service.faults.add({ path: '/acme/**', status, times: 1 });
    expect((await me.send(method, path)).status).toBe(status);
  }
}

/** Drives everything once, and gives back what was documented and what was seen. */
async function driveAll(options: SimulatedServiceOptions) {
  const bench = await startBench(options);
  const { admin, member, operations, team } = await fillAccount(bench);
  const me = bench.as('acme', admin);
  for (const operation of operations) await drive(bench, me, operation);
  // A fault strikes before the weather, which changes nothing of it.
  if (options.weather === undefined)
    for (const operation of operations) await driveFaults(bench, me, operation);
  await me.post('/projects/storefront/integrations', { integration: { hook_type: 'chat_b', name: 'x' } });
  const moved = { integration: { properties: { channel: '#x' } } };
  await me.patch(`/projects/storefront/integrations/${team.identifier}`, moved);
  bench.service.world.updateAccount({ account: 'acme', betaFeatures: false });
  await bench.as('acme', member).post('/beta/enrollments');
  const jane = { email: 'jane@example.com', password: 'correct horse', terms_accepted: true };
  await bench.site().post('/api/v1/signup', jane);
  await bench.site().get('/.well-known/oauth-authorization-server');
  return bench.description;
}

/** Everything that can vary, with 200 and with 201 for what is made, and then a part of it. */
const WEATHERS = [
  ...byLength(['1', '3'], ['1', '2', '3', '4']).map(
    (seed) => ({ strength: 'spec', seed, share: 1 }) as const,
  ),
  ...byLength([], ['5', '6']).map((seed) => ({ strength: 'spec', seed, share: 0.4 }) as const),
];

test('every documented answer occurs, and is as documented, in all weather that the specification allows', {
  timeout: 120_000,
}, async () => {
  const { documented, seen } = await driveAll({});
  for (const weather of WEATHERS) for (const key of (await driveAll({ weather })).seen) seen.add(key);
  // Tests of their own drive the OAuth pages and the refusals of a signup.
  const missing = documented.filter((key) => !seen.has(key) && !/\/oauth\/|signup [45]/.test(key));
  expect(missing).toEqual([]);
});

test('in calm weather, what may be left out is there, and there is no more than is documented', async () => {
  const bench = await startBench();
  const { admin, project } = addAcme(bench);
  const { components } = bench.description.document;
  const fieldsOf = (name: string) => Object.keys(components.schemas[name]?.properties ?? {});
  const me = bench.as('acme', admin);
  const [found] = (await me.get('/projects')).body;
  expect(Object.keys(found)).toEqual(fieldsOf('Project'));
  const server = (await me.get(`/projects/storefront/servers/${project.servers[0]?.identifier}`)).body;
  const blocks = ['static_hosting', 'managed_vps'];
  expect(Object.keys(server)).toEqual(fieldsOf('Server').filter((name) => !blocks.includes(name)));
  expect(server).toMatchObject({ port: 22, notify_email: false });
});
