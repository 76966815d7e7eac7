import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { addAcme, startBench } from './caller.ts';

const INTEGRATIONS = '/projects/storefront/integrations';
const PLACE = { account: 'acme', project: 'storefront' };
const url = 'https://hooks.example.com/1';

async function openAcme() {
  const bench = await startBench();
  const { member, project } = addAcme(bench);
  const { world, clock } = bench.service;
  const caller = bench.as('acme', member);
  const add = (hook_type: string, properties?: object, more: object = {}) =>
    caller.post(INTEGRATIONS, { integration: { hook_type, name: 'Ours', properties, ...more } });
  const hook = (given: object = {}) =>
    world.addIntegration({ ...PLACE, name: 'Hook', properties: { url }, ...given });
  const change = (identifier: string, integration: object) =>
    caller.patch(`${INTEGRATIONS}/${identifier}`, { integration });
  return { ...bench, world, clock, project, caller, add, hook, change };
}

/** For each type: what is enough, and what is missed when nothing is given. */
const types: [string, Record<string, unknown>, string[]][] = [
  ['http_req', { url }, ['url']],
  ['cdn_cache', { zone_id: 'z', path_prefix: '/a' }, ['zone_id']],
  ['perf_monitor', { application_id: 'a', api_key: 'k' }, ['application_id', 'api_key']],
  ['error_tracker_a', { token: 't' }, ['token']],
  ['error_tracker_b', { api_key: 'k', environment: 'e' }, ['api_key']],
  ['chat_teams', { url, team: 't' }, ['url']],
  ['codehost', { repository: 'r', username: 'u', api_key: 'k' }, ['repository', 'username', 'api_key']],
  [
    'error_tracker_c',
    { hook_version: 'cloud', project: 'p', token: 't', organization_slug: 'o' },
    ['hook_version', 'project', 'token'],
  ],
  ['error_tracker_d', { hook_version: 'on_premise', api_key: 'k', url }, ['hook_version', 'api_key']],
  ['chat_c', { url }, ['url']],
  ['chat_d', { bot_token: 't', chat_id: -100123 }, ['bot_token', 'chat_id']],
];

test.each(types)(
  '%s is made from its properties, kept to itself, or says which it misses',
  async (type, properties, required) => {
    const { add, project } = await openAcme();
    const { status, body } = await add(type, properties, { send_on_failure: true });
    expect(status).toBe(201);
    expect(body).toMatchObject({ hook_type: type, send_on_start: false, send_on_failure: true });
    const texts = Object.entries(properties).map(([key, value]) => [key, String(value)]);
    expect(project.integrations[0]?.properties).toEqual(Object.fromEntries(texts));
    const refused = await add(type);
    expect([refused.status, Object.keys(refused.body)]).toEqual([422, required]);
  },
);

const tracker = { project: 'p', token: 't', api_key: 'k' };
test.each<[string, object, string, object?]>([
  ['error_tracker_c', { ...tracker, hook_version: 'cloud' }, 'organization_slug'],
  ['error_tracker_c', { ...tracker, hook_version: 'on_premise' }, 'url'],
  ['error_tracker_d', { ...tracker, hook_version: 'on_premise' }, 'url'],
  ['error_tracker_d', { ...tracker, hook_version: 'desktop' }, 'hook_version'],
  ['http_req', { url: 'ftp://example.com' }, 'url'],
  ['fax', {}, 'hook_type'],
  ['http_req', { url }, 'name', { name: '' }],
  ['http_req', { url }, 'send_on_start', { send_on_start: 'yes' }],
])('%s with %j is refused for its %s', async (type, properties, field, more = {}) => {
  const { add, caller } = await openAcme();
  const answer = await add(type, properties, more);
  expect([answer.status, Object.keys(answer.body)]).toEqual([422, [field]]);
  expect(await caller.post(INTEGRATIONS, {})).toMatchObject({
    status: 422,
    body: { base: expect.anything() },
  });
});

