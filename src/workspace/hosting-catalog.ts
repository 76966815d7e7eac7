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
  servers(account: Account, project: string): Promise<Server[] | undefined>;
  /** @throws AccountFailure */
  invoices(account: Account): Promise<Invoice[]>;
  /** Where managed servers can stand now. @throws AccountFailure */
  regions(account: Account): Promise<Region[]>;
  /** How large they can be, with prices in the account's currency. @throws AccountFailure */
  sizes(account: Account): Promise<Size[]>;
  /** Undefined where the service tells no figures. @throws AccountFailure */
  thisWeek(account: Account): Promise<ActivityStats | undefined>;
}

const FIGURES_FRESH_MS = 60_000;

export function createHostingCatalog(parts: { accounts: Accounts; clock: Clock }): HostingCatalog {
  const servers = createTtlCache<Server[] | undefined>(parts.clock);
  const invoices = createTtlCache<Invoice[]>(parts.clock);
  const regions = createTtlCache<Region[]>(parts.clock);
  const sizes = createTtlCache<Size[]>(parts.clock);
  const weeks = createTtlCache<ActivityStats | undefined>(parts.clock, FIGURES_FRESH_MS);
  return {
    servers: (account, project) =>
      servers.get([account.name, account.sealedKey, project], () =>
        parts.accounts.use(account, (client) => listServers(client, project)),
      ),
    invoices: (account) =>
      invoices.get([account.name, account.sealedKey], () =>
        parts.accounts.use(account, (client) => listInvoices(client)),
      ),
    regions: (account) =>
      regions.get([account.name, account.sealedKey], () =>
        parts.accounts.use(account, (client) => listRegions(client)),
      ),
    sizes: (account) =>
      sizes.get([account.name, account.sealedKey], () =>
        parts.accounts.use(account, (client) => listSizes(client)),
      ),
    thisWeek: (account) =>
      weeks.get([account.name, account.sealedKey], async () => {
        const ask = { range: 'this_week', stats: true } as const;
        const { stats } = await parts.accounts.use(account, (client) => getActivity(client, ask));
        return stats;
      }),
  };
}
