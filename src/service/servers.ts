import { z } from 'zod';
import { ServiceError } from '../core/errors.ts';
import { defined, isObject } from '../core/json.ts';
import {
  type CallOptions,
  type ListOptions,
  type Reader,
  readJson,
  readRows,
  requestJson,
  requestRows,
} from './call.ts';
import type { AccountClient } from './client.ts';
import {
  Flag,
  Identifier,
  listAt,
  listUnder,
  NullableAmount,
  NullableText,
  NullableTimestamp,
  OptionalText,
  orElse,
  readStatus,
  recordUnder,
  rowsIn,
  StatedText,
  YesOrNo,
} from './fields.ts';

/** Without a status, Deckhand can show a managed server but not follow it. */
const Status = NullableText.transform((status) => readStatus(status || 'unknown'));

/** A boolean, or the address that gets the e-mails. */
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

/** Any server: the fields of API 2.9 (docs/service-api.md), and for a managed one the block of API 2.5. */
export const Server = z
  .object({
    identifier: Identifier,
    name: OptionalText,
    protocol_type: OptionalText,
    server_path: NullableText,
    /** Null before the first deployment. */
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
    // The API's outline does not have these.
    enabled: orElse(YesOrNo, true),
    connection_error_message: OptionalText,
    connection_checked_at: NullableTimestamp,
  })
  .transform(({ enabled, connection_error_message, connection_checked_at, ...server }) => {
    const connectionError = connection_error_message || undefined;
    const { protocol_type, static_hosting, managed_vps } = server;
    // The block of the own protocol counts (API 2.5). Services may send an empty one of the other.
    const isMachine = Boolean(managed_vps) && protocol_type === 'managed_vps';
    const isSite = Boolean(static_hosting) && !isMachine;
    return {
      ...server,
      name: server.name || server.identifier,
      ...(isMachine ? { static_hosting: null } : {}),
      ...(isSite ? { managed_vps: null } : {}),
      ...defined({
        isDisabled: !enabled || undefined,
        connectionError,
        connectionCheckedAt: connectionError && (connection_checked_at ?? undefined),
      }),
    };
  });
export interface Server extends z.infer<typeof Server> {}

/** Returns the state of a managed server, usually one of API 3.1. Undefined for any other server. */
export function managedStatus({ static_hosting, managed_vps }: Server): string | undefined {
  return (static_hosting ?? managed_vps)?.status;
}

export type NewServer =
  | { protocol_type: 'static_hosting'; name: string; subdomain: string; spa_mode?: boolean }
  | { protocol_type: 'managed_vps'; name: string; region: string; size: string };

/** Reads a server. Poll a managed one until its block is `active`. API 4.4. @param project a permalink or identifier */
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
 * Creates a managed server, which then provisions. API 4.4 shows no payload; services take this one. Rejects with `invalid`
 * under the field's name for a name or subdomain that is taken.
 */
export function createServer(account: AccountClient, project: string, server: NewServer): Promise<Server> {
  const path = ['projects', project, 'servers'];
  const call = { operation: 'createServer', method: 'POST', path, body: createBody(server) } as const;
  return requestJson(account, recordUnder('server', Server), call);
}

/** Lists the servers of a project. Not in the API's outline. Returns undefined if the service lists none for this key. */
export async function listServers(
  account: AccountClient,
  project: string,
  options?: ListOptions,
): Promise<Server[] | undefined> {
  const call = { operation: 'listServers', path: ['projects', project, 'servers'] };
  try {
    return await requestRows(account, listUnder('servers'), Server, call, options);
  } catch (error) {
    if (error instanceof ServiceError && meansNoList(error)) return undefined;
    throw error;
  }
}

/**
 * A service without this list may send any answer, such as a 405 or a page. Temporary errors and errors of
 * the key do not tell if there is a list.
 */
function meansNoList({ kind, status = 0 }: ServiceError): boolean {
  const isOther = kind === 'unauthorized' || kind === 'busy' || kind === 'unreachable';
  return !isOther && (status < 500 || status === 501);
}

/** Puts the managed part beside the server's record, not into it. */
function createBody(server: NewServer): Record<string, unknown> {
  const { name, protocol_type, ...managed } = server;
  const own = { server: { name, protocol_type } };
  return protocol_type === 'static_hosting'
    ? { ...own, hosted_website_attributes: managed }
    : { ...own, ...managed };
}

