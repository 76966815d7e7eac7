import { expect, test } from 'vitest';
import { addAcme, startBench } from './caller.ts';

/**
 * Every operation is driven to every status it documents, and each answer is held against the description.
 * 500, 503 and the 429 of operations without a limit of their own come from faults.
 */
test('every documented answer occurs, and is as documented', { timeout: 60_000 }, async () => {
  const bench = await startBench();
  const { service, description } = bench;
  const { admin, member, project } = addAcme(bench);
  const { world } = service;
  const resource = world.addHostedResource({ account: 'acme', name: 'box' });
  const hook = world.addIntegration({
    account: 'acme',
    project: 'storefront',
    name: 'Hook',
    properties: { url: 'https://example.com' },
  });
  const team = world.addIntegration({
    account: 'acme',
    project: 'storefront',
    name: 'T',
    hookType: 'chat_b',
  });
  world.addInvoice({ account: 'acme' });
  world.addDeployment({ account: 'acme', project: 'storefront' });
  const me = bench.as('acme', admin);
  const [server] = project.servers;
  const [build] = project.buildConfigurations;
  const run = await me.post('/projects/storefront/test_access');
  const integration = { hook_type: 'http_req', name: 'x', properties: { url: 'https://example.com' } };
  const plain = { name: 'x', protocol_type: 'ssh', hostname: 'x.example.net' };

  /** Method, path, a body that is accepted, and one that is not. */
  const operations: [string, string, unknown?, unknown?][] = [
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
  for (const [method, path, accepted, refused] of operations) {
    const body = accepted === undefined ? undefined : JSON.stringify(accepted);
    const answer = await me.send(method, path, body);
    expect(answer.status, `${method} ${path}`).toBeLessThan(300);
    if (refused !== undefined) await me.send(method, path, JSON.stringify(refused));
    if (method !== 'GET') await me.send(method, path, '{');
    await bench.as('acme', { email: 'x', apiKey: 'x' }).send(method, path, body);
    for (const status of [400, 404, 429, 500, 503]) {
      service.faults.add({ path: '/acme/**', status, times: 1 });
      expect((await me.send(method, path, body)).status).toBe(status);
    }
    world.updateAccount({ account: 'acme', apiAccess: false });
    await me.send(method, path, body);
    world.updateAccount({ account: 'acme', apiAccess: true });
  }
  await me.post('/projects/storefront/integrations', { integration: { hook_type: 'chat_b', name: 'x' } });
  await me.patch(`/projects/storefront/integrations/${team.identifier}`, {
    integration: { properties: { channel: '#x' } },
  });
  world.updateAccount({ account: 'acme', betaFeatures: false });
  await bench.as('acme', member).post('/beta/enrollments');

  const site = bench.site();
  const jane = { email: 'jane@example.com', password: 'correct horse', terms_accepted: true };
  const signup = async (body: unknown) => {
    world.resetSignupLimits({});
    return (await site.post('/api/v1/signup', body)).status;
  };
  const statuses = [
    await signup(jane),
    await signup(jane),
    await signup({}),
    await signup({ ...jane, password: 'x' }),
  ];
  expect(statuses).toEqual([201, 409, 400, 401]);
  expect(await signup({ ...jane, email: 'j@example.com', terms_accepted: false })).toBe(422);
  expect(await signup({ ...jane, email: 'j@disposable.example' })).toBe(403);
  for (let attempt = 0; attempt < 3; attempt += 1) await site.post('/api/v1/signup', {});
  world.setBillingAvailable({ available: false });
  expect(await signup(jane)).toBe(503);
  service.faults.add({ path: '/api/**', status: 500, body: { error_code: 'internal_error' } });
  expect(await signup(jane)).toBe(500);
  await site.get('/.well-known/oauth-authorization-server');

  // The OAuth pages and the token endpoint take forms; their own tests drive them.
  const missing = description.documented.filter(
    (key) => !description.seen.has(key) && !key.includes('/oauth/'),
  );
  expect(missing).toEqual([]);
});
