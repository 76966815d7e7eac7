import { z } from '@hono/zod-openapi';
import { findHostedResource } from '../world/find.ts';
import type { Server as ServerRecord } from '../world/project-records.ts';
import type { Account, World } from '../world/records.ts';

const ManagedStatus = z.enum(['provisioning', 'active', 'suspended', 'disabled', 'error', 'destroying']);

/** What every server has, in a build configuration too. Spec 2.9. */
export const ServerEntry = z.strictObject({
  identifier: z.string(),
  name: z.string(),
  protocol_type: z.string(),
  server_path: z.string(),
  last_revision: z.string(),
  preferred_branch: z.string(),
  notify_email: z.boolean(),
  server_group_identifier: z.string().nullable(),
  hostname: z.string(),
  port: z.int(),
  username: z.string(),
  use_ssh_keys: z.boolean(),
  host_key: z.string(),
});

const StaticHosting = z
  .strictObject({
    hosted_website_identifier: z.string(),
    subdomain: z.string(),
    url: z.url(),
    spa_mode: z.boolean(),
    status: ManagedStatus,
    active_deployment_uuid: z.string().nullable(),
  })
  .openapi('StaticHosting');

const ManagedVps = z
  .strictObject({
    hosted_resource_identifier: z.string(),
    status: ManagedStatus,
    ip_address: z.string().nullable(),
    region: z.string(),
    size: z.string(),
  })
  .openapi('ManagedVps');

/** Spec 2.5 promises three fields and the managed blocks; the rest of a server's record is not shown there. */
export const Server = z
  .looseObject({
    identifier: z.string(),
    name: z.string(),
    protocol_type: z.string(),
    server_path: z.string().nullish(),
    last_revision: z.string().nullish().openapi({ description: 'Null before the first deployment.' }),
    preferred_branch: z.string().nullish(),
    notify_email: z
      .union([z.boolean(), z.string()])
      .optional()
      .openapi({ description: 'Whether, or to which address, an e-mail is sent.' }),
    server_group_identifier: z.string().nullish(),
    hostname: z.string().nullish(),
    port: z.union([z.int(), z.string()]).nullish(),
    username: z.string().nullish(),
    use_ssh_keys: z.boolean().nullish(),
    host_key: z.string().nullish(),
    enabled: z.boolean().nullish(),
    static_hosting: StaticHosting.optional(),
    managed_vps: ManagedVps.optional(),
  })
  .openapi('Server', {
    description:
      'A deployment target. Managed ones carry the block of their protocol. There may be more fields than these.',
  });

export function toServerEntry(server: ServerRecord): z.infer<typeof ServerEntry> {
  return {
    identifier: server.identifier,
    name: server.name,
    protocol_type: server.protocolType,
    server_path: server.serverPath,
    last_revision: server.lastRevision ?? '',
    preferred_branch: server.preferredBranch,
    notify_email: server.notifyEmail,
    server_group_identifier: server.groupIdentifier,
    hostname: server.hostname,
    port: server.port,
    username: server.username,
    use_ssh_keys: server.useSshKeys,
    host_key: server.hostKey,
  };
}

export function toServer(world: World, account: Account, server: ServerRecord): z.infer<typeof Server> {
  return {
    ...toServerEntry(server),
    last_revision: server.lastRevision,
    enabled: server.enabled,
    ...toStaticHosting(world, server),
    ...toManagedVps(account, server),
  };
}

function toStaticHosting({ sitesDomain }: World, { website, enabled }: ServerRecord) {
  if (website === undefined) return {};
  return {
    static_hosting: {
      hosted_website_identifier: website.identifier,
      subdomain: website.subdomain,
      url: `https://${website.subdomain}.${sitesDomain}`,
      spa_mode: website.spaMode,
      status: enabled ? website.status : 'disabled',
      active_deployment_uuid: website.activeDeployment,
    },
  } satisfies z.input<z.ZodObject<{ static_hosting: typeof StaticHosting }>>;
}

function toManagedVps(account: Account, { hostedResource, enabled }: ServerRecord) {
  const resource = findHostedResource(account, hostedResource ?? '');
  if (resource === undefined) return {};
  return {
    managed_vps: {
      hosted_resource_identifier: resource.identifier,
      status: enabled ? resource.status : 'disabled',
      ip_address: resource.ipAddress,
      region: resource.region,
      size: resource.size,
    },
  } satisfies z.input<z.ZodObject<{ managed_vps: typeof ManagedVps }>>;
}
