import { z } from 'zod';
import { jsonOf } from './answer.ts';
import type { CallOptions, Reader } from './call.ts';
import type { AccountClient } from './client.ts';
import {
  Identifier,
  isObject,
  listUnder,
  NullableText,
  NullableTimestamp,
  Numeric,
  OptionalText,
} from './shapes.ts';

const NullableNumber = Numeric.nullish().transform((number) => number ?? null);

/** Spec 2.6. A static site may be listed too: without region, size, address, cost and key. */
export const HostedResource = z.object({
  identifier: Identifier,
  name: OptionalText,
  kind: NullableText,
  region: NullableText,
  size: NullableText,
  /** One of spec 3.1, if the service keeps to it. */
  status: z.string(),
  ip_address: NullableText,
  /** In the account's currency. */
  monthly_cost: NullableNumber,
  ssh_key: z
    .object({
      identifier: OptionalText,
      title: OptionalText,
      public_key: OptionalText,
      key_type: OptionalText,
      fingerprint: OptionalText,
    })
    .nullish()
    .transform((key) => key ?? null),
  created_at: NullableTimestamp,
  updated_at: NullableTimestamp,
});
export type HostedResource = z.infer<typeof HostedResource>;

/** Spec 2.7. */
export const Region = z
  .object({ slug: z.string(), name: OptionalText, available: z.boolean().nullish() })
  .transform(({ slug, name, available }) => ({ slug, name: name || slug, available: available ?? true }));
export type Region = z.infer<typeof Region>;

/** Spec 2.7. `monthly_cost` is in `currency`, a lower-case code. */
export const Size = z
  .object({ slug: z.string(), label: OptionalText, monthly_cost: NullableNumber, currency: OptionalText })
  .transform(({ slug, label, ...price }) => ({ slug, label: label || slug, ...price }));
export type Size = z.infer<typeof Size>;

const SyncRequest = z.object({ status: z.string() });
export type SyncRequest = z.infer<typeof SyncRequest>;

/** The managed resources of the account. Spec 4.5. */
export function listHostedResources(
  account: AccountClient,
  options?: CallOptions,
): Promise<HostedResource[]> {
  return get(account, 'listHostedResources', ['hosted_resources'], jsonOf(z.array(HostedResource)), options);
}

/** One managed resource. Spec 4.5. */
export function getHostedResource(
  account: AccountClient,
  id: string,
  options?: CallOptions,
): Promise<HostedResource> {
  return get(account, 'getHostedResource', ['hosted_resources', id], jsonOf(HostedResource), options);
}

/** Queues a refresh of the state from the hosting provider: `status` is `sync_requested`. Spec 4.5. */
export function syncHostedResource(
  account: AccountClient,
  id: string,
  options?: CallOptions,
): Promise<SyncRequest> {
  return account.send(
    {
      operation: 'syncHostedResource',
      method: 'POST',
      path: ['hosted_resources', id, 'sync'],
      scope: 'record',
      body: {},
      read: jsonOf(SyncRequest),
    },
    options,
  );
}

/** The regions that can be chosen now. Spec 4.5. */
export async function listRegions(account: AccountClient, options?: CallOptions): Promise<Region[]> {
  const schema = z.preprocess(regionsIn, z.array(Region));
  const regions = await get(account, 'listRegions', ['managed_hosting', 'regions'], jsonOf(schema), options);
  return regions.filter((region) => region.available);
}

/** The sizes with their prices in the account's currency. Spec 4.5. */
export function listSizes(account: AccountClient, options?: CallOptions): Promise<Size[]> {
  return get(account, 'listSizes', ['managed_hosting', 'sizes'], jsonOf(listUnder('sizes', Size)), options);
}

/** Under `regions`, grouped, or bare. */
function regionsIn(value: unknown): unknown {
  if (!isObject(value) || Array.isArray(value)) return value;
  return isObject(value.grouped_regions) ? Object.values(value.grouped_regions).flat() : value.regions;
}

function get<T>(
  account: AccountClient,
  operation: string,
  path: string[],
  read: Reader<T>,
  options?: CallOptions,
): Promise<T> {
  return account.send({ operation, method: 'GET', path, scope: 'record', read }, options);
}
