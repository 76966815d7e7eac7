import { expect, test } from 'vitest';
import { addAcme, startBench } from './caller.ts';

const CANARY = 'canary-0123456789-canary-0123456789-canary';

test('a request is recorded with who asked for what, and how it was answered', async () => {
  const bench = await startBench();
  const { admin } = addAcme(bench);
  const next = bench.service.requests.next(({ method }) => method === 'POST');
  await bench.as('acme', admin).get('/profile.json');
  await bench.as('acme', admin).post('/projects/none/test_access', { note: 1 });
  expect(await next).toEqual({
    at: bench.service.clock.now(),
    method: 'POST',
    path: '/projects/none/test_access',
    query: {},
    account: 'acme',
    user: admin.email,
    userAgent: expect.any(String),
    accept: 'application/json',
    contentType: 'application/json',
    body: { note: 1 },
    status: 404,
    dropped: false,
  });
  const seen = await bench.service.requests.seen(({ path }) => path === '/profile');
  expect(seen).toMatchObject({ status: 200, account: 'acme', body: undefined });
});

test('a wait can be given up', async () => {
  const { service } = await startBench();
  await expect(service.requests.next(() => false, AbortSignal.abort())).rejects.toThrow(/abort/i);
});

test('no secret is recorded, wherever it stands', async () => {
  const bench = await startBench();
  const { admin } = addAcme(bench);
  const caller = bench.as('acme', admin);
  await bench.as('acme', { email: 'x@example.com', apiKey: CANARY }).get('/profile');
  await caller.post('/projects/storefront/integrations', {
    integration: {
      hook_type: 'chat_d',
      name: 'Chat',
      properties: { bot_token: CANARY, chat_id: '1', api_key: CANARY },
    },
  });
  await bench.site().post('/api/v1/signup', { email: 'jane@example.com', password: CANARY });
  await fetch(`${bench.service.origin}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ client_secret: CANARY, code: CANARY, code_verifier: CANARY }),
  });
  await fetch(`${bench.service.origin}/oauth/authorize?state=${CANARY}&code=${CANARY}`);
  expect(bench.service.requests.all).toHaveLength(5);
  expect(JSON.stringify(bench.service.requests.all)).not.toContain(CANARY);
  const state = await (await fetch(`${bench.service.origin}/_control/state`)).text();
  expect(state).not.toContain(admin.apiKey);
});
