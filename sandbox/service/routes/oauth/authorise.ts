import { html } from 'hono/html';
import type { SiteApp } from '../../api/site.ts';
import { page } from '../../pages/layout.ts';
import { issueCode, listPeople, OauthError, SCOPES } from '../../world/oauth.ts';
import type { User, World } from '../../world/records.ts';
import type { OauthClient } from '../../world/site-records.ts';

type Params = Record<string, string>;

interface Consent {
  client: OauthClient;
  redirectUri: string;
  scopes: string[];
  challenge: string | undefined;
}

/** The page on which a person lets an application in, or not. Spec 5.3. */
export function addAuthorisePage(app: SiteApp): void {
  app.get('/oauth/authorize', (c) => {
    const params = c.req.query();
    const client = findClient(c.env.world, params);
    if (client === undefined) return c.html(refusal(), 400);
    return redirectOnError(c.env.world, params, () => {
      const consent = readConsent(client, params);
      return c.html(consentPage(consent, params, listPeople(c.env.world)));
    });
  });
  app.post('/oauth/authorize', async (c) => {
    const form = new URLSearchParams(await c.req.text());
    const params = Object.fromEntries(form);
    const client = findClient(c.env.world, params);
    if (client === undefined) return c.html(refusal(), 400);
    return redirectOnError(c.env.world, params, () =>
      decide(c.env.world, readConsent(client, params), params),
    );
  });
}

/** Only a registered address, to the letter, is ever redirected to. */
function findClient({ clients }: World, params: Params): OauthClient | undefined {
  const client = clients.get(params.client_id ?? '');
  return client?.redirectUris.includes(params.redirect_uri ?? '') ? client : undefined;
}

function readConsent(client: OauthClient, params: Params): Consent {
  if (params.response_type !== 'code') {
    throw new OauthError('unsupported_response_type', 'Only the response type "code" is supported.');
  }
  const scopes = (params.scope ?? SCOPES.join(' ')).split(' ').filter((scope) => scope !== '');
  if (scopes.some((scope) => !SCOPES.includes(scope))) {
    throw new OauthError('invalid_scope', `The scopes are ${SCOPES.join(' and ')}.`);
  }
  if (params.code_challenge !== undefined && params.code_challenge_method !== 'S256') {
    throw new OauthError('invalid_request', 'The code_challenge_method must be S256.');
  }
  return { client, redirectUri: params.redirect_uri ?? '', scopes, challenge: params.code_challenge };
}

function decide(world: World, { client, redirectUri, scopes, challenge }: Consent, params: Params): Response {
  if (params.decision !== 'approve') throw new OauthError('access_denied', 'The person said no.');
  const person = listPeople(world).find(({ email }) => email === params.user);
  if (person === undefined) throw new OauthError('access_denied', 'Nobody is signed in.');
  const code = issueCode(world, { client: client.id, redirectUri, scopes, email: person.email, challenge });
  return redirect(world, params, { code });
}

function redirectOnError(
  world: World,
  params: Params,
  answer: () => Response | Promise<Response>,
): Response | Promise<Response> {
  try {
    return answer();
  } catch (error) {
    if (!(error instanceof OauthError)) throw error;
    return redirect(world, params, { error: error.code, error_description: error.message });
  }
}

function redirect({ origin, oauthIss }: World, params: Params, answer: Params): Response {
  const target = new URL(params.redirect_uri ?? '');
  const state: Params = params.state === undefined ? {} : { state: params.state };
  const iss: Params = oauthIss ? { iss: origin } : {};
  for (const [key, value] of Object.entries({ ...answer, ...state, ...iss })) {
    target.searchParams.set(key, value);
  }
  return new Response(null, { status: 302, headers: { location: target.href } });
}

function consentPage({ client, scopes }: Consent, params: Params, people: User[]) {
  return page(
    `Let ${client.name} in?`,
    html`<p>${client.name} asks for: ${scopes.join(', ')}.</p>
<form method="post" action="/oauth/authorize">
${Object.entries(params).map(([key, value]) => html`<input type="hidden" name="${key}" value="${value}">`)}
<p><label>Signed in as <select name="user">
${people.map(({ email }) => html`<option>${email}</option>`)}
</select></label></p>
<button class="primary" name="decision" value="approve">Approve</button>
<button name="decision" value="deny">Deny</button>
</form>`,
  );
}

function refusal() {
  return page(
    'Unknown application',
    html`<p>The application is not registered, or not with this redirect address.</p>`,
  );
}
