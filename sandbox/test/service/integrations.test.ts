import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { addAcme, startBench } from './caller.ts';

const INTEGRATIONS = '/projects/storefront/integrations';

async function openAcme() {
  const bench = await startBench();
  const parts = addAcme(bench);
  return { ...bench, ...parts, caller: bench.as('acme', parts.member) };
}

const url = 'https://hooks.example.com/1';
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

describe.each(types)('%s', (hookType, properties, required) => {
  test('is made from its properties, and keeps them to itself', async () => {
    const { caller, project } = await openAcme();
    const integration = { hook_type: hookType, name: 'Ours', send_on_failure: true, properties };
    const { status, body } = await caller.post(INTEGRATIONS, { integration });
    expect(status).toBe(201);
    expect(body).toMatchObject({ hook_type: hookType, send_on_start: false, send_on_failure: true });
    const texts = Object.entries(properties).map(([key, value]) => [key, String(value)]);
    expect(project.integrations[0]?.properties).toEqual(Object.fromEntries(texts));
  });

  test('says which properties it misses', async () => {
    const { caller } = await openAcme();
    const answer = await caller.post(INTEGRATIONS, { integration: { hook_type: hookType, name: 'Ours' } });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body)).toEqual(required);
  });
});

describe('what else is refused', () => {
  const tracker = { project: 'p', token: 't', api_key: 'k' };
  test.each([
    ['error_tracker_c', { ...tracker, hook_version: 'cloud' }, 'organization_slug'],
    ['error_tracker_c', { ...tracker, hook_version: 'on_premise' }, 'url'],
    ['error_tracker_d', { ...tracker, hook_version: 'on_premise' }, 'url'],
    ['error_tracker_d', { ...tracker, hook_version: 'desktop' }, 'hook_version'],
    ['http_req', { url: 'ftp://example.com' }, 'url'],
  ])('%s with %j: %s', async (hookType, properties, field) => {
    const { caller } = await openAcme();
    const integration = { hook_type: hookType, name: 'Ours', properties };
    const answer = await caller.post(INTEGRATIONS, { integration });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body)).toEqual([field]);
  });

  test.each([
    [{ integration: { hook_type: 'fax', name: 'Ours' } }, 'hook_type'],
    [{ integration: { hook_type: 'http_req', name: '', properties: { url } } }, 'name'],
    [{ integration: { hook_type: 'http_req', name: 'Ours', send_on_start: 'yes' } }, 'send_on_start'],
    [{}, 'base'],
  ])('%j: %s', async (body, field) => {
    const { caller } = await openAcme();
    const answer = await caller.post(INTEGRATIONS, body);
    expect(answer.status).toBe(422);
    expect(answer.body).toHaveProperty(field);
  });
});

describe.each(['chat_a_oauth', 'chat_b'])('%s', (hookType) => {
  test('is handed over to a browser, becomes active there, and the page works once', async () => {
    const { caller, project } = await openAcme();
    const { body } = await caller.post(INTEGRATIONS, { integration: { hook_type: hookType, name: 'Team' } });
    expect(body).toEqual({ auth_required: true, auth_url: expect.any(String) });
    expect(project.integrations[0]?.active).toBe(false);
    expect(await (await fetch(body.auth_url)).text()).toContain('Team');
    expect((await fetch(body.auth_url, { method: 'POST' })).status).toBe(200);
    expect(project.integrations[0]?.active).toBe(true);
    expect((await fetch(body.auth_url, { method: 'POST' })).status).toBe(410);
  });

  test('asks again after another channel, not after another name', async () => {
    const { caller, service } = await openAcme();
    const { identifier } = service.world.addIntegration({
      account: 'acme',
      project: 'storefront',
      hookType,
      name: 'Team',
    });
    const renamed = await caller.patch(`${INTEGRATIONS}/${identifier}`, { integration: { name: 'Room' } });
    expect(renamed.body).toMatchObject({ identifier, name: 'Room' });
    const changes = { properties: { channel: '#ops' } };
    const moved = await caller.patch(`${INTEGRATIONS}/${identifier}`, { integration: changes });
    expect(moved.body).toMatchObject({ auth_required: true });
  });
});

