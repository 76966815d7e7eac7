import { z } from 'zod';
import { jsonOf } from './answer.ts';
import type { CallOptions } from './call.ts';
import type { AccountClient } from './client.ts';
import { Flag, NullableText, OptionalText } from './shapes.ts';

/** Spec 2.3; `time_zone`, `suspended` and `trialling` are met on such services. */
export const Profile = z.object({
  first_name: OptionalText,
  last_name: OptionalText,
  email_address: z.string(),
  /** IANA or a service's own name; null where it is not told. */
  time_zone: NullableText,
  account: z.preprocess(
    (account) => account ?? {},
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
export type Profile = z.infer<typeof Profile>;

/** Who the key belongs to, and what their account may do. Spec 4.3. Rejects with a ServiceError. */
export function getProfile(account: AccountClient, options?: CallOptions): Promise<Profile> {
  return account.send(
    { operation: 'getProfile', method: 'GET', path: ['profile'], scope: 'account', read: jsonOf(Profile) },
    options,
  );
}
