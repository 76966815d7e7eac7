import { z } from '@hono/zod-openapi';
import { ApiFailure, forbidden, invalid, usualBody } from '../api/failure.ts';
import { choice, flag, text } from '../api/fields.ts';
import { recordEvent } from '../world/deployments.ts';
import { listSizes, REGIONS } from '../world/hosting.ts';
import {
  countManagedServers,
  isManaged,
  isSubdomainTaken,
  provisioningWait,
  provisionVps,
  provisionWebsite,
} from '../world/managed-servers.ts';
import type { Project, Server } from '../world/project-records.ts';
import { addServer } from '../world/projects.ts';
import type { Account, User, World } from '../world/records.ts';

const PROTOCOLS = ['ssh', 'ftp', 'ftps', 'static_hosting', 'managed_vps'] as const;
const SUBDOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** What a new server is made from; what is managed stands beside `server`. */
export const NewServer = z
  .object({
    server: z.object({
      name: text(),
      protocol_type: choice(PROTOCOLS),
      hostname: text().optional(),
      port: z.coerce.number({ error: 'must be a number' }).int().min(1).max(65_535).optional(),
      username: text().optional(),
      server_path: text().optional(),
      preferred_branch: text().optional(),
      notify_email: flag().optional(),
      use_ssh_keys: flag().optional(),
    }),
    hosted_website_attributes: z
      .object({
        subdomain: text().regex(SUBDOMAIN, 'may hold only lower-case letters, digits and hyphens'),
        spa_mode: flag().default(false),
        subdirectory: z.string().nullish(),
      })
      .optional()
      .openapi({ description: 'For static_hosting.' }),
    region: text().optional().openapi({ description: 'For managed_vps.' }),
    size: text().optional().openapi({ description: 'For managed_vps.' }),
    os_image: text().optional().openapi({ description: 'For managed_vps.' }),
  })
  .openapi('NewServer');
type NewServer = z.infer<typeof NewServer>;

interface Place {
  world: World;
  account: Account;
  project: Project;
  user: User;
}

/** Makes a server of any protocol; a managed one starts to provision. Spec 4.4. */
export function createServer(place: Place, wanted: NewServer): Server {
  const protocol = wanted.server.protocol_type;
  const server = isManaged(protocol)
    ? createManagedServer(place, protocol, wanted)
    : createPlainServer(place, wanted);
  recordEvent(place.world, place.account, {
    event: 'server_created',
    project: place.project.identifier,
    properties: { servers: [server.name] },
    user: `${place.user.firstName} ${place.user.lastName}`,
  });
  return server;
}

function createPlainServer({ account, project }: Place, { server }: NewServer): Server {
  if (server.hostname === undefined) throw invalid({ hostname: ["can't be blank"] });
  return addServer(account, project, withDefaults(server));
}

/** Only what was given, under our own names. */
function withDefaults(server: NewServer['server']) {
  const given = {
    hostname: server.hostname,
    port: server.port,
    username: server.username,
    serverPath: server.server_path,
    preferredBranch: server.preferred_branch,
    notifyEmail: server.notify_email,
    useSshKeys: server.use_ssh_keys,
  };
  return { name: server.name, protocolType: server.protocol_type, lastRevision: null, ...given };
}

function createManagedServer(
  place: Place,
  protocol: 'static_hosting' | 'managed_vps',
  wanted: NewServer,
): Server {
  const { world, account, project } = place;
  if (!account.betaFeatures) {
    throw forbidden('beta_features_required', 'Enrol the account in the beta to make managed servers.');
  }
  const site = protocol === 'static_hosting' ? readWebsite(world, wanted) : undefined;
  const machine = protocol === 'managed_vps' ? readVps(account, wanted) : undefined;
  refuseTooMany(world, account);
  const server = addServer(account, project, withDefaults(wanted.server));
  if (site !== undefined) provisionWebsite(world, account, server, site);
  if (machine !== undefined) provisionVps(world, account, server, machine);
  return server;
}

function readWebsite(world: World, { hosted_website_attributes: attributes }: NewServer) {
  if (attributes === undefined) throw invalid({ subdomain: ["can't be blank"] });
  const { subdomain, spa_mode: spaMode } = attributes;
  if (isSubdomainTaken(world, subdomain)) throw invalid({ subdomain: ['has already been taken'] });
  return { subdomain, spaMode };
}

function readVps(account: Account, { region, size }: NewServer) {
  const isOpen = REGIONS.some(({ slug }) => slug === region);
  const isKnown = listSizes(account).some(({ slug }) => slug === size);
  if (region !== undefined && size !== undefined && isOpen && isKnown) return { region, size };
  throw invalid({
    ...(!isOpen && { region: [region === undefined ? "can't be blank" : 'is not available'] }),
    ...(!isKnown && { size: [size === undefined ? "can't be blank" : 'is not available'] }),
  });
}

function refuseTooMany(world: World, account: Account): void {
  const limit = account.managedServerLimit;
  if (countManagedServers(account) >= limit) {
    throw invalid({ base: [`The plan allows ${limit} managed servers; upgrade it for more.`] });
  }
  const wait = provisioningWait(world, account);
  if (wait > 0) throw new ApiFailure(429, usualBody(429), { 'retry-after': String(Math.ceil(wait / 1000)) });
}