describe('an update', () => {
  test('changes what is given and nothing else', async () => {
    const { caller, service } = await openAcme();
    const integration = service.world.addIntegration({
      account: 'acme',
      project: 'storefront',
      name: 'Hook',
      sendOnFailure: true,
      properties: { url },
    });
    service.clock.advance(5_000);
    const { status, body } = await caller.patch(`${INTEGRATIONS}/${integration.identifier}`, {
      integration: { send_on_start: true, properties: { url: `${url}0` } },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'Hook', send_on_start: true, send_on_failure: true });
    expect(Date.parse(body.updated_at) - Date.parse(body.created_at)).toBe(5_000);
    expect(integration.properties).toEqual({ url: `${url}0` });
  });

  test('that would leave it incomplete changes nothing', async () => {
    const { caller, service } = await openAcme();
    const place = { account: 'acme', project: 'storefront' };
    const integration = service.world.addIntegration({ ...place, name: 'Hook', properties: { url } });
    const answer = await caller.patch(`${INTEGRATIONS}/${integration.identifier}`, {
      integration: { name: 'Other', properties: { url: '' } },
    });
    expect(answer).toMatchObject({ status: 422, body: { url: ["can't be blank"] } });
    expect(integration).toMatchObject({ name: 'Hook', properties: { url } });
  });

  test('of an unknown one is not found', async () => {
    const { caller } = await openAcme();
    expect((await caller.patch(`${INTEGRATIONS}/none`, { integration: {} })).status).toBe(404);
  });
});

describe('properties', () => {
  test('can be left out where only the documented ones are asked for', async () => {
    const bench = await startBench();
    const { member } = addAcme(bench);
    bench.service.world.updateAccount({ account: 'acme', integrationRules: 'documented' });
    const caller = bench.as('acme', member);
    const add = (hook_type: string, properties?: object) =>
      caller.post('/projects/storefront/integrations', { integration: { hook_type, name: 'x', properties } });
    expect((await add('chat_teams')).status).toBe(201);
    expect((await add('codehost', { project: 'p' })).status).toBe(201);
    expect(await add('error_tracker_c', { project: 'p' })).toMatchObject({
      status: 422,
      body: { hook_version: ["can't be blank"] },
    });
  });

  test('are taken away by null, unless they are needed', async () => {
    const bench = await startBench();
    const { member, project } = addAcme(bench);
    const properties = { zone_id: 'z', path_prefix: '/shop' };
    const place = { account: 'acme', project: 'storefront' };
    const hook = bench.service.world.addIntegration({
      ...place,
      name: 'x',
      hookType: 'cdn_cache',
      properties,
    });
    const change = (changes: object) =>
      bench.as('acme', member).patch(`/projects/storefront/integrations/${hook.identifier}`, {
        integration: { properties: changes },
      });
    expect((await change({ path_prefix: null })).status).toBe(200);
    expect(project.integrations[0]?.properties).toEqual({ zone_id: 'z' });
    expect(await change({ zone_id: null })).toMatchObject({
      status: 422,
      body: { zone_id: ["can't be blank"] },
    });
  });
});

describe('an HTTP request', () => {
  test('is sent for the deployments that its flags name, and for no others', async ({ onTestFinished }) => {
    const { service } = await openAcme();
    const bodies: string[] = [];
    const server = createServer(async (request, response) => {
      for await (const chunk of request) bodies.push(String(chunk));
      response.writeHead(204).end();
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void server.close());
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const place = { account: 'acme', project: 'storefront' };
    const hook = { ...place, name: 'Hook', properties: { url: address } };
    service.world.addIntegration({ ...hook, sendOnFailure: true });
    service.world.addIntegration({ ...hook, properties: { url }, sendOnFailure: true });
    service.world.addDeployment(place);
    service.world.addDeployment({ ...place, succeeded: false });
    const { notifications } = service.world.state;
    await expect.poll(() => notifications.map(({ status }) => status)).toEqual([204, undefined]);
    expect(notifications.map(({ event }) => event)).toEqual(['deploy_failed', 'deploy_failed']);
    expect(bodies.map((body) => JSON.parse(body).event)).toEqual(['deploy_failed']);
  });
});
