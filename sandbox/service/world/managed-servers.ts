import { addHostedResource, addressFor } from './hosting.ts';
import { createId } from './ids.ts';
import type { ManagedStatus, Server } from './project-records.ts';
import type { Account, HostedResource, World } from './records.ts';

const HOUR = 3_600_000;

export type ManagedProtocol = 'static_hosting' | 'managed_vps';

export function isManaged(protocol: string): protocol is ManagedProtocol {
  return protocol === 'static_hosting' || protocol === 'managed_vps';
}

export function countManagedServers(account: Account): number {
  return account.projects.flatMap((project) => project.servers).filter((s) => isManaged(s.protocolType))
    .length;
}

/** Milliseconds until another managed server may be made; 0 when one may be made now. */
export function provisioningWait(world: World, account: Account): number {
  const now = world.clock.now();
  const recent = account.provisionedAt.filter((at) => at > now - HOUR);
  account.provisionedAt = recent;
  if (recent.length < account.provisioningLimit) return 0;
  return (recent[0] ?? now) + HOUR - now;
}

/** Site names are shared by all accounts, for all live under one domain. */
export function isSubdomainTaken(world: World, subdomain: string): boolean {
  return [...world.accounts.values()]
    .flatMap((account) => account.projects)
    .some((project) => project.servers.some((server) => server.website?.subdomain === subdomain));
}

/** Begins to provision a static site for a new server. */
export function provisionWebsite(
  world: World,
  account: Account,
  server: Server,
  wanted: { subdomain: string; spaMode: boolean },
): void {
  const website = {
    ...wanted,
    identifier: createId(),
    status: 'provisioning' as ManagedStatus,
    activeDeployment: null,
  };
  server.website = website;
  const plan = account.provisioning.static_hosting;
  account.provisionedAt.push(world.clock.now());
  world.clock.after(plan.durationMs, () => {
    website.status = plan.status;
  });
}

/** Begins to provision a virtual server for a new server. */
export function provisionVps(
  world: World,
  account: Account,
  server: Server,
  wanted: { region: string; size: string },
): void {
  const resource = addHostedResource(world, account, {
    ...wanted,
    name: server.name,
    identifier: createId(),
    status: 'provisioning',
  });
  server.hostedResource = resource.identifier;
  const plan = account.provisioning.managed_vps;
  account.provisionedAt.push(world.clock.now());
  world.clock.after(plan.durationMs, () => {
    // Hosted resources know no "disabled": that is the server's own switch. Spec 3.1.
    if (plan.status === 'disabled') server.enabled = false;
    endProvisioning(world, resource, plan.status === 'disabled' ? 'active' : plan.status);
  });
}

function endProvisioning(world: World, resource: HostedResource, status: HostedResource['status']): void {
  const ipAddress = status === 'error' ? null : addressFor(resource.identifier);
  resource.status = status;
  resource.ipAddress = ipAddress;
  resource.provider = { status, ipAddress };
  resource.updatedAt = world.clock.now();
}
