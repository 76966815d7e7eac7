import { describe, expect, test } from 'vitest';
import { startBench } from './caller.ts';

const SIGNUP = '/api/v1/signup';
const jane = { email: 'jane.doe@example.com', password: 'correct horse', terms_accepted: true };
const HOUR = 3_600_000;

/** A bench where every call comes from another address, so that only its own test meets the limit. */
async function openSignup() {
  const bench = await startBench();
  let calls = 0;
  const post = (body: unknown) => {
    calls += 1;
    return bench.site({ 'x-forwarded-for': `198.51.100.${calls}` }).post(SIGNUP, body);
  };
  return { ...bench, post };
}

describe('a new account', () => {
  test('gets a key that works once its e-mail is verified', async () => {
    const { post, as, service } = await openSignup();
    const { status, body } = await post({ ...jane, account_name: 'Blue Shop', full_name: 'Jane Doe' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      account: { name: 'Blue Shop', subdomain: 'blue-shop', url: `${service.origin}/blue-shop` },
      mcp_config: { account: 'blue-shop', api_key: body.api_key, email: jane.email },
      email_verified: false,
    });
    const caller = as('blue-shop', { email: jane.email, apiKey: body.api_key });
    expect((await caller.get('/profile')).status).toBe(401);
    const [mail] = service.world.state.outbox;
    expect(mail?.to).toBe(jane.email);
    expect((await fetch(mail?.link ?? '')).status).toBe(200);
    expect((await caller.get('/profile')).body).toMatchObject({
      first_name: 'Jane',
      last_name: 'Doe',
      account: { permalink: 'blue-shop', beta_features: false },
    });
    expect((await caller.get('/account/invoices')).status).toBe(200);
  });

  test('is named after the e-mail where no name is given, and so is its administrator', async () => {
    const { post, service } = await openSignup();
    const { body } = await post(jane);
    expect(body.account.subdomain).toBe('jane-doe-example-com');
    const user = service.world.state.accounts.get('jane-doe-example-com')?.users[0];
    expect(`${user?.firstName} ${user?.lastName}`).toBe('jane-doe-example-com Admin');
  });

  test('takes the next free variation of its name, up to the tenth', async () => {
    const { post, service } = await openSignup();
    service.world.addAccount({ name: 'shop' });
    expect((await post({ ...jane, account_name: 'Shop!' })).body.account.subdomain).toBe('shop-2');
    for (let n = 3; n <= 10; n += 1) service.world.addAccount({ name: `shop-${n}` });
    expect((await post({ ...jane, email: 'joe@example.com', account_name: 'Shop?' })).status).toBe(409);
  });

  test('never sits on an address of the service itself', async () => {
    const { post } = await openSignup();
    expect((await post({ ...jane, account_name: 'docs' })).body.account.subdomain).toBe('docs-2');
  });

  test('is verified by a link that works for a day', async () => {
    const { post, service } = await openSignup();
    await post(jane);
    const [mail] = service.world.state.outbox;
    service.clock.advance(24 * HOUR);
    expect((await fetch(mail?.link ?? '')).status).toBe(410);
    const account = 'jane-doe-example-com';
    const fresh = service.world.sendVerification({ account, email: jane.email });
    expect((await fetch(fresh.link)).status).toBe(200);
  });
});

