import { createRoute, z } from '@hono/zod-openapi';
import { json } from '../../api/responses.ts';
import type { SiteApp } from '../../api/site.ts';
import { SCOPES } from '../../world/oauth.ts';
import { addAuthorisePage } from './authorise.ts';
import { addTokenEndpoint } from './token.ts';

const Metadata = z
  .strictObject({
    issuer: z.url(),
    authorization_endpoint: z.url(),
    token_endpoint: z.url(),
    response_types_supported: z.array(z.string()),
    grant_types_supported: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    token_endpoint_auth_methods_supported: z.array(z.string()),
    code_challenge_methods_supported: z.array(z.string()),
    authorization_response_iss_parameter_supported: z.literal(true).optional(),
  })
  .openapi('AuthorisationServerMetadata');

const Token = z
  .strictObject({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int(),
    scope: z.string(),
    email_address: z.email().optional(),
  })
  .openapi('Token');

const OauthFailure = z
  .strictObject({ error: z.string(), error_description: z.string() })
  .openapi('OauthError');

const TokenRequest = z.object({
  grant_type: z.literal('authorization_code'),
  client_id: z.string(),
  client_secret: z.string(),
  code: z.string(),
  redirect_uri: z.string(),
  code_verifier: z.string().optional(),
});

const tags = ['OAuth 2.0'];
const htmlPage = (description: string) => ({ description, content: { 'text/html': { schema: z.string() } } });

const showMetadata = createRoute({
  method: 'get',
  path: '/.well-known/oauth-authorization-server',
  tags,
  summary: 'What the authorisation server can do',
  security: [],
  responses: { 200: json(Metadata, 'The metadata.') },
});

const authorise = createRoute({
  method: 'get',
  path: '/oauth/authorize',
  tags,
  summary: 'The page on which a person lets an application in',
  security: [],
  request: {
    query: z.object({
      response_type: z.literal('code'),
      client_id: z.string(),
      redirect_uri: z.string(),
      scope: z
        .string()
        .optional()
        .openapi({ description: `Of ${SCOPES.join(' and ')}; both when left out.` }),
      state: z.string().optional(),
      code_challenge: z.string().optional(),
      code_challenge_method: z.literal('S256').optional(),
    }),
  },
  responses: {
    200: htmlPage('The page.'),
    302: { description: 'Something is wrong with the request; the application is told.' },
    400: htmlPage('The application or its address is not registered.'),
  },
});

const exchange = createRoute({
  method: 'post',
  path: '/oauth/token',
  tags,
  summary: 'Exchange a code for an access token',
  security: [],
  request: {
    body: { required: true, content: { 'application/x-www-form-urlencoded': { schema: TokenRequest } } },
  },
  responses: {
    200: json(Token, 'The token.'),
    400: json(OauthFailure, 'The code, the address or the verifier does not fit.'),
    401: json(OauthFailure, 'The client is unknown or its secret is wrong.'),
  },
});

/** The OAuth 2.0 authorisation server, whose metadata is on the main site. Spec 5.3. */
export function addOauth(app: SiteApp): void {
  app.openapi(showMetadata, (c) => {
    const { origin, authOrigin, oauthIss } = c.env.world;
    return c.json(
      {
        issuer: origin,
        authorization_endpoint: `${authOrigin}/oauth/authorize`,
        token_endpoint: `${authOrigin}/oauth/token`,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code'],
        scopes_supported: SCOPES,
        token_endpoint_auth_methods_supported: ['client_secret_post'],
        code_challenge_methods_supported: ['S256'],
        ...(oauthIss && { authorization_response_iss_parameter_supported: true as const }),
      },
      200,
    );
  });
  app.openAPIRegistry.registerPath(authorise);
  app.openAPIRegistry.registerPath(exchange);
  addAuthorisePage(app);
  addTokenEndpoint(app);
}
