import { z } from 'zod';
import { isObject } from '../core/json.ts';
import { type CallOptions, Flag, Identifier, NullableText, OptionalText, requestJson } from './call.ts';
import type { Service } from './client.ts';

/** API 2.1 (docs/service-api.md). The password is the person's own and is stored nowhere. */
export interface SignupRequest {
  email: string;
  password: string;
  terms_accepted: boolean;
  account_name?: string;
  full_name?: string;
  package?: string;
  coupon?: string;
  newsletter_opt_in?: boolean;
  signup_source?: string;
  client?: string;
  utm_params?: Record<string, string>;
}

const SshPublicKey = z.object({ id: OptionalText, public_key: z.string(), fingerprint: OptionalText });

/** API 2.2. The key is sent only once, so no other oddity of the answer may lose it: the name may come from any field. */
export const Signup = z
  .object({
    account: z
      .object({
        identifier: Identifier.nullish(),
        name: NullableText,
        subdomain: NullableText,
        url: NullableText,
      })
      .nullish()
      .catch(null),
    api_key: z.string().min(1),
    ssh_public_key: SshPublicKey.nullish().catch(null),
    oauth_urls: z.unknown().optional().transform(addressesIn),
    mcp_config: z.object({ account: NullableText }).nullish().catch(null),
    email_verified: Flag.catch(false),
  })
  .transform(({ account, mcp_config, ssh_public_key, ...rest }, context) => {
    const subdomain = account?.subdomain ?? mcp_config?.account ?? account?.identifier;
    if (!subdomain) {
      context.addIssue('no account name');
      return z.NEVER;
    }
    const named = { name: account?.name ?? subdomain, subdomain, url: account?.url ?? null };
    return { ...rest, account: named, ssh_public_key: ssh_public_key ?? null };
  });
export type Signup = z.infer<typeof Signup>;

/**
 * Creates an account. API 4.1. Never sent twice: attempts are few (API 8) and an account cannot be undone. A refusal keeps
 * its `status` and `messages` (API 7.2). Throws a TypeError where no sign-up address is configured.
 */
export async function signUp(
  service: Service,
  request: SignupRequest,
  options?: Pick<CallOptions, 'signal'>,
): Promise<Signup> {
  if (service.signup === undefined) throw new TypeError('sign-up has no address');
  const path = ['api', 'v1', 'signup'];
  const call = { operation: 'signUp', method: 'POST', scope: 'signup', path, body: request } as const;
  return await requestJson(service.signup, Signup, call, { ...options, retries: 0 });
}

/** Addresses by provider, but only those that a browser opens as a page. */
function addressesIn(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  const pages = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && /^https?:\/\//i.test(entry[1]),
  );
  return Object.fromEntries(pages);
}
