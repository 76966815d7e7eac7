import * as client from 'openid-client';
import { describe, expect, test } from 'vitest';
import { demoOauthClient } from '../../service/seed/demo-facts.ts';
import { openAcme } from './caller.ts';

const CALLBACK = 'https://deckhand.example.com/service/oauth/callback';
const deckhand = demoOauthClient([CALLBACK, `${CALLBACK}?from=service`]);
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

type Params = Record<string, string>;
const request: Params = {
  response_type: 'code',
  client_id: deckhand.id,
  redirect_uri: CALLBACK,
  scope: 'email_address assignments',
  state: 'st&te',
};

async function openOauth() {
  const { service, site } = await openAcme({ oauthClients: [deckhand] });
  /** Opens the consent page as a browser would, without following where it is sent. */
  const open = (params: Params) => site().get(`/oauth/authorize?${new URLSearchParams(params)}`);
  return { service, site, open };
}

/** What is left to redeem after a person has agreed. */
async function openCode(params: Params = request) {
  const { service, site } = await openOauth();
  const body = new URLSearchParams({ ...params, decision: 'approve', user: 'ada@example.com' });
  const init = { method: 'POST', redirect: 'manual', body } as const;
  const response = await fetch(`${service.origin}/oauth/authorize`, init);
  const form = {
    grant_type: 'authorization_code',
    client_id: deckhand.id,
    client_secret: deckhand.secret,
    redirect_uri: CALLBACK,
    code: new URL(response.headers.get('location') ?? '').searchParams.get('code') ?? '',
  };
  const redeem = (changes: Params = {}) =>
    site(FORM).send('POST', '/oauth/token', `${new URLSearchParams({ ...form, ...changes })}`);
  return { redeem, grants: service.world.state.grants };
}

describe('the consent page', () => {
  test.each<[Params, string | undefined]>([
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ scope: 'everything' }, 'invalid_scope'],
    [{ code_challenge: 'x', code_challenge_method: 'plain' }, 'invalid_request'],
    [{ client_id: 'nobody' }, undefined],
    [{ redirect_uri: 'https://evil.example.com/' }, undefined],
    [{ redirect_uri: `${CALLBACK}?more=1` }, undefined],
  ])('with %j tells the application %s', async (changes, error) => {
    const { open } = await openOauth();
    const { status, headers } = await open({ ...request, ...changes });
    expect(status).toBe(error === undefined ? 400 : 302);
    const location = headers.get('location');
    expect(location && new URL(location).searchParams.get('error')).toBe(error ?? null);
  });

  test('shows what the application sends as text, never as markup', async () => {
    const { open } = await openOauth();
    const { body } = await open({ ...request, state: '"><script>alert(1)</script>' });
    expect(body).toContain('Deckhand (demo)');
    expect(body).not.toContain('<script>');
  });
});

describe('a code', () => {
  test('works once; used again, it takes its token back', async () => {
    const { redeem, grants } = await openCode();
    expect(await redeem()).toMatchObject({ status: 200, body: { token_type: 'Bearer' } });
    expect(grants).toMatchObject([{ email: 'ada@example.com', revoked: false }]);
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
    const code_challenge = await client.calculatePKCECodeChallenge('right');
    const { redeem } = await openCode({ ...request, code_challenge, code_challenge_method: 'S256' });
    expect((await redeem()).body.error).toBe('invalid_grant');
    expect((await redeem({ code_verifier: 'wrong' })).body.error).toBe('invalid_grant');
    expect((await redeem({ code_verifier: 'right' })).status).toBe(200);
  });
});
