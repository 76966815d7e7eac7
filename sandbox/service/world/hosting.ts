import type { z } from 'zod';
import { createSshKey, stableFraction, stableId } from './ids.ts';
import { NewHostedResource } from './inputs.ts';
import type { Account, HostedResource, World } from './records.ts';

/** How long the background job takes that a sync queues. */
export const SYNC_MS = 3_000;

export const REGIONS = [
  { slug: 'fra1', name: 'Frankfurt' },
  { slug: 'lon1', name: 'London' },
  { slug: 'nyc1', name: 'New York' },
  { slug: 'sgp1', name: 'Singapore' },
];

const SIZES = [
  { slug: 'small', label: '1 vCPU, 1 GB', usd: 8 },
  { slug: 'medium', label: '2 vCPU, 4 GB', usd: 24 },
  { slug: 'large', label: '4 vCPU, 8 GB', usd: 48 },
];

/** Price lists are rounded by hand in real life; a factor for each currency is near enough. */
const RATES: Record<string, number> = { usd: 1, eur: 0.95, gbp: 0.8 };

/** Sizes priced in the account's currency. Spec 4.5. */
export function listSizes(account: Account) {
  const rate = RATES[account.currency] ?? 1;
  return SIZES.map(({ slug, label, usd }) => ({
    slug,
    label,
    monthly_cost: Math.round(usd * rate * 100) / 100,
    currency: account.currency,
  }));
}

/** Unknown sizes cost nothing: they can only come from a test. */
export function monthlyCost(account: Account, size: string): number {
  return listSizes(account).find(({ slug }) => slug === size)?.monthly_cost ?? 0;
}

/** An address of the documentation ranges, the same for the same name. */
export function addressFor(name: string): string {
  return `203.0.113.${1 + Math.floor(stableFraction(name) * 254)}`;
}

export function addHostedResource(
  world: World,
  account: Account,
  input: z.input<typeof NewHostedResource>,
): HostedResource {
  const given = NewHostedResource.parse(input);
  const createdAt = given.createdAt ?? world.clock.now();
  const usual = given.status === 'provisioning' ? null : addressFor(given.name);
  const ipAddress = given.ipAddress === undefined ? usual : given.ipAddress;
  const resource = {
    ...given,
    identifier: given.identifier ?? stableId('hosted resource', account.name, given.name),
    ipAddress,
    sshKey: createSshKey(`${given.name}@${account.name}`),
    createdAt,
    updatedAt: createdAt,
    provider: { status: given.status, ipAddress },
  };
  account.hostedResources.push(resource);
  return resource;
}

/** Queues the job that asks the provider how the resource is. */
export function requestSync(world: World, resource: HostedResource): void {
  world.clock.after(SYNC_MS, () => {
    Object.assign(resource, resource.provider);
    resource.updatedAt = world.clock.now();
  });
}
