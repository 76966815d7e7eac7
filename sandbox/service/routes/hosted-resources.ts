import { createRoute, z } from '@hono/zod-openapi';
import { permit } from '../api/access.ts';
import type { AccountApp } from '../api/app.ts';
import { recordNotFound } from '../api/failure.ts';
import { json, usualFailures } from '../api/responses.ts';
import { Timestamp, timestamp } from '../api/timestamps.ts';
import { findHostedResource } from '../world/find.ts';
import { listSizes, monthlyCost, REGIONS, requestSync } from '../world/hosting.ts';
import type { Account, HostedResource as HostedResourceRecord } from '../world/records.ts';

const HostedResource = z
  .strictObject({
    identifier: z.string(),
    name: z.string(),
    region: z.string(),
    size: z.string(),
    status: z.enum(['provisioning', 'active', 'suspended', 'error', 'destroying']),
    ip_address: z.string().nullable().openapi({ description: 'Null until there is one.' }),
    monthly_cost: z.number(),
    ssh_key: z.strictObject({
      identifier: z.string(),
      title: z.string(),
      public_key: z.string(),
      key_type: z.string(),
      fingerprint: z.string(),
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi('HostedResource');

const Region = z.strictObject({ slug: z.string(), name: z.string() }).openapi('Region');

const Size = z
  .strictObject({ slug: z.string(), label: z.string(), monthly_cost: z.number(), currency: z.string() })
  .openapi('Size');

const tags = ['Managed hosting'];
const middleware = [permit('hosting')];
const request = { params: z.object({ identifier: z.string() }) };

const listResources = createRoute({
  method: 'get',
  path: '/hosted_resources',
  tags,
  summary: 'All managed virtual servers of the account',
  middleware,
  responses: { 200: json(z.array(HostedResource), 'The resources.'), ...usualFailures },
});

const showResource = createRoute({
  method: 'get',
  path: '/hosted_resources/{identifier}',
  tags,
  summary: 'One managed virtual server',
  middleware,
  request,
  responses: { 200: json(HostedResource, 'The resource.'), ...usualFailures },
});

const syncResource = createRoute({
  method: 'post',
  path: '/hosted_resources/{identifier}/sync',
  tags,
  summary: 'Ask the hosting provider how a resource is; the answer shows a little later',
  middleware,
  request,
  responses: {
    200: json(z.strictObject({ status: z.literal('sync_requested') }), 'The job is queued.'),
    ...usualFailures,
  },
});

const listRegions = createRoute({
  method: 'get',
  path: '/managed_hosting/regions',
  tags,
  summary: 'Where managed servers can stand',
  middleware,
  responses: { 200: json(z.strictObject({ regions: z.array(Region) }), 'The regions.'), ...usualFailures },
});

const listPricedSizes = createRoute({
  method: 'get',
  path: '/managed_hosting/sizes',
  tags,
  summary: "How large managed servers can be, priced in the account's currency",
  middleware,
  responses: { 200: json(z.strictObject({ sizes: z.array(Size) }), 'The sizes.'), ...usualFailures },
});

/** Spec 4.5. */
export function addHostedResources(app: AccountApp): void {
  app.openapi(listResources, (c) => {
    const { account } = c.env;
    return c.json(
      account.hostedResources.map((resource) => toHostedResource(account, resource)),
      200,
    );
  });
  app.openapi(showResource, (c) => {
    const resource = getResource(c.env.account, c.req.valid('param').identifier);
    return c.json(toHostedResource(c.env.account, resource), 200);
  });
  app.openapi(syncResource, (c) => {
    requestSync(c.env.world, getResource(c.env.account, c.req.valid('param').identifier));
    return c.json({ status: 'sync_requested' as const }, 200);
  });
  app.openapi(listRegions, (c) => c.json({ regions: REGIONS }, 200));
  app.openapi(listPricedSizes, (c) => c.json({ sizes: listSizes(c.env.account) }, 200));
}

function getResource(account: Account, identifier: string): HostedResourceRecord {
  const resource = findHostedResource(account, identifier);
  if (resource === undefined) throw recordNotFound();
  return resource;
}

function toHostedResource(
  account: Account,
  { sshKey, ...resource }: HostedResourceRecord,
): z.infer<typeof HostedResource> {
  return {
    identifier: resource.identifier,
    name: resource.name,
    region: resource.region,
    size: resource.size,
    status: resource.status,
    ip_address: resource.ipAddress,
    monthly_cost: monthlyCost(account, resource.size),
    ssh_key: {
      identifier: sshKey.identifier,
      title: sshKey.title,
      public_key: sshKey.publicKey,
      key_type: sshKey.keyType,
      fingerprint: sshKey.fingerprint,
    },
    created_at: timestamp(resource.createdAt),
    updated_at: timestamp(resource.updatedAt),
  };
}
