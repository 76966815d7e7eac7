import { z } from 'zod';
import { ServiceError } from '../core/errors.ts';
import { defined } from '../core/json.ts';
import {
  type CallOptions,
  Flag,
  Identifier,
  type ListOptions,
  listUnder,
  NullableText,
  OptionalText,
  orElse,
  readRows,
  readStatus,
  recordUnder,
  requestJson,
  requestRows,
  StatedText,
  YesOrNo,
} from './call.ts';
import type { AccountClient } from './client.ts';

/** Without it a managed server cannot be followed, but is still a server. */
const Status = NullableText.transform((status) => readStatus(status || 'unknown'));

/** A yes or no, or the address that gets the e-mails. */
const NotifyEmail = z
  .unknown()
  .optional()
  .transform((value) =>
    typeof value === 'string' ? /\S/.test(value) && !/^(?:false|0|no)$/i.test(value) : Boolean(value),
  );

const StaticHosting = z.object({
  hosted_website_identifier: NullableText,
  subdomain: OptionalText,
  url: NullableText,
  spa_mode: Flag,
  status: Status,
  active_deployment_uuid: NullableText,
});

const ManagedVps = z.object({
  hosted_resource_identifier: NullableText,
  status: Status,
  ip_address: NullableText,
  region: OptionalText,
  size: OptionalText,
});

/** What went wrong, as text or as a record that has it. */
const Reason = z.union([
  z.object({ message: NullableText }).transform(({ message }) => message),
  NullableText,
]);

/** Fields by which records outside the API's outline say that a server is switched off, or was not reached. */
const Trouble = {
  disabled: Flag,
  enabled: orElse(YesOrNo, true),
  status: NullableText,
  last_connection_error: Reason,
  connection_error: Reason,
  last_error: Reason,
};

/** Any server: the fields of API 2.9 (docs/service-api.md), and the block of API 2.5 where it is a managed one. */
export const Server = z
  .object({
    identifier: Identifier,
    name: OptionalText,
    protocol_type: OptionalText,
    server_path: NullableText,
    /** Null: none was deployed. */
    last_revision: StatedText,
    preferred_branch: NullableText,
    notify_email: NotifyEmail,
    server_group_identifier: NullableText,
    hostname: NullableText,
    port: NullableText.transform((port) => port || null),
    username: NullableText,
    use_ssh_keys: Flag,
    host_key: NullableText,
    static_hosting: orElse(StaticHosting, null),
    managed_vps: orElse(ManagedVps, null),
    ...Trouble,
  })
  .transform(
    ({ disabled, enabled, status, last_connection_error, connection_error, last_error, ...server }) => {
      const { protocol_type, static_hosting, managed_vps } = server;
      // It has the block of its own protocol (API 2.5): one of the other beside it, often empty, says nothing.
      const isMachine = Boolean(managed_vps) && protocol_type === 'managed_vps';
      const isSite = Boolean(static_hosting) && !isMachine;
      return {
        ...server,
        name: server.name || server.identifier,
        ...(isMachine ? { static_hosting: null } : {}),
        ...(isSite ? { managed_vps: null } : {}),
        ...defined({
          isDisabled: disabled || !enabled || status?.toLowerCase() === 'disabled' || undefined,
          connectionError: last_connection_error || connection_error || last_error || undefined,
        }),
      };
    },
  );
export type Server = z.infer<typeof Server>;

/** The state of a managed server, usually one of API 3.1; undefined for any other server. */
export function managedStatus({ static_hosting, managed_vps }: Server): string | undefined {
  return (static_hosting ?? managed_vps)?.status;
}

export type NewServer =
  | { protocol_type: 'static_hosting'; name: string; subdomain: string; spa_mode?: boolean }
  | { protocol_type: 'managed_vps'; name: string; region: string; size: string };

/** One server; poll a managed one until its block is `active`. API 4.4. `project`: permalink or identifier. */
export function getServer(
  account: AccountClient,
  project: string,
  server: string,
  options?: CallOptions,
): Promise<Server> {
  const call = { operation: 'getServer', path: ['projects', project, 'servers', server] };
  return requestJson(account, recordUnder('server', Server), call, options);
}

/**
 * Creates a managed server, which then provisions. API 4.4 shows no payload: this is the one such services take. A name or
 * subdomain that is taken is `invalid`, under the field's own name.
 */
export function createServer(account: AccountClient, project: string, server: NewServer): Promise<Server> {
  const path = ['projects', project, 'servers'];
  const call = { operation: 'createServer', method: 'POST', path, body: bodyOf(server) } as const;
  return requestJson(account, recordUnder('server', Server), call);
}

/** The servers of a project; undefined where the service does not list them, or not for this key. Not in the API's outline. */
export async function listServers(
  account: AccountClient,
  project: string,
  options?: ListOptions,
): Promise<Server[] | undefined> {
  const call = { operation: 'listServers', path: ['projects', project, 'servers'] };
  try {
    return await requestRows(account, listUnder('servers'), Server, call, options);
  } catch (error) {
    if (error instanceof ServiceError && saysNoList(error)) return undefined;
    throw error;
  }
}

/**
 * A service that takes no more than new servers on this path may answer with anything there: a 405, a page. Only what
 * may pass, or is about the key, says nothing of the list.
 */
function saysNoList({ kind, status = 0 }: ServiceError): boolean {
  const isElsewhere = kind === 'unauthorized' || kind === 'busy' || kind === 'unreachable';
  return !isElsewhere && (status < 500 || status === 501);
}

/** The managed part goes beside the server's own record, not into it. */
function bodyOf(server: NewServer): Record<string, unknown> {
  const { name, protocol_type, ...managed } = server;
  const own = { server: { name, protocol_type } };
  return protocol_type === 'static_hosting'
    ? { ...own, hosted_website_attributes: managed }
    : { ...own, ...managed };
}

/** API 2.9. `packages`: version by name of a language or tool, an open map. */
export const BuildConfiguration = z.object({
  identifier: Identifier,
  packages: orElse(z.record(z.string(), NullableText), {}),
  default: Flag,
  servers: orElse(z.array(z.unknown()), []),
});
export type BuildConfiguration = Omit<z.infer<typeof BuildConfiguration>, 'servers'> & { servers: Server[] };

/** The language and tool versions of a project's builds. API 4.7. `project`: permalink or identifier. */
export async function getBuildConfiguration(
  account: AccountClient,
  project: string,
  id: string,
  options?: ListOptions,
): Promise<BuildConfiguration> {
  const path = ['projects', project, 'build_configurations', id];
  const operation = 'getBuildConfiguration';
  const configuration = await requestJson(account, BuildConfiguration, { operation, path }, options);
  const servers = readRows(account, Server, configuration.servers, operation, options);
  return { ...configuration, servers };
}
