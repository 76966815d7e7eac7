import { z } from 'zod';
import { jsonOf } from './answer.ts';
import type { Call, CallOptions } from './call.ts';
import type { AccountClient } from './client.ts';
import { ServiceError } from './errors.ts';
import { Flag, Identifier, listUnder, NullableText, OptionalText, recordUnder } from './shapes.ts';

const StaticHosting = z.object({
  hosted_website_identifier: NullableText,
  subdomain: OptionalText,
  url: NullableText,
  spa_mode: Flag,
  status: z.string(),
  active_deployment_uuid: NullableText,
});

const ManagedVps = z.object({
  hosted_resource_identifier: NullableText,
  status: z.string(),
  ip_address: NullableText,
  region: OptionalText,
  size: OptionalText,
});

/** A server of any kind: the fields of spec 2.9, and the block of spec 2.5 where it is a managed one. */
export const Server = z
  .object({
    identifier: Identifier,
    name: OptionalText,
    protocol_type: OptionalText,
    server_path: NullableText,
    last_revision: NullableText,
    preferred_branch: NullableText,
    notify_email: Flag,
    server_group_identifier: NullableText,
    hostname: NullableText,
    port: Identifier.nullish().transform((port) => port ?? null),
    username: NullableText,
    use_ssh_keys: Flag,
    host_key: NullableText,
    static_hosting: StaticHosting.nullish(),
    managed_vps: ManagedVps.nullish(),
  })
  .transform((server) => ({ ...server, name: server.name || server.identifier }));
export type Server = z.infer<typeof Server>;

/** The state of a managed server, one of spec 3.1 if the service keeps to it; undefined for any other server. */
export function managedStatus(server: Server): string | undefined {
  return server.static_hosting?.status ?? server.managed_vps?.status;
}

export type NewServer =
  | {
      protocol_type: 'static_hosting';
      name: string;
      subdomain: string;
      spa_mode?: boolean;
      subdirectory?: string;
    }
  | { protocol_type: 'managed_vps'; name: string; region: string; size: string; os_image?: string };

/** One server; poll a managed one until its block is `active`. Spec 4.4. `project`: permalink or identifier. */
export function getServer(
  account: AccountClient,
  project: string,
  server: string,
  options?: CallOptions,
): Promise<Server> {
  const path = ['projects', project, 'servers', server];
  return account.send(
    { operation: 'getServer', method: 'GET', path, scope: 'record', read: readServer },
    options,
  );
}

/**
 * Creates a managed server, which then provisions. Spec 4.4 shows no payload: this one is met on such
 * services. A name or subdomain that is taken is `invalid`, with the field's own name.
 */
export function createServer(
  account: AccountClient,
  project: string,
  server: NewServer,
  options?: CallOptions,
): Promise<Server> {
  const call: Call<Server> = {
    operation: 'createServer',
    method: 'POST',
    path: ['projects', project, 'servers'],
    scope: 'record',
    body: bodyOf(server),
    read: readServer,
  };
  return account.send(call, options);
}

/**
 * The servers of a project, for a picker; undefined where the service does not list them or not to this
 * person. Outside the spec.
 */
export async function listServers(
  account: AccountClient,
  project: string,
  options?: CallOptions,
): Promise<Server[] | undefined> {
  const path = ['projects', project, 'servers'];
  try {
    return await account.send(
      { operation: 'listServers', method: 'GET', path, scope: 'record', read: readServers },
      options,
    );
  } catch (error) {
    if (error instanceof ServiceError && (error.status === 403 || error.status === 404)) return undefined;
    throw error;
  }
}

const readServer = jsonOf(recordUnder('server', Server));
const readServers = jsonOf(listUnder('servers', Server));

/** What is managed stands beside the server's own record, not in it. */
function bodyOf(server: NewServer): Record<string, unknown> {
  const { name, protocol_type, ...managed } = server;
  const own = { server: { name, protocol_type } };
  return protocol_type === 'static_hosting'
    ? { ...own, hosted_website_attributes: managed }
    : { ...own, ...managed };
}
