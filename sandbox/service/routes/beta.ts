import { createRoute, z } from '@hono/zod-openapi';
import type { AccountApp } from '../api/app.ts';
import { ApiFailure } from '../api/failure.ts';
import { ApiError, json, usualFailures } from '../api/responses.ts';

const PROTOCOLS = ['static_hosting', 'managed_vps'];

const Enrolment = z
  .strictObject({ enrolled: z.boolean(), beta_features: z.boolean() })
  .openapi('BetaEnrolment');

const AdminRequired = z
  .strictObject({ error: z.literal('admin_required'), message: z.string(), beta_url: z.url() })
  .openapi('AdminRequired');

const UnsupportedProtocol = z
  .strictObject({ error: z.literal('unsupported_protocol'), message: z.string() })
  .openapi('UnsupportedProtocol');

const enrol = createRoute({
  method: 'post',
  path: '/beta/enrollments',
  tags: ['Beta'],
  summary: 'Switch managed servers on for the account',
  request: {
    body: {
      content: {
        'application/json': {
          schema: z.object({
            protocol: z
              .unknown()
              .optional()
              .openapi({ type: 'string', enum: PROTOCOLS, default: 'managed_vps' }),
          }),
        },
      },
    },
  },
  responses: {
    ...usualFailures,
    200: json(Enrolment, 'The account is enrolled, now or already.'),
    403: json(
      z.union([AdminRequired, ApiError]),
      'Only an administrator can enrol the account; or any other reason to refuse.',
    ),
    422: json(UnsupportedProtocol, 'No such protocol.'),
  },
});

/** Spec 4.2: once an account is enrolled, any member may ask again. */
export function addBeta(app: AccountApp): void {
  app.openapi(enrol, (c) => {
    const { account } = c.env;
    const { protocol = 'managed_vps' } = c.req.valid('json');
    if (!PROTOCOLS.includes(String(protocol))) throw unsupportedProtocol(protocol);
    if (!account.betaFeatures && c.get('user').role !== 'admin') throw adminRequired(c.env.baseUrl);
    account.betaFeatures = true;
    return c.json({ enrolled: true, beta_features: true }, 200);
  });
}

function unsupportedProtocol(protocol: unknown): ApiFailure {
  const named = typeof protocol === 'string' ? protocol : JSON.stringify(protocol);
  return new ApiFailure(422, {
    error: 'unsupported_protocol',
    message: `"${named}" is no protocol of the beta; it has ${PROTOCOLS.join(' and ')}.`,
  });
}

function adminRequired(baseUrl: string): ApiFailure {
  return new ApiFailure(403, {
    error: 'admin_required',
    message: 'An administrator has to enable the beta for this account first.',
    beta_url: `${baseUrl}/beta_features`,
  });
}
