import type { Clock } from '../core/clock.ts';
import { createTtlCache } from '../core/ttl-cache.ts';
import { type ActivityStats, getActivity } from '../service/activity.ts';
import { listRegions, listSizes, type Region, type Size } from '../service/hosted-resources.ts';
import { type Invoice, listInvoices } from '../service/invoices.ts';
import { listServers, type Server } from '../service/servers.ts';
import type { Account, Accounts } from './accounts.ts';

/** What menus offer, a few seconds old at most, and figures of up to a minute. */
export interface HostingCatalog {
  /**
   * The project's servers; undefined where the service does not list them.
   * @throws AccountFailure
   */
  servers(workspace: string, account: Account, project: string): Promise<Server[] | undefined>;
  /** @throws AccountFailure */
  invoices(workspace: string, account: Account): Promise<Invoice[]>;
  /** Where managed servers can stand now. @throws AccountFailure */
  regions(workspace: string, account: Account): Promise<Region[]>;
  /** How large they can be, with prices in the account's currency. @throws AccountFailure */
  sizes(workspace: string, account: Account): Promise<Size[]>;
  /** Undefined where the service tells no figures. @throws AccountFailure */
  thisWeek(workspace: string, account: Account): Promise<ActivityStats | undefined>;
  /** Lets go of what is kept in memory. */
  forget(workspace: string): void;
}

const FIGURES_FRESH_MS = 60_000;

export function createHostingCatalog(parts: { accounts: Accounts; clock: Clock }): HostingCatalog {
  const servers = createTtlCache<Server[] | undefined>(parts.clock);
  const invoices = createTtlCache<Invoice[]>(parts.clock);
  const regions = createTtlCache<Region[]>(parts.clock);
  const sizes = createTtlCache<Size[]>(parts.clock);
  const weeks = createTtlCache<ActivityStats | undefined>(parts.clock, FIGURES_FRESH_MS);
  return {
    forget(workspace) {
      for (const kept of [servers, invoices, regions, sizes, weeks]) kept.forget(workspace);
    },
    servers: (workspace, account, project) =>
      servers.get([workspace, account.name, account.sealedKey, project], () =>
        parts.accounts.use(workspace, account, (client) => listServers(client, project)),
      ),
    invoices: (workspace, account) =>
      invoices.get([workspace, account.name, account.sealedKey], () =>
        parts.accounts.use(workspace, account, (client) => listInvoices(client)),
      ),
    regions: (workspace, account) =>
      regions.get([workspace, account.name, account.sealedKey], () =>
        parts.accounts.use(workspace, account, (client) => listRegions(client)),
      ),
    sizes: (workspace, account) =>
      sizes.get([workspace, account.name, account.sealedKey], () =>
        parts.accounts.use(workspace, account, (client) => listSizes(client)),
      ),
    thisWeek: (workspace, account) =>
      weeks.get([workspace, account.name, account.sealedKey], async () => {
        const ask = { range: 'this_week', stats: true } as const;
        const { stats } = await parts.accounts.use(workspace, account, (client) => getActivity(client, ask));
        return stats;
      }),
  };
}
