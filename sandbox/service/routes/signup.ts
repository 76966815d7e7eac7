import { createRoute, z } from '@hono/zod-openapi';
import { isJson } from '../api/app.ts';
import { ApiFailure } from '../api/failure.ts';
import { json, usualFailures } from '../api/responses.ts';
import type { SiteApp } from '../api/site.ts';
import type { Account, User } from '../world/records.ts';
import { SignupRefused, signUp } from '../world/signup.ts';

const PROVIDERS = ['codehost_a', 'codehost_b', 'codehost_c'];

const Signup = z
  .object({
    email: z.email().openapi({ description: 'Of the administrator; later the user name.' }),
    password: z.string(),
    terms_accepted: z.literal(true),
    account_name: z.string().optional().openapi({ description: 'Made from the e-mail when left out.' }),
    full_name: z.string().optional(),
    package: z.enum(['pro', 'business', 'enterprise']).default('pro'),
    coupon: z.string().optional(),
    newsletter_opt_in: z.boolean().optional(),
    signup_source: z.string().optional(),
    client: z.string().optional(),
    utm_params: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('Signup');

const NewAccount = z
  .strictObject({
    account: z.strictObject({
      identifier: z.string(),
      name: z.string(),
      subdomain: z.string(),
      url: z.url(),
    }),
    api_key: z.string().length(40).openapi({ description: 'Works once the e-mail is verified.' }),
    ssh_public_key: z.strictObject({ id: z.string(), public_key: z.string(), fingerprint: z.string() }),
    oauth_urls: z.record(z.string(), z.url()),
    mcp_config: z.strictObject({ account: z.string(), api_key: z.string(), email: z.string() }),
    email_verified: z.boolean(),
  })
  .openapi('NewAccount');

const SignupError = z
  .strictObject({ status: z.literal('error'), errors: z.array(z.string()) })
  .openapi('SignupError');

const signup = createRoute({
  method: 'post',
  path: '/api/v1/signup',
  tags: ['Signup'],
  summary: 'Create an account; needs no credentials',
  security: [],
  request: { body: { required: true, content: { 'application/json': { schema: Signup } } } },
  responses: {
    201: json(NewAccount, 'The new account and the key of its administrator.'),
    400: json(SignupError, 'The e-mail or the password is missing or invalid.'),
    401: json(SignupError, 'The e-mail is known, and the password is not right.'),
    403: json(SignupError, 'The person is locked, or the request was blocked.'),
    409: json(SignupError, 'The account name or the e-mail is taken.'),
    422: json(SignupError, 'Not acceptable: the password, the terms, the package; or two-factor is on.'),
    429: json(SignupError, 'More than 3 attempts from one address within an hour.'),
    500: usualFailures[500],
    503: json(SignupError, 'Billing is unavailable.'),
  },
});

/** Spec 4.1. The body is read by hand, for its faults have statuses of their own. */
export function addSignup(app: SiteApp): void {
  app.openAPIRegistry.registerPath(signup);
  app.on('POST', ['/api/v1/signup', '/api/v1/signup.json'], async (c) => {
    const { world, ip } = c.env;
    try {
      const { account, user } = signUp(world, ip, readBody(await c.req.text()));
      return c.json(toNewAccount(world.origin, account, user), 201);
    } catch (error) {
      if (!(error instanceof SignupRefused)) throw error;
      throw toFailure(error);
    }
  });
}

function readBody(text: string): Record<string, unknown> {
  const body: unknown = isJson(text) ? JSON.parse(text) : undefined;
  if (typeof body === 'object' && body !== null) return { ...body };
  throw new SignupRefused(400, ['The request body is not a JSON object.']);
}

function toFailure({ status, errors, retryAfter }: SignupRefused): ApiFailure {
  const headers: Record<string, string> = {};
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  return new ApiFailure(status, { status: 'error', errors }, headers);
}

function toNewAccount(origin: string, account: Account, user: User): z.infer<typeof NewAccount> {
  const { identifier, displayName, name, sshKey } = account;
  const apiKey = user.apiKey ?? '';
  return {
    account: { identifier, name: displayName, subdomain: name, url: `${origin}/${name}` },
    api_key: apiKey,
    ssh_public_key: {
      id: sshKey.identifier,
      public_key: sshKey.publicKey,
      fingerprint: sshKey.fingerprint,
    },
    oauth_urls: Object.fromEntries(
      PROVIDERS.map((provider) => [provider, `${origin}/oauth/repositories/${provider}?account=${name}`]),
    ),
    mcp_config: { account: name, api_key: apiKey, email: user.email },
    email_verified: user.verified,
  };
}
