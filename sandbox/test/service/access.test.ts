import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { PERMISSIONS } from '../../service/world/records.ts';
import { addAcme, startBench } from './caller.ts';

describe('credentials', () => {
  test('open the account they belong to, with and without the suffix', async () => {
    const bench = await startBench();
    const { admin } = addAcme(bench);
    const caller = bench.as('acme', admin);
    expect((await caller.get('/projects.json')).body).toMatchObject([{ permalink: 'storefront' }]);
    expect((await caller.get('/projects')).status).toBe(200);
  });

  test('are not asked for twice: the key of another account, a wrong one and none at all get 401', async () => {
    const bench = await startBench();
    const { admin } = addAcme(bench);
    const other = bench.service.world.addAccount({ name: 'other', users: [{ email: 'ada@example.com' }] });
    const answers = [
      await bench.as('acme', { email: admin.email, apiKey: other.users[0]?.apiKey }).get('/profile'),
      await bench.as('acme', { email: 'nobody@example.com', apiKey: admin.apiKey }).get('/profile'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
    const bare = await fetch(`${bench.service.origin}/acme/profile`);
    expect(bare.status).toBe(401);
    expect(bare.headers.get('www-authenticate')).toContain('Basic');
  });

  test('die with their key, live on with the rotated one', async () => {
    const bench = await startBench();
    const { admin } = addAcme(bench);
    const old = { email: admin.email, apiKey: admin.apiKey };
    const apiKey = bench.service.world.rotateKey({ account: 'acme', email: admin.email });
    expect((await bench.as('acme', old).get('/profile')).status).toBe(401);
    expect((await bench.as('acme', { email: admin.email, apiKey }).get('/profile')).status).toBe(200);
    bench.service.world.revokeKey({ account: 'acme', email: admin.email });
    expect((await bench.as('acme', { email: admin.email, apiKey }).get('/profile')).status).toBe(401);
  });

  test('wait for the verified e-mail', async () => {
    const bench = await startBench();
    const { admin } = addAcme(bench);
    bench.service.world.updateUser({ account: 'acme', email: admin.email, verified: false });
    expect((await bench.as('acme', admin).get('/profile')).status).toBe(401);
    bench.service.world.verifyEmail({ account: 'acme', email: admin.email });
    expect((await bench.as('acme', admin).get('/profile')).status).toBe(200);
  });
});

describe('an account', () => {
  test('that does not exist is a host that does not exist, not a missing record', async () => {
    const bench = await startBench();
    const { admin } = addAcme(bench);
    const answer = await fetch(`${bench.service.origin}/acmee/profile`, {
      headers: { authorization: `Basic ${btoa(`${admin.email}:${admin.apiKey}`)}` },
    });
    expect(answer.status).toBe(404);
    expect(await answer.text()).not.toContain('record_not_found');
  });

  test('can be named by the host as well', async () => {
    const bench = await startBench();
    const { admin } = addAcme(bench);
    bench.service.world.addInvoice({ account: 'acme' });
    const { port } = new URL(bench.service.origin);
    // Not every resolver knows that *.localhost is this machine, so only the Host header says it.
    const request = get(`${bench.service.origin}/account/invoices`, {
      auth: `${admin.email}:${admin.apiKey}`,
      headers: { host: `acme.localhost:${port}` },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(await json(response)).toMatchObject([
      { download_url: `http://acme.localhost:${port}/account/invoices/1001.pdf` },
    ]);
  });

  test('without the API in its plan says so', async () => {
    const bench = await startBench();
    const { admin } = addAcme(bench);
    bench.service.world.updateAccount({ account: 'acme', apiAccess: false });
    const answer = await bench.as('acme', admin).get('/profile');
    expect(answer).toMatchObject({ status: 403, body: { error_code: 'api_access_restricted' } });
  });

  test('that is suspended refuses everything until it is resumed', async () => {
    const bench = await startBench();
    const { admin } = addAcme(bench);
    bench.service.world.suspendAccount({ account: 'acme' });
    expect((await bench.as('acme', admin).get('/projects')).status).toBe(403);
    bench.service.world.resumeAccount({ account: 'acme' });
    expect((await bench.as('acme', admin).get('/projects')).status).toBe(200);
  });
});

describe('permissions', () => {
  const guarded: [string, string, string][] = [
    ['projects', 'GET', '/projects'],
    ['servers', 'GET', '/projects/storefront/servers/any'],
    ['servers', 'POST', '/projects/storefront/servers'],
    ['test_access', 'POST', '/projects/storefront/test_access'],
    ['test_access', 'GET', '/projects/storefront/test_access/any'],
    ['build_configurations', 'GET', '/projects/storefront/build_configurations/any'],
    ['integrations', 'POST', '/projects/storefront/integrations'],
    ['integrations', 'PATCH', '/projects/storefront/integrations/any'],
    ['activity', 'GET', '/activity'],
    ['hosting', 'GET', '/hosted_resources'],
    ['hosting', 'POST', '/hosted_resources/any/sync'],
    ['hosting', 'GET', '/managed_hosting/regions'],
    ['hosting', 'GET', '/managed_hosting/sizes'],
  ];

  test.each(guarded)('without %s, %s %s is refused', async (permission, method, path) => {
    const bench = await startBench();
    const { member } = addAcme(bench);
    const others = PERMISSIONS.filter((name) => name !== permission);
    bench.service.world.updateUser({ account: 'acme', email: member.email, permissions: others });
    expect((await bench.as('acme', member).send(method, path)).status).toBe(403);
  });

  test('a project that the user may not see is not there', async () => {
    const bench = await startBench();
    const { member } = addAcme(bench);
    bench.service.world.addProject({ account: 'acme', name: 'Secret' });
    bench.service.world.updateUser({ account: 'acme', email: member.email, projects: ['storefront'] });
    const caller = bench.as('acme', member);
    expect((await caller.get('/projects')).body).toHaveLength(1);
    const answer = await caller.post('/projects/secret/test_access');
    expect(answer).toMatchObject({
      status: 404,
      body: { error_code: 'record_not_found', status: 'not_found' },
    });
  });

  test('the profile is for every member', async () => {
    const bench = await startBench();
    const { member } = addAcme(bench);
    bench.service.world.updateUser({ account: 'acme', email: member.email, permissions: [] });
    const { body } = await bench.as('acme', member).get('/profile');
    expect(body).toMatchObject({ email_address: member.email, account: { permalink: 'acme', name: 'Acme' } });
  });
});

describe('what is not there', () => {
  test.each([
    ['GET', '/nowhere'],
    ['DELETE', '/projects'],
    ['GET', '/projects/storefront'],
  ])('%s %s is no endpoint', async (method, path) => {
    const bench = await startBench();
    const { admin } = addAcme(bench);
    const response = await fetch(`${bench.service.origin}/acme${path}`, {
      method,
      headers: { authorization: `Basic ${btoa(`${admin.email}:${admin.apiKey}`)}` },
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error_code: 'invalid_api_method' });
  });

  test('nor is another path beside the one of signup', async () => {
    const { service } = await startBench();
    const response = await fetch(`${service.signupUrl}/api/v1/sign-up`, { method: 'POST' });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error_code: 'invalid_api_method' });
  });

  test('a body that is not JSON is named as such, whatever the endpoint', async () => {
    const bench = await startBench();
    const { admin } = addAcme(bench);
    const answer = await bench.as('acme', admin).send('POST', '/projects/storefront/test_access', '{"a":');
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'invalid_json' } });
    expect(answer.body.error).toBeTruthy();
  });
});