describe('a signup is refused', () => {
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
  ])('with %i for %s', async (status, _, body) => {
    const { post, service } = await openSignup();
    service.world.addAccount({ name: 'taken', displayName: 'Taken' });
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ status: 'error', errors: [expect.any(String)] });
    expect(service.world.state.accounts.size).toBe(1);
  });

  test('with 401 for a known e-mail and a wrong password, and 403 once that was tried too often', async () => {
    const { post, service } = await openSignup();
    service.world.setIdentity({ email: jane.email, password: 'the right one' });
    for (let n = 0; n < 5; n += 1) expect((await post(jane)).status).toBe(401);
    expect((await post({ ...jane, password: 'the right one' })).status).toBe(403);
    service.clock.advance(15 * 60_000);
    expect((await post({ ...jane, password: 'the right one' })).status).toBe(201);
  });

  test('with 409 for an e-mail in use, with 422 for one that uses two factors', async () => {
    const { post, service } = await openSignup();
    await post(jane);
    expect((await post(jane)).status).toBe(409);
    service.world.setIdentity({ email: 'two@example.com', password: jane.password, twoFactor: true });
    expect((await post({ ...jane, email: 'two@example.com' })).status).toBe(422);
  });

  test('with 401 for the e-mail of somebody who is in an account already', async () => {
    const { post, service } = await openSignup();
    service.world.addAccount({ name: 'acme', users: [{ email: jane.email }] });
    expect((await post(jane)).status).toBe(401);
  });

  test('with 403 from a banned address, with 503 while billing is away', async () => {
    const { site, service } = await openSignup();
    service.world.banIp({ ip: '192.0.2.66' });
    expect((await site({ 'x-forwarded-for': '192.0.2.66' }).post(SIGNUP, jane)).status).toBe(403);
    service.world.setBillingAvailable({ available: false });
    const answer = await site().post(SIGNUP, jane);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('120');
  });

  test('with 429 on the fourth attempt from one address within an hour', async () => {
    const { site, service } = await openSignup();
    const attempt = (n: number) => site().post(`${SIGNUP}.json`, { ...jane, email: `jane${n}@example.com` });
    expect((await attempt(1)).status).toBe(201);
    service.clock.advance(HOUR / 2);
    expect((await site().post(SIGNUP, {})).status).toBe(400);
    expect((await attempt(2)).status).toBe(201);
    const refused = await attempt(3);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1800');
    expect((await site({ 'x-forwarded-for': '192.0.2.1' }).post(SIGNUP, jane)).status).toBe(201);
    service.clock.advance(HOUR / 2);
    expect((await attempt(3)).status).toBe(201);
    expect((await attempt(4)).status).toBe(429);
    service.world.resetSignupLimits({});
    expect((await attempt(4)).status).toBe(201);
  });
});

describe('why a signup is refused', () => {
  async function refusalOf(condition: 'two_factor' | 'email_taken' | 'name_taken', wording: string) {
    const { post, service } = await openSignup();
    service.world.setIdentity({ email: 'two@example.com', password: jane.password, twoFactor: true });
    service.world.addAccount({ name: 'taken', displayName: 'Taken' });
    await post(jane);
    service.world.setSignupWording({ condition, wording });
    const bodies = {
      two_factor: { ...jane, email: 'two@example.com' },
      email_taken: jane,
      name_taken: { ...jane, email: 'new@example.com', account_name: 'Taken' },
    };
    const { status, body } = await post(bodies[condition]);
    return { status, text: body.errors.join(' ') };
  }

  test.each(['two-factor', '2fa', 'multi-factor', 'otp'])('can be two factors, called %s', async (word) => {
    const { status, text } = await refusalOf('two_factor', word);
    expect(status).toBe(422);
    expect(text.toLowerCase()).toContain(word);
  });

  test.each(['email_taken', 'name_taken'] as const)('can name neither field: %s', async (condition) => {
    const { status, text } = await refusalOf(condition, 'neither');
    expect(status).toBe(409);
    expect(text).not.toMatch(/name|mail|address/i);
  });

  test('is chosen for each condition, until everything starts anew', async () => {
    const { post, service } = await openSignup();
    const short = { ...jane, password: 'short' };
    const usual = (await post(short)).body.errors;
    service.world.setSignupWording({ condition: 'short_password', wording: 'short' });
    expect((await post(short)).body.errors).toEqual(['Password is too short (minimum is 8 characters)']);
    await fetch(`${service.origin}/_control/reset`, { method: 'POST' });
    expect((await post(short)).body.errors).toEqual(usual);
    expect(() => service.world.setSignupWording({ condition: 'terms', wording: 'otp' })).toThrow(
      'no wording "otp"',
    );
  });
});
