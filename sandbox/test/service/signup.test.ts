import { expect, test } from 'vitest';
import { startBench } from './caller.ts';

const SIGNUP = '/api/v1/signup';
const jane = { email: 'jane.doe@example.com', password: 'correct horse', terms_accepted: true };
const HOUR = 3_600_000;

/** A bench where every call comes from another address, so that only its own test meets the limit. */
async function openSignup() {
  const bench = await startBench();
  const { world, clock } = bench.service;
  world.addAccount({ name: 'taken', displayName: 'Taken', users: [{ email: 'ada@example.com' }] });
  world.setIdentity({ email: 'two@example.com', password: jane.password, twoFactor: true });
  let calls = 0;
  const post = (body: unknown) => {
    calls += 1;
    return bench.site({ 'x-forwarded-for': `198.51.100.${calls}` }).post(SIGNUP, body);
  };
  return { ...bench, world, clock, post };
}

test('a new account gets a key that works once its e-mail is verified', async () => {
  const { post, as, world, service } = await openSignup();
  const { body } = await post({ ...jane, account_name: 'Blue Shop', full_name: 'Jane Doe' });
  expect(body).toMatchObject({
    account: { name: 'Blue Shop', subdomain: 'blue-shop', url: `${service.origin}/blue-shop` },
    mcp_config: { account: 'blue-shop', api_key: body.api_key, email: jane.email },
    email_verified: false,
  });
  const caller = as('blue-shop', { email: jane.email, apiKey: body.api_key });
  expect((await caller.get('/profile')).status).toBe(401);
  const [mail] = world.state.outbox;
  expect(mail?.to).toBe(jane.email);
  expect((await fetch(mail?.link ?? '')).status).toBe(200);
  const account = { permalink: 'blue-shop', beta_features: false };
  expect((await caller.get('/profile')).body).toMatchObject({ first_name: 'Jane', account });
  expect((await caller.get('/account/invoices')).status).toBe(200);
});

test.each([
  [400, 'no e-mail', { ...jane, email: undefined }],
  [400, 'no real e-mail', { ...jane, email: 'jane' }],
  [400, 'no password', { ...jane, password: '' }],
  [400, 'a body that is no object', 'jane'],
  [403, 'a throw-away mailbox', { ...jane, email: 'jane@disposable.example' }],
  [403, 'an address in the name', { ...jane, account_name: 'https://spam.example' }],
  [409, 'a name in use', { ...jane, account_name: 'Taken' }],
  [409, 'a name without letters', { ...jane, account_name: '!!!' }],
  [422, 'a short password', { ...jane, password: 'short' }],
  [422, 'terms not accepted', { ...jane, terms_accepted: false }],
  [422, 'terms left out', { ...jane, terms_accepted: undefined }],
  [422, 'an unknown package', { ...jane, package: 'gold' }],
  [422, 'an e-mail with two factors', { ...jane, email: 'two@example.com' }],
  [401, 'the wrong password of a known e-mail', { ...jane, email: 'ada@example.com' }],
])('a signup is refused with %i for %s', async (status, _, body) => {
  const { post, world } = await openSignup();
  const answer = await post(body);
  expect(answer).toMatchObject({ status, body: { status: 'error', errors: [expect.any(String)] } });
  expect(world.state.accounts.size).toBe(1);
});

test('who tried five wrong passwords is refused for a quarter of an hour', async () => {
  const { post, world, clock } = await openSignup();
  const right = { ...jane, password: 'the right one' };
  world.setIdentity({ email: right.email, password: right.password });
  for (let n = 0; n < 5; n += 1) expect((await post(jane)).status).toBe(401);
  expect((await post(right)).status).toBe(403);
  clock.advance(15 * 60_000);
  expect((await post(right)).status).toBe(201);
  expect((await post(right)).status).toBe(409);
});

test('a banned address is refused, and everybody while billing is away', async () => {
  const { site, world } = await openSignup();
  world.banIp({ ip: '192.0.2.66' });
  expect((await site({ 'x-forwarded-for': '192.0.2.66' }).post(SIGNUP, jane)).status).toBe(403);
  world.setBillingAvailable({ available: false });
  const answer = await site().post(SIGNUP, jane);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '120']);
});

test('the fourth attempt from one address within an hour is refused', async () => {
  const { site, world, clock } = await openSignup();
  const attempt = (n: number) => site().post(`${SIGNUP}.json`, { ...jane, email: `jane${n}@example.com` });
  expect((await attempt(1)).status).toBe(201);
  clock.advance(HOUR / 2);
  expect((await site().post(SIGNUP, {})).status).toBe(400);
  expect((await attempt(2)).status).toBe(201);
  const refused = await attempt(3);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1800']);
  expect((await site({ 'x-forwarded-for': '192.0.2.1' }).post(SIGNUP, jane)).status).toBe(201);
  clock.advance(HOUR / 2);
  expect((await attempt(3)).status).toBe(201);
  world.resetSignupLimits({});
  expect((await attempt(4)).status).toBe(201);
});
