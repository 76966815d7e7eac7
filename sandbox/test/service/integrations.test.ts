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

describe('an update', () => {
  test('that would leave it incomplete changes nothing', async () => {
    const { hook, change } = await openAcme();
    const integration = hook();
    const answer = await change(integration.identifier, { name: 'Other', properties: { url: '' } });
    expect(answer).toMatchObject({ status: 422, body: { url: ["can't be blank"] } });
    expect(integration).toMatchObject({ name: 'Hook', properties: { url } });
  });
});