describe('the beta', () => {
  test('is switched on by an administrator, and then anybody may ask', async () => {
    const bench = await startBench();
    const { admin, member } = addAcme(bench);
    bench.service.world.updateAccount({ account: 'acme', betaFeatures: false });
    const refused = await bench.as('acme', member).post('/beta/enrollments', {});
    expect(refused).toMatchObject({ status: 403, body: { error: 'admin_required' } });
    expect((await fetch(refused.body.beta_url)).status).toBe(200);
    const profile = await bench.as('acme', member).get('/profile');
    expect(profile.body.account).toMatchObject({ beta_features: false, managed_vps_eligible: false });
    const enrolled = { status: 200, body: { enrolled: true, beta_features: true } };
    expect(await bench.as('acme', admin).post('/beta/enrollments')).toMatchObject(enrolled);
    expect(
      await bench.as('acme', member).post('/beta/enrollments', { protocol: 'static_hosting' }),
    ).toMatchObject(enrolled);
  });

  test('names the protocol it does not know, and those it does', async () => {
    const bench = await startBench();
    const { admin } = addAcme(bench);
    const answer = await bench.as('acme', admin).post('/beta/enrollments', { protocol: 'gopher' });
    expect(answer).toMatchObject({ status: 422, body: { error: 'unsupported_protocol' } });
    expect(answer.body.message).toMatch(/gopher.*static_hosting.*managed_vps/);
  });
});