describe.each(['chat_a_oauth', 'chat_b'])('%s', (hookType) => {
  test('is handed over to a browser, becomes active there, and the page works once', async () => {
    const { add, project } = await openAcme();
    const { body } = await add(hookType);
    expect(body).toEqual({ auth_required: true, auth_url: expect.any(String) });
    expect(project.integrations[0]?.active).toBe(false);
    expect(await (await fetch(body.auth_url)).text()).toContain('Ours');
    expect((await fetch(body.auth_url, { method: 'POST' })).status).toBe(200);
    expect(project.integrations[0]?.active).toBe(true);
    expect((await fetch(body.auth_url, { method: 'POST' })).status).toBe(410);
  });

  test('asks again after another channel, not after another name', async () => {
    const { hook, change } = await openAcme();
    const { identifier } = hook({ hookType, properties: {} });
    expect((await change(identifier, { name: 'Room' })).body).toMatchObject({ identifier, name: 'Room' });
    const moved = await change(identifier, { properties: { channel: '#ops' } });
    expect(moved.body).toMatchObject({ auth_required: true });
  });
});

describe('an update', () => {
  test('changes what is given and nothing else', async () => {
    const { clock, hook, change } = await openAcme();
    const integration = hook({ sendOnFailure: true });
    clock.advance(5_000);
    const changes = { send_on_start: true, properties: { url: `${url}0` } };
    const { status, body } = await change(integration.identifier, changes);
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'Hook', send_on_start: true, send_on_failure: true });
    expect(Date.parse(body.updated_at) - Date.parse(body.created_at)).toBe(5_000);
    expect(integration.properties).toEqual({ url: `${url}0` });
    expect((await change('none', {})).status).toBe(404);
  });

  test('that would leave it incomplete changes nothing', async () => {
    const { hook, change } = await openAcme();
    const integration = hook();
    const answer = await change(integration.identifier, { name: 'Other', properties: { url: '' } });
    expect(answer).toMatchObject({ status: 422, body: { url: ["can't be blank"] } });
    expect(integration).toMatchObject({ name: 'Hook', properties: { url } });
  });

  test('takes properties away by null, unless they are needed', async () => {
    const { hook, change } = await openAcme();
    const given = { hookType: 'cdn_cache', properties: { zone_id: 'z', path_prefix: '/shop' } };
    const { identifier, properties } = hook(given);
    expect(properties).toEqual(given.properties);
    const kept = await change(identifier, { properties: { path_prefix: null } });
    expect(kept.status).toBe(200);
    const refused = await change(identifier, { properties: { zone_id: null } });
    expect(refused).toMatchObject({ status: 422, body: { zone_id: ["can't be blank"] } });
  });
});

test('properties can be left out where only the documented ones are asked for', async () => {
  const { add, world } = await openAcme();
  world.updateAccount({ account: 'acme', integrationRules: 'documented' });
  expect((await add('chat_teams')).status).toBe(201);
  expect((await add('codehost', { project: 'p' })).status).toBe(201);
  const refused = await add('error_tracker_c', { project: 'p' });
  expect(refused).toMatchObject({ status: 422, body: { hook_version: ["can't be blank"] } });
});

test('an HTTP request is sent for the deployments that its flags name, and for no others', async ({
  onTestFinished,
}) => {
  const { world, hook } = await openAcme();
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    for await (const chunk of request) bodies.push(String(chunk));
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  hook({ sendOnFailure: true, properties: { url: address } });
  hook({ sendOnFailure: true });
  world.addDeployment(PLACE);
  world.addDeployment({ ...PLACE, succeeded: false });
  const { notifications } = world.state;
  await expect.poll(() => notifications.map(({ status }) => status)).toEqual([204, undefined]);
  expect(notifications.map(({ event }) => event)).toEqual(['deploy_failed', 'deploy_failed']);
  expect(bodies.map((body) => JSON.parse(body).event)).toEqual(['deploy_failed']);
});
