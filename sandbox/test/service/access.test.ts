import { describe, expect, test } from 'vitest';
import { PERMISSIONS } from '../../service/world/records.ts';
import { addAcme, startBench } from './caller.ts';

async function openAcme() {
  const bench = await startBench();
  const people = addAcme(bench);
  const { world } = bench.service;
  const me = bench.as('acme', people.admin);
  const member = bench.as('acme', people.member);
  const update = (changes: object) =>
    world.updateUser({ account: 'acme', email: people.member.email, ...changes });
  const fetchAs = (path: string, init: RequestInit = {}) => {
    const authorization = `Basic ${btoa(`${people.admin.email}:${people.admin.apiKey}`)}`;
    return fetch(bench.service.origin + path, { ...init, headers: { authorization } });
  };
  return { ...bench, world, people, me, member, update, fetchAs };
}

describe('an account', () => {
  test('that does not exist is a host that does not exist, not a missing record', async () => {
    const { fetchAs } = await openAcme();
    const answer = await fetchAs('/acmee/profile');
    expect([answer.status, await answer.text()]).toEqual([
      404,
      expect.not.stringContaining('record_not_found'),
    ]);
  });

  test('refuses everything without the API in its plan, and while it is suspended', async () => {
    const { world, me } = await openAcme();
    world.updateAccount({ account: 'acme', apiAccess: false });
    const restricted = { status: 403, body: { error_code: 'api_access_restricted' } };
    expect(await me.get('/profile')).toMatchObject(restricted);
    world.updateAccount({ account: 'acme', apiAccess: true });
    world.suspendAccount({ account: 'acme' });
    expect((await me.get('/projects')).status).toBe(403);
    world.resumeAccount({ account: 'acme' });
    expect((await me.get('/projects')).status).toBe(200);
  });
});

describe('permissions', () => {
  test.each([
    ['projects', 'GET', '/projects'],
    ['servers', 'GET', '/projects/storefront/servers'],
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
  ])('without %s, %s %s is refused by a 403 that names it', async (permission, method, path) => {
    const { member, update } = await openAcme();
    update({ permissions: PERMISSIONS.filter((name) => name !== permission) });
    const hint = expect.stringContaining(`"${permission}"`);
    const body = { error_code: 'permission_denied', hint };
    expect(await member.send(method, path)).toMatchObject({ status: 403, body });
  });

  test('invoices are for billing managers, and the profile is for everybody', async () => {
    const { me, member, update, people } = await openAcme();
    update({ permissions: [] });
    expect((await me.get('/account/invoices')).status).toBe(200);
    expect((await member.get('/account/invoices')).status).toBe(403);
    expect((await member.get('/account/invoices/1001.pdf')).status).toBe(403);
    const { body } = await member.get('/profile');
    const account = { permalink: 'acme', name: 'Acme' };
    expect(body).toMatchObject({ email_address: people.member.email, account });
  });

  test('a project that a person may not see is not there, nor what happened in it', async () => {
    const { world, me, member, update, service } = await openAcme();
    world.addProject({ account: 'acme', name: 'Ledger' });
    world.addDeployment({ account: 'acme', project: 'storefront' });
    world.addDeployment({ account: 'acme', project: 'ledger', succeeded: false });
    update({ projects: ['storefront'] });
    const look = async (caller: typeof me) => {
      const { body: projects } = await caller.get('/projects');
      const { stats } = (await caller.get('/activity?include=stats')).body;
      return [
        projects.map(({ name }: { name: string }) => name),
        stats.total_deployments,
        stats.success_rate,
      ];
    };
    expect(await look(me)).toEqual([['Ledger', 'Storefront'], 2, 50]);
    expect(await look(member)).toEqual([['Storefront'], 1, 100]);
    const missing = { status: 404, body: { error_code: 'record_not_found', status: 'not_found' } };
    expect(await member.post('/projects/ledger/test_access')).toMatchObject(missing);
    update({ projects: null });
    expect(await look(member)).toEqual(await look(me));
    expect(service.requests.all.at(-3)).toMatchObject({ user: 'ben@example.com' });
  });
});

describe('what is not there', () => {
  test.each([
    ['GET', '/acme/nowhere'],
    ['DELETE', '/acme/projects'],
    ['GET', '/acme/projects/storefront'],
    ['POST', '/api/v1/sign-up'],
  ])('%s %s is no endpoint', async (method, path) => {
    const { fetchAs } = await openAcme();
    const response = await fetchAs(path, { method });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error_code: 'invalid_api_method' });
  });

  test('a body that is not JSON is named as such, whatever the endpoint', async () => {
    const { me } = await openAcme();
    const answer = await me.send('POST', '/projects/storefront/test_access', '{"a":');
    const body = { error_code: 'invalid_json', error: expect.any(String) };
    expect(answer).toMatchObject({ status: 400, body });
  });
});

describe('the beta', () => {
  test('names the protocol it does not know, and those it does', async () => {
    const { me } = await openAcme();
    const message = expect.stringMatching(/gopher.*static_hosting.*managed_vps/);
    const body = { error: 'unsupported_protocol', message };
    expect(await me.post('/beta/enrollments', { protocol: 'gopher' })).toMatchObject({ status: 422, body });
  });
});
