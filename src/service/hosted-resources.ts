import { z } from 'zod';
import { isObject } from '../core/json.ts';
import {
  type CallOptions,
  Identifier,
  jsonOf,
  type ListOptions,
  listAt,
  listUnder,
  NullableNumber,
  NullableText,
  NullableTimestamp,
  OptionalText,
  orElse,
  type Reader,
  readStatus,
  requestJson,
  requestRows,
  rowsIn,
  YesOrNo,
} from './call.ts';
import type { AccountClient } from './client.ts';

/** API 2.6 (docs/service-api.md). A static site may be listed too: without region, size, address, cost and key. */
export const HostedResource = z.object({
  identifier: Identifier,
  name: OptionalText,
  kind: NullableText,
  region: NullableText,
  size: NullableText,
  /** Usually one of API 3.1. */
  status: NullableText.transform((status) => readStatus(status || 'unknown')),
  ip_address: NullableText,
  /** In the account's currency. */
  monthly_cost: NullableNumber,
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
export type HostedResource = z.infer<typeof HostedResource>;

/** API 2.7. */
export const Region = z
  .object({ slug: Identifier, name: OptionalText, available: YesOrNo.catch(true) })
  .transform(({ slug, name, available }) => ({ slug, name: name || slug, available }));
export type Region = z.infer<typeof Region>;

/** API 2.7. `monthly_cost` is in `currency`, a lower-case code. */
export const Size = z
  .object({ slug: Identifier, label: OptionalText, monthly_cost: NullableNumber, currency: OptionalText })
  .transform(({ slug, label, ...price }) => ({ slug, label: label || slug, ...price }));
export type Size = z.infer<typeof Size>;

/** `status` is only shown, so an answer that was good without it is one. */
const SyncRequest = z.object({ status: NullableText });
type SyncRequest = z.infer<typeof SyncRequest>;
const readSyncRequest = jsonOf(SyncRequest);

/** The managed resources of the account. API 4.5. */
export function listHostedResources(
  account: AccountClient,
  options?: ListOptions,
): Promise<HostedResource[]> {
  const call = { operation: 'listHostedResources', path: ['hosted_resources'] };
  return requestRows(account, listUnder('hosted_resources'), HostedResource, call, options);
}

/** One managed resource. API 4.5. */
export function getHostedResource(
  account: AccountClient,
  id: string,
  options?: CallOptions,
): Promise<HostedResource> {
  const call = { operation: 'getHostedResource', path: ['hosted_resources', id] };
  return requestJson(account, HostedResource, call, options);
}

/** Queues a refresh of the state from the hosting provider: `status` is `sync_requested`. API 4.5. */
export function syncHostedResource(account: AccountClient, id: string): Promise<SyncRequest> {
  const path = ['hosted_resources', id, 'sync'];
  const read: Reader<SyncRequest> = (answer, operation) =>
    answer.body.length === 0 ? { status: null } : readSyncRequest(answer, operation);
  const operation = 'syncHostedResource';
  return account.send({ operation, method: 'POST', scope: 'account', path, read });
}

/** The regions that can be chosen now. API 4.5. */
export async function listRegions(account: AccountClient, options?: ListOptions): Promise<Region[]> {
  const call = { operation: 'listRegions', path: ['managed_hosting', 'regions'] };
  const regions = await requestRows(account, rowsIn(regionsIn), Region, call, options);
  return regions.filter((region) => region.available);
}

/** The sizes with their prices in the account's currency. API 4.5. */
export function listSizes(account: AccountClient, options?: ListOptions): Promise<Size[]> {
  const call = { operation: 'listSizes', path: ['managed_hosting', 'sizes'] };
  return requestRows(account, listUnder('sizes'), Size, call, options);
}

/** Under `regions`, grouped, or bare. */
function regionsIn(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (isObject(value.grouped_regions)) return Object.values(value.grouped_regions).flat();
  return listAt(
    value,
    value.regions === undefined && 'grouped_regions' in value ? 'grouped_regions' : 'regions',
  );
}
