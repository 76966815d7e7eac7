import { z } from 'zod';
import { jsonOf } from './answer.ts';
import type { CallOptions } from './call.ts';
import type { Service } from './client.ts';
import { Flag, Identifier, isObject, NullableText, OptionalText } from './shapes.ts';

/** Spec 2.1. The password is the person's own, and kept nowhere. */
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

/**
 * Spec 2.2. The key is told only once, so nothing else that is odd in the answer may lose it: the account's
 * name is taken from wherever it stands.
 */
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
 * Creates an account. Spec 4.1. Never sent twice: attempts are few (spec 8) and an account cannot be taken
 * back. A refusal keeps its `status` and `messages` (spec 7.2).
 * Throws a TypeError where no sign-up address is configured.
 */
export async function signUp(
  service: Service,
  request: SignupRequest,
  options?: Pick<CallOptions, 'signal'>,
): Promise<Signup> {
  if (service.signup === undefined) throw new TypeError('sign-up has no address');
  return await service.signup.send(
    {
      operation: 'signUp',
      method: 'POST',
      path: ['api', 'v1', 'signup'],
      scope: 'signup',
      body: request,
      read: jsonOf(Signup),
    },
    { ...options, retries: 0 },
  );
}

/** Addresses by provider; what no browser opens as a page is left out. */
function addressesIn(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  const pages = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && /^https?:\/\//i.test(entry[1]),
  );
  return Object.fromEntries(pages);
}