/** API 2.9. `packages` holds versions by language or tool. */
export const BuildConfiguration = z.object({
  identifier: Identifier,
  packages: orElse(z.record(z.string(), NullableText), {}),
  default: Flag,
  servers: orElse(z.array(z.unknown()), []),
});
export type BuildConfiguration = Omit<z.infer<typeof BuildConfiguration>, 'servers'> & { servers: Server[] };

/** Reads the versions of languages and tools of a project's builds. API 4.7. @param project a permalink or identifier */
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

/** API 2.6 (docs/service-api.md). Static sites have no region, size, address, cost or key. */
export const HostedResource = z.object({
  identifier: Identifier,
  name: OptionalText,
  kind: NullableText,
  region: NullableText,
  size: NullableText,
  /** Usually one of API 3.1. */
  status: Status,
  ip_address: NullableText,
  /** In the account's currency. */
  monthly_cost: NullableAmount,
  ssh_key: orElse(
    z.object({
      identifier: OptionalText,
      title: OptionalText,
      public_key: OptionalText,
      key_type: OptionalText,
      fingerprint: OptionalText,
    }),
    null,
  ),
  created_at: NullableTimestamp,
  updated_at: NullableTimestamp,
});
export interface HostedResource extends z.infer<typeof HostedResource> {}

/** API 2.7. */
export const Region = z
  .object({ slug: Identifier, name: OptionalText, available: YesOrNo.catch(true) })
  .transform(({ slug, name, available }) => ({ slug, name: name || slug, available }));
export interface Region extends z.infer<typeof Region> {}

/** API 2.7. `monthly_cost` is in `currency`, a lower-case code. */
export const Size = z
  .object({ slug: Identifier, label: OptionalText, monthly_cost: NullableAmount, currency: OptionalText })
  .transform(({ slug, label, ...price }) => ({ slug, label: label || slug, ...price }));
export interface Size extends z.infer<typeof Size> {}

/** Deckhand only shows the status, so it may be missing. */
const SyncRequest = z.object({ status: NullableText });
type SyncRequest = z.infer<typeof SyncRequest>;
const readSyncRequest = readJson(SyncRequest);

/** Lists the managed servers of the account. API 4.5. */
export function listHostedResources(
  account: AccountClient,
  options?: ListOptions,
): Promise<HostedResource[]> {
  const call = { operation: 'listHostedResources', path: ['hosted_resources'] };
  return requestRows(account, listUnder('hosted_resources'), HostedResource, call, options);
}

/** Reads a managed resource. API 4.5. */
export function getHostedResource(
  account: AccountClient,
  id: string,
  options?: CallOptions,
): Promise<HostedResource> {
  const call = { operation: 'getHostedResource', path: ['hosted_resources', id] };
  return requestJson(account, HostedResource, call, options);
}

/** Requests a refresh of the state from the hosting provider. API 4.5. */
export function syncHostedResource(account: AccountClient, id: string): Promise<SyncRequest> {
  const path = ['hosted_resources', id, 'sync'];
  const read: Reader<SyncRequest> = (answer, operation) =>
    answer.body.length === 0 ? { status: null } : readSyncRequest(answer, operation);
  const operation = 'syncHostedResource';
  return account.send({ operation, method: 'POST', scope: 'account', path, read });
}

/** Lists the available regions. API 4.5. */
export async function listRegions(account: AccountClient, options?: ListOptions): Promise<Region[]> {
  const call = { operation: 'listRegions', path: ['managed_hosting', 'regions'] };
  const regions = await requestRows(account, rowsIn(findRegions), Region, call, options);
  return regions.filter((region) => region.available);
}

/** Lists the sizes with prices in the account's currency. API 4.5. */
export function listSizes(account: AccountClient, options?: ListOptions): Promise<Size[]> {
  const call = { operation: 'listSizes', path: ['managed_hosting', 'sizes'] };
  return requestRows(account, listUnder('sizes'), Size, call, options);
}

/** Finds regions under `regions`, grouped or bare. */
function findRegions(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (isObject(value.grouped_regions)) return Object.values(value.grouped_regions).flat();
  return listAt(
    value,
    value.regions === undefined && 'grouped_regions' in value ? 'grouped_regions' : 'regions',
  );
}
