import * as client from 'openid-client';
import { describe, expect, test } from 'vitest';
import { demoOauthClient } from '../../service/seed/demo-facts.ts';
import type { SimulatedServiceOptions } from '../../service/server.ts';
import { addAcme, startBench } from './caller.ts';
import type { Description } from './described.ts';

const CALLBACK = 'https://deckhand.example.com/service/oauth/callback';
const deckhand = demoOauthClient([CALLBACK, `${CALLBACK}?from=service`]);

async function openOauth(options: SimulatedServiceOptions = {}) {
  const bench = await startBench({ oauthClients: [deckhand], ...options });
  const parts = addAcme(bench);
  descriptions.set(bench.service.origin, bench.description);
  return { ...bench, ...parts };
}

type Params = Record<string, string>;
const request: Params = {
  response_type: 'code',
  client_id: deckhand.id,
  redirect_uri: CALLBACK,
  scope: 'email_address assignments',
  state: 'st&te',
};

/** Presses a button on the consent page; gives back where the browser is sent. */
async function decide(origin: string, params: Params, decision = 'approve', user = 'ada@example.com') {
  const response = await fetch(`${origin}/oauth/authorize`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ ...params, decision, user }),
  });
  expect(response.status).toBe(302);
  return new URL(response.headers.get('location') ?? '');
}

/** Every answer is held against the description of the service it comes from. */
const descriptions = new Map<string, Description>();

async function described(method: string, url: URL, response: Response): Promise<unknown> {
  const contentType = response.headers.get('content-type') ?? '';
  const text = await response.text();
  const body: unknown = contentType.includes('json') ? JSON.parse(text) : text;
  const wire = { method, path: url.pathname, status: response.status, contentType, body };
  descriptions.get(url.origin)?.check(wire);
  return body;
}

async function exchange(origin: string, form: Params) {
  const url = new URL('/oauth/token', origin);
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, body: (await described('POST', url, response)) as Params };
}

/** Opens the consent page as a browser would, without following where it is sent. */
async function openConsent(origin: string, params: Params) {
  const url = new URL(`/oauth/authorize?${new URLSearchParams(params)}`, origin);
  const response = await fetch(url, { redirect: 'manual' });
  const text = String(await described('GET', url, response));
  return { status: response.status, location: response.headers.get('location'), text };
}

function tokenForm(code: string | null): Params {
  return {
    grant_type: 'authorization_code',
    client_id: deckhand.id,
    client_secret: deckhand.secret,
    redirect_uri: CALLBACK,
    code: code ?? '',
  };
}

test.each<[string, SimulatedServiceOptions]>([
  ['', {}],
  [', its endpoints on an origin of their own', { ownAuthOrigin: true }],
  [', told by whom it was answered', { ownAuthOrigin: true, oauthIss: true }],
])('a well-kept client library discovers it and gets a token with PKCE%s', async (_, options) => {
  const { service } = await openOauth(options);
  expect(service.authUrl === service.siteUrl).toBe(options.ownAuthOrigin === undefined);
  const config = await client.discovery(
    new URL(service.siteUrl),
    deckhand.id,
    {},
    client.ClientSecretPost(deckhand.secret),
    { algorithm: 'oauth2', execute: [client.allowInsecureRequests] },
  );
  const verifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'email_address',
    state: 'abc',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const page = await fetch(url);
  expect(await page.text()).toContain('Deckhand (demo)');
  const target = await decide(service.authUrl, Object.fromEntries(url.searchParams));
  expect(target.searchParams.get('iss')).toBe(options.oauthIss ? service.siteUrl : null);
  const tokens = await client.authorizationCodeGrant(config, target, {
    pkceCodeVerifier: verifier,
    expectedState: 'abc',
  });
  expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'email_address' });
  expect(service.world.state.grants).toMatchObject([{ email: 'ada@example.com', revoked: false }]);
  service.world.revokeGrants({ email: 'ada@example.com', client: deckhand.id });
  expect(service.world.state.grants).toMatchObject([{ revoked: true }]);
});

describe('the consent page', () => {
  test.each<[Params, string | undefined]>([
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ scope: 'everything' }, 'invalid_scope'],
    [{ code_challenge: 'x', code_challenge_method: 'plain' }, 'invalid_request'],
    [{ client_id: 'nobody' }, undefined],
    [{ redirect_uri: 'https://evil.example.com/' }, undefined],
    [{ redirect_uri: `${CALLBACK}?more=1` }, undefined],
  ])('with %j tells the application %s', async (changes, error) => {
    const { service } = await openOauth();
    const { status, location } = await openConsent(service.origin, { ...request, ...changes });
    expect(status).toBe(error === undefined ? 400 : 302);
    expect(location && new URL(location).searchParams.get('error')).toBe(error ?? null);
  });

  test('shows what the application sends as text, never as markup', async () => {
    const { service } = await openOauth();
    const state = '"><script>alert(1)</script>';
    const { text } = await openConsent(service.origin, { ...request, state });
    expect(text).not.toContain('<script>');
  });
});

describe('a code', () => {
  async function openCode(params: Params = request) {
    const { service } = await openOauth();
    const form = tokenForm((await decide(service.origin, params)).searchParams.get('code'));
    const redeem = (changes: Params = {}) => exchange(service.origin, { ...form, ...changes });
    return { service, redeem, grants: service.world.state.grants };
  }

  test('works once; used again, it takes its token back', async () => {
    const { redeem, grants } = await openCode();
    expect(await redeem()).toMatchObject({ status: 200, body: { token_type: 'Bearer' } });
    expect(await redeem()).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(grants).toMatchObject([{ revoked: true }]);
  });

  test.each([
    ['another redirect address', { redirect_uri: 'https://deckhand.example.com/' }, 'invalid_grant'],
    ['another code', { code: 'guess' }, 'invalid_grant'],
    ['a verifier that nothing was promised for', { code_verifier: 'x' }, 'invalid_grant'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['a wrong secret', { client_secret: 'guess' }, 'invalid_client'],
    ['no secret in the body', { client_secret: '' }, 'invalid_client'],
  ])('is worth nothing with %s', async (_, changes, error) => {
    const { redeem, grants } = await openCode();
    const status = error === 'invalid_client' ? 401 : 400;
    expect(await redeem(changes)).toMatchObject({ status, body: { error } });
    expect(grants).toEqual([]);
  });

  test('with a challenge needs its verifier', async () => {
    const challenge = await client.calculatePKCECodeChallenge('right');
    const params = { ...request, code_challenge: challenge, code_challenge_method: 'S256' };
    const { redeem } = await openCode(params);
    expect((await redeem()).body.error).toBe('invalid_grant');
    expect((await redeem({ code_verifier: 'wrong' })).body.error).toBe('invalid_grant');
    expect((await redeem({ code_verifier: 'right' })).status).toBe(200);
  });
});
