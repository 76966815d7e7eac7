import { z } from 'zod';
import { jsonOf } from './answer.ts';
import type { CallOptions } from './call.ts';
import type { AccountClient } from './client.ts';

/** Spec 2.4. */
export const BetaEnrollment = z.object({ enrolled: z.boolean(), beta_features: z.boolean() });
export type BetaEnrollment = z.infer<typeof BetaEnrollment>;

/**
 * Enables the managed-resources beta, for which a member who is no administrator is refused with
 * `admin_required` and a `betaUrl`; changes nothing where it is enabled. Spec 4.2 and 7.3.
 * @param protocol the service knows which it supports; any other is `invalid` with `unsupported_protocol`
 */
export function enrollInBeta(
  account: AccountClient,
  protocol?: string,
  options?: CallOptions,
): Promise<BetaEnrollment> {
  return account.send(
    {
      operation: 'enrollInBeta',
      method: 'POST',
      path: ['beta', 'enrollments'],
      scope: 'account',
      body: protocol === undefined ? {} : { protocol },
      read: jsonOf(BetaEnrollment),
    },
    options,
  );
}
