import { createRoute, z } from '@hono/zod-openapi';
import type { AccountApp } from '../api/app.ts';
import { json, usualFailures } from '../api/responses.ts';

const Profile = z
  .strictObject({
    first_name: z.string(),
    last_name: z.string(),
    email_address: z.string(),
    account: z.strictObject({
      name: z.string(),
      permalink: z.string(),
      beta_features: z.boolean(),
      static_hosting_eligible: z.boolean(),
      managed_vps_eligible: z.boolean(),
    }),
  })
  .openapi('Profile');

const showProfile = createRoute({
  method: 'get',
  path: '/profile',
  tags: ['Profile'],
  summary: 'Who the credentials belong to',
  responses: { 200: json(Profile, 'The user and what the account is entitled to.'), ...usualFailures },
});

/** Spec 4.3. */
export function addProfile(app: AccountApp): void {
  app.openapi(showProfile, (c) => {
    const { account } = c.env;
    const user = c.get('user');
    return c.json(
      {
        first_name: user.firstName,
        last_name: user.lastName,
        email_address: user.email,
        account: {
          name: account.displayName,
          permalink: account.name,
          beta_features: account.betaFeatures,
          static_hosting_eligible: account.betaFeatures,
          managed_vps_eligible: account.betaFeatures,
        },
      },
      200,
    );
  });
}
