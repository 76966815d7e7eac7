import type { SiteApp } from '../../api/site.ts';
import { exchangeCode, OauthError } from '../../world/oauth.ts';
import type { World } from '../../world/records.ts';
import type { OauthClient } from '../../world/site-records.ts';

/** How long an access token is said to live, in seconds; the spec leaves it open. */
const TOKEN_SECONDS = 7_200;

/** Exchanges an authorisation code. The client's secret comes in the body only. Spec 5.3. */
export function addTokenEndpoint(app: SiteApp): void {
  app.post('/oauth/token', async (c) => {
    const form = new URLSearchParams(await c.req.text());
    c.header('cache-control', 'no-store');
    try {
      return c.json(exchange(c.env.world, form), 200);
    } catch (error) {
      if (!(error instanceof OauthError)) throw error;
      return c.json({ error: error.code, error_description: error.message }, error.status);
    }
  });
}

function exchange(world: World, form: URLSearchParams) {
  const client = authenticateClient(world, form);
  if (form.get('grant_type') !== 'authorization_code') {
    throw new OauthError('unsupported_grant_type', 'The only grant type is authorization_code.');
  }
  const grant = exchangeCode(world, {
    client,
    code: form.get('code') ?? '',
    redirectUri: form.get('redirect_uri') ?? '',
    verifier: form.get('code_verifier') ?? undefined,
  });
  return {
    access_token: grant.accessToken,
    token_type: 'Bearer',
    expires_in: TOKEN_SECONDS,
    scope: grant.scopes.join(' '),
    ...(world.oauthEmail && grant.scopes.includes('email_address') && { email_address: grant.email }),
  };
}

function authenticateClient({ clients }: World, form: URLSearchParams): OauthClient {
  const client = clients.get(form.get('client_id') ?? '');
  if (client === undefined || client.secret !== form.get('client_secret')) {
    throw new OauthError('invalid_client', 'The client is unknown or its secret is wrong.', 401);
  }
  return client;
}
