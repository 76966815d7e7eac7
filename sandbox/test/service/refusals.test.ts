import { expect, test } from 'vitest';
import { PERMISSIONS } from '../../service/world/records.ts';
import { openAcme } from './caller.ts';

const STOREFRONT = '/projects/storefront';
const SERVERS = `${STOREFRONT}/servers`;
const RUNS = `${STOREFRONT}/test_access`;
const INTEGRATIONS = `${STOREFRONT}/integrations`;

test.each([
  ['projects', 'GET', '/projects'],
  ['servers', 'GET', SERVERS],
  ['servers', 'GET', `${SERVERS}/any`],
  ['servers', 'POST', SERVERS],
  ['test_access', 'POST', RUNS],
  ['test_access', 'GET', `${RUNS}/any`],
  ['build_configurations', 'GET', `${STOREFRONT}/build_configurations/any`],
  ['integrations', 'POST', INTEGRATIONS],
  ['integrations', 'PATCH', `${INTEGRATIONS}/any`],
  ['activity', 'GET', '/activity'],
  ['hosting', 'GET', '/hosted_resources'],
  ['hosting', 'POST', '/hosted_resources/any/sync'],
  ['hosting', 'GET', '/managed_hosting/regions'],
  ['hosting', 'GET', '/managed_hosting/sizes'],
])('without the permission %s, %s %s is refused by its name', async (permission, method, path) => {
  const { caller, update } = await openAcme();
  update({ permissions: PERMISSIONS.filter((name) => name !== permission) });
  const body = { error_code: 'permission_denied', hint: expect.stringContaining(`"${permission}"`) };
  expect(await caller.send(method, path)).toMatchObject({ status: 403, body });
});

test('invoices are for billing managers, and the profile is for everybody', async () => {
  const { admin, caller, update } = await openAcme();
  update({ permissions: [] });
  expect((await admin.get('/account/invoices')).status).toBe(200);
  for (const path of ['/account/invoices', '/account/invoices/1001.pdf'])
    expect((await caller.get(path)).status).toBe(403);
  expect((await caller.get('/profile')).body).toMatchObject({ email_address: 'ben@example.com' });
});

test('a project that a person may not see is not there, nor what happened in it', async () => {
  const { world, admin, caller, update } = await openAcme();
  world.addProject({ account: 'acme', name: 'Ledger' });
  world.addDeployment({ account: 'acme', project: 'storefront' });
  world.addDeployment({ account: 'acme', project: 'ledger', succeeded: false });
  update({ projects: ['storefront'] });
  const look = async (who: typeof admin) => {
    const names = (await who.get('/projects')).body.map(({ name }: { name: string }) => name);
    const { stats } = (await who.get('/activity?include=stats')).body;
    return [names, stats.total_deployments, stats.success_rate];
  };
  expect(await look(admin)).toEqual([['Ledger', 'Storefront'], 2, 50]);
  expect(await look(caller)).toEqual([['Storefront'], 1, 100]);
  const missing = { status: 404, body: { error_code: 'record_not_found', status: 'not_found' } };
  expect(await caller.post('/projects/ledger/test_access')).toMatchObject(missing);
});

test('a suspended account answers nobody, and one that does not exist is a host that does not', async () => {
  const { world, caller, service } = await openAcme();
  world.suspendAccount({ account: 'acme' });
  expect((await caller.get('/projects')).status).toBe(403);
  world.resumeAccount({ account: 'acme' });
  expect((await caller.get('/projects')).status).toBe(200);
  const answer = await fetch(`${service.origin}/acmee/profile`);
  expect([answer.status, await answer.text()]).toEqual([
    404,
    expect.not.stringContaining('record_not_found'),
  ]);
});

const NO_ENDPOINT = { error_code: 'invalid_api_method' };
const NOT_FOUND = { error_code: 'record_not_found' };
test.each([
  ['GET', '/nowhere', NO_ENDPOINT],
  ['DELETE', '/projects', NO_ENDPOINT],
  ['GET', STOREFRONT, NO_ENDPOINT],
  ['GET', '/hosted_resources/none', NOT_FOUND],
  ['POST', '/hosted_resources/none/sync', NOT_FOUND],
  ['GET', `${RUNS}/none`, NOT_FOUND],
  ['POST', `${SERVERS}/none/test_access`, NOT_FOUND],
  ['POST', '/projects/none/test_access', NOT_FOUND],
  ['GET', '/account/invoices/9.pdf', NOT_FOUND],
  ['GET', '/account/invoices/1001.pdf', NOT_FOUND],
  ['GET', '/account/invoices/x.pdf', NOT_FOUND],
])('%s %s is not there', async (method, path, body) => {
  const { unchecked, people, world } = await openAcme();
  world.addInvoice({ account: 'acme', finalised: false });
  expect(await unchecked('acme', people.admin).send(method, path)).toMatchObject({ status: 404, body });
});

test('a body that is not JSON is named as such', async () => {
  const { caller } = await openAcme();
  const body = { error_code: 'invalid_json', error: expect.any(String) };
  expect(await caller.send('POST', RUNS, '{"a":')).toMatchObject({ status: 400, body });
});

