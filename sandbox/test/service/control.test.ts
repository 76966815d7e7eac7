import { expect, test } from 'vitest';
import { openAcme, startBench } from './caller.ts';

const CANARY = 'canary-0123456789-canary-0123456789-canary';

async function openControl() {
  const bench = await startBench();
  const call = async (method: string, path: string, body?: unknown) => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(`${bench.service.origin}/_control/${path}`, init);
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    return { status: response.status, body: (await response.json()) as any };
  };
  return { ...bench, call };
}

test('another process can set up an account, run a test in it and decide how it ends', async () => {
  const { call, as } = await openControl();
  const { body } = await call('POST', 'add_account', {
    name: 'acme',
    users: [{ email: 'ada@example.com' }],
    projects: [{ name: 'Storefront', servers: [{ name: 'web-1' }] }],
  });
  const caller = as('acme', body.result.users[0]);
  const run = await caller.post('/projects/storefront/test_access');
  const outcome = { account: 'acme', project: 'storefront', server: 'web-1', status: 'error', message: 'No' };
  expect((await call('POST', 'set_outcome', outcome)).status).toBe(200);
  const { now } = (await call('GET', 'clock')).body;
  expect((await call('POST', 'clock/advance', { ms: 10_000 })).body.now).toBe(now + 10_000);
  const ended = await caller.get(`/projects/storefront/test_access/${run.body.identifier}`);
  expect(ended.body.results.servers).toMatchObject([{ name: 'web-1', status: 'error', message: 'No' }]);
  const state = (await call('GET', 'state')).body;
  expect(state.accounts[0].projects[0].testRuns).toMatchObject([{ status: 'completed' }]);
});

test.each([
  ['https://example.com', 400],
  ['http://127.0.0.1.example.com', 400],
  ['null', 400],
  ['http://localhost:3000', 200],
])('a page of %s gets %i', async (origin, status) => {
  const { service } = await openControl();
  const response = await fetch(`${service.origin}/_control/reset`, { method: 'POST', headers: { origin } });
  expect(response.status).toBe(status);
});

test.each([
  ['no_such_operation', {}, 404],
  ['constructor', {}, 404],
  ['set_outcome', { account: 'acme', project: 'storefront' }, 404],
  ['set_outcome', { acount: 'acme' }, 422],
  ['clock/advance', { ms: -1 }, 422],
  ['faults', { staus: 500 }, 422],
])('%s with %j is refused', async (path, body, status) => {
  const { call } = await openControl();
  expect(await call('POST', path, body)).toMatchObject({ status, body: { error: expect.any(String) } });
});

test('no secret is recorded, wherever it stands', async () => {
  const { service, as, site, people, caller } = await openAcme();
  await as('acme', { email: 'x@example.com', apiKey: CANARY }).get('/profile');
  const properties = { bot_token: CANARY, chat_id: '1', api_key: CANARY };
  const integration = { hook_type: 'chat_d', name: 'Chat', properties };
  await caller.post('/projects/storefront/integrations', { integration });
  await site().post('/api/v1/signup', { email: 'jane@example.com', password: CANARY });
  const body = new URLSearchParams({ client_secret: CANARY, code: CANARY, code_verifier: CANARY });
  await fetch(`${service.origin}/oauth/token`, { method: 'POST', body });
  await fetch(`${service.origin}/oauth/authorize?state=${CANARY}&code=${CANARY}`);
  expect(service.requests.all).toHaveLength(5);
  expect(JSON.stringify(service.requests.all)).not.toContain(CANARY);
  const state = await (await fetch(`${service.origin}/_control/state`)).text();
  expect(state).not.toContain(people.admin.apiKey);
});
