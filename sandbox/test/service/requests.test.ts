import { expect, test } from 'vitest';
import { addAcme, startBench } from './caller.ts';

const CANARY = 'canary-0123456789-canary-0123456789-canary';

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