const BLANK = ["can't be blank"];
const site = { name: 'Docs', protocol_type: 'static_hosting' };
const machine = { server: { name: 'Reports', protocol_type: 'managed_vps' }, region: 'fra1', size: 'small' };
const subdomain = (name: string) => ({ server: site, hosted_website_attributes: { subdomain: name } });

test.each([
  [{}, { base: ['server is missing'] }],
  [{ server: {} }, { name: BLANK, protocol_type: BLANK }],
  [{ server: { name: ' ', protocol_type: 'ssh' } }, { name: BLANK }],
  [{ server: { name: 'x', protocol_type: 'ssh' } }, { hostname: BLANK }],
  [{ server: { name: 'x', protocol_type: 'pigeon' } }, { protocol_type: [/must be one of/] }],
  [{ server: site }, { subdomain: BLANK }],
  [subdomain('No spaces'), { subdomain: [/lower-case/] }],
  [subdomain('taken'), { subdomain: [/taken/] }],
  [
    { ...machine, region: 'syd1', size: 'vast' },
    { region: [/./], size: [/./] },
  ],
])('a server of %j is refused by field', async (body, fields) => {
  const { caller, world, as } = await openAcme();
  const email = 'otto@example.com';
  const other = world.addAccount({ name: 'other', users: [{ email }], projects: [{ name: 'Storefront' }] });
  await as('other', { email, apiKey: other.users[0]?.apiKey }).post(SERVERS, subdomain('taken'));
  expect(await caller.post(SERVERS, body)).toMatchObject({ status: 422, body: fields });
});

test('managed servers need the beta, are limited by the plan, and are made only so fast', async () => {
  const { caller, limit, clock } = await openAcme();
  limit({ betaFeatures: false });
  expect((await caller.post(SERVERS, machine)).status).toBe(403);
  limit({ betaFeatures: true, managedServerLimit: 1, provisioningLimit: 1 });
  await caller.post(SERVERS, machine);
  expect(await caller.post(SERVERS, subdomain('a'))).toMatchObject({ status: 422, body: { base: [/plan/] } });
  limit({ managedServerLimit: 9 });
  clock.advance(1_000_000);
  const answer = await caller.post(SERVERS, subdomain('a'));
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '2600']);
  clock.advance(2_600_000);
  expect((await caller.post(SERVERS, subdomain('a'))).status).toBe(201);
});

const url = 'https://hooks.example.com/1';

test.each<[type: string, properties: Record<string, unknown>, required: string]>([
  ['codehost', { repository: 'r', username: 'u', api_key: 'k' }, 'repository username api_key'],
  ['chat_d', { bot_token: 't', chat_id: -100123 }, 'bot_token chat_id'],
])('%s is made from its properties, or says which it misses', async (hook_type, properties, required) => {
  const { caller, project } = await openAcme();
  const add = (given?: object) =>
    caller.post(INTEGRATIONS, { integration: { hook_type, name: 'Ours', properties: given } });
  expect((await add(properties)).status).toBe(201);
  const texts = Object.entries(properties).map(([key, value]) => [key, String(value)]);
  expect(project.integrations[0]?.properties).toEqual(Object.fromEntries(texts));
  const refused = await add();
  expect([refused.status, Object.keys(refused.body).join(' ')]).toEqual([422, required]);
});

const tracker = { project: 'p', token: 't', api_key: 'k' };
test.each<[type: string, properties: object, field: string, more?: object]>([
  ['error_tracker_c', { ...tracker, hook_version: 'cloud' }, 'organization_slug'],
  ['error_tracker_c', { ...tracker, hook_version: 'on_premise' }, 'url'],
  ['error_tracker_d', { ...tracker, hook_version: 'on_premise' }, 'url'],
  ['error_tracker_d', { ...tracker, hook_version: 'desktop' }, 'hook_version'],
  ['http_req', { url: 'ftp://example.com' }, 'url'],
  ['fax', {}, 'hook_type'],
  ['http_req', { url }, 'name', { name: '' }],
  ['http_req', { url }, 'send_on_start', { send_on_start: 'yes' }],
])('%s with %j is refused for its %s', async (hook_type, properties, field, more) => {
  const { caller } = await openAcme();
  const integration = { hook_type, name: 'Ours', properties, ...more };
  const answer = await caller.post(INTEGRATIONS, { integration });
  expect([answer.status, Object.keys(answer.body)]).toEqual([422, [field]]);
});

test('a change that would leave an integration incomplete changes nothing', async () => {
  const { caller, world } = await openAcme();
  const hook = { name: 'Hook', properties: { url } };
  const made = world.addIntegration({ account: 'acme', project: 'storefront', ...hook });
  const integration = { name: 'Other', properties: { url: '' } };
  const answer = await caller.patch(`${INTEGRATIONS}/${made.identifier}`, { integration });
  expect(answer).toMatchObject({ status: 422, body: { url: BLANK } });
  expect(made).toMatchObject(hook);
});
