import { z } from 'zod';
import { isObject } from '../core/json.ts';
import { type CallOptions, requestJson } from './call.ts';
import type { AccountClient, Service } from './client.ts';
import { Flag, NullableText, OptionalText, orElse, YesOrNo } from './fields.ts';

/** API 2.3 (docs/service-api.md). `suspended` and `trialling` are not in it, but such services send them. */
const ProfileFields = z.object({
  first_name: OptionalText,
  last_name: OptionalText,
  email_address: OptionalText,
  account: z.preprocess(
    (account) => (isObject(account) ? account : {}),
    z
      .object({
        name: OptionalText,
        permalink: OptionalText,
        beta_features: orElse(YesOrNo, undefined),
        static_hosting_eligible: orElse(YesOrNo, undefined),
        managed_vps_eligible: orElse(YesOrNo, undefined),
        suspended: Flag,
        trialling: Flag,
      })
      // The API says that the two others equal `beta_features`. They are undefined if nothing tells.
      .transform(
        ({ beta_features: beta, static_hosting_eligible: site, managed_vps_eligible: vps, ...rest }) => ({
          ...rest,
          beta_features: beta ?? false,
          static_hosting_eligible: site ?? beta,
          managed_vps_eligible: vps ?? beta,
        }),
      ),
  ),
});
/** An answer needs at least one of the fields. */
export const Profile = z
  .looseObject({})
  .refine((answer) => Object.keys(ProfileFields.shape).some((field) => field in answer))
  .pipe(ProfileFields);
export interface Profile extends z.infer<typeof Profile> {}

/** Reads the owner of the key and the abilities of their account. API 4.3. Rejects with a ServiceError. */
export function getProfile(account: AccountClient, options?: CallOptions): Promise<Profile> {
  return requestJson(account, Profile, { operation: 'getProfile', path: ['profile'] }, options);
}

/** API 2.4. */
const BetaEnrollment = z
  .object({ enrolled: YesOrNo.optional(), beta_features: YesOrNo.optional() })
  .refine(({ enrolled, beta_features }) => (beta_features ?? enrolled) !== undefined)
  .transform(({ enrolled, beta_features }) => ({ beta_features: beta_features ?? enrolled === true }));

/**
 * Enables the beta of managed servers. Changes nothing if it is enabled. Rejects with `admin_required` and a `betaUrl` for a
 * member who is not an administrator. API 4.2 and 7.3.
 * @param protocol an unsupported one rejects with `invalid` and `unsupported_protocol`
 */
export function enrollInBeta(account: AccountClient, protocol?: string): Promise<{ beta_features: boolean }> {
  const body = protocol === undefined ? {} : { protocol };
  const path = ['beta', 'enrollments'];
  const call = { operation: 'enrollInBeta', method: 'POST', path, body } as const;
  return requestJson(account, BetaEnrollment, call);
}

/** API 2.1 (docs/service-api.md). Deckhand never stores the password. */
export interface SignupRequest {
  email: string;
  password: string;
  terms_accepted: boolean;
  account_name?: string | undefined;
  full_name?: string | undefined;
  package?: string;
  coupon?: string | undefined;
  newsletter_opt_in?: boolean;
  signup_source?: string;
  client?: string;
}

const SshPublicKey = z.object({ id: OptionalText, public_key: z.string(), fingerprint: OptionalText });

/** API 2.2. The service sends the key only once, so only a missing name or key fails the answer. */
export const Signup = z
  .object({
    account: orElse(
      z.object({ identifier: NullableText, name: NullableText, subdomain: NullableText, url: NullableText }),
      null,
    ),
    api_key: z.string().min(1),
    ssh_public_key: orElse(SshPublicKey, null),
    oauth_urls: z.unknown().optional().transform(readPages),
    mcp_config: orElse(z.object({ account: NullableText }), null),
    email_verified: Flag,
  })
  .transform(({ account, mcp_config, ...rest }, context) => {
    const subdomain = account?.subdomain ?? mcp_config?.account ?? account?.identifier;
    if (!subdomain) {
      context.addIssue('no account name');
      return z.NEVER;
    }
    const name = account?.name ?? subdomain;
    return { ...rest, account: { name, subdomain, url: account?.url ?? null } };
  });
export interface Signup extends z.infer<typeof Signup> {}

/**
 * Creates an account. API 4.1. Never sends twice: attempts are limited (API 8), and an account cannot be undone. The error
 * of a refusal has its `status` and `messages` (API 7.2).
 * @throws TypeError if no sign-up address is configured
 */
export async function signUp(service: Service, request: SignupRequest): Promise<Signup> {
  if (service.signup === undefined) throw new TypeError('sign-up has no address');
  const path = ['api', 'v1', 'signup'];
  const call = { operation: 'signUp', method: 'POST', scope: 'signup', path, body: request } as const;
  return requestJson(service.signup, Signup, call, { retries: 0 });
}

/** Reads addresses of web pages by provider. */
function readPages(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  const pages = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && /^https?:\/\//i.test(entry[1]),
  );
  return Object.fromEntries(pages);
}
