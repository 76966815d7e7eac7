import { z } from 'zod';
import { isObject } from '../core/json.ts';
import { type CallOptions, Flag, OptionalText, requestJson, YesOrNo } from './call.ts';
import type { AccountClient } from './client.ts';

/** API 2.3 (docs/service-api.md); `suspended` and `trialling` come from such services too. */
const ProfileFields = z.object({
  first_name: OptionalText,
  last_name: OptionalText,
  email_address: OptionalText,
  account: z.preprocess(
    (account) => (isObject(account) ? account : {}),
    z.object({
      name: OptionalText,
      permalink: OptionalText,
      beta_features: Flag,
      static_hosting_eligible: Flag,
      managed_vps_eligible: Flag,
      suspended: Flag,
      trialling: Flag,
    }),
  ),
});
/** An answer that has none of the fields is none. */
export const Profile = z
  .looseObject({})
  .refine((answer) => Object.keys(ProfileFields.shape).some((field) => field in answer))
  .pipe(ProfileFields);
export type Profile = z.infer<typeof Profile>;

/** Who the key belongs to, and what their account may do. API 4.3. Rejects with a ServiceError. */
export function getProfile(account: AccountClient, options?: CallOptions): Promise<Profile> {
  const call = { operation: 'getProfile', path: ['profile'] };
  return requestJson(account, Profile, call, options);
}

/** API 2.4. */
export const BetaEnrollment = z
  .object({ enrolled: YesOrNo.optional(), beta_features: YesOrNo.optional() })
  .refine(({ enrolled, beta_features }) => (beta_features ?? enrolled) !== undefined)
  .transform(({ enrolled, beta_features }) => ({ beta_features: beta_features ?? enrolled === true }));
export type BetaEnrollment = z.infer<typeof BetaEnrollment>;

/**
 * Enables the managed-resources beta; changes nothing where it is enabled. A member who is no administrator is refused
 * with `admin_required` and a `betaUrl`. API 4.2 and 7.3.
 * @param protocol one that the service does not support is `invalid` with `unsupported_protocol`
 */
export function enrollInBeta(
  account: AccountClient,
  protocol?: string,
  options?: CallOptions,
): Promise<BetaEnrollment> {
  const body = protocol === undefined ? {} : { protocol };
  const path = ['beta', 'enrollments'];
  const call = { operation: 'enrollInBeta', method: 'POST', path, body } as const;
  return requestJson(account, BetaEnrollment, call, options);
}
