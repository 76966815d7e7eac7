import type { Account, Accounts } from './accounts.ts';
import type { Clock } from './clock.ts';
import { createFresh } from './fresh.ts';
import { type Invoice, listInvoices } from './service/invoices.ts';
import { listServers, type Server } from './service/servers.ts';

/** What menus offer, a few seconds old at most. */
export interface Listings {
  /**
   * The project's servers; undefined where the service does not list them.
   * @throws AccountFailure
   */
  servers(workspace: string, account: Account, project: string): Promise<Server[] | undefined>;
  /** @throws AccountFailure */
  invoices(workspace: string, account: Account): Promise<Invoice[]>;
}

export function createListings(parts: { accounts: Accounts; clock: Clock }): Listings {
  const servers = createFresh<Server[] | undefined>(parts.clock);
  const invoices = createFresh<Invoice[]>(parts.clock);
  return {
    servers: (workspace, account, project) =>
      servers.get([workspace, account.name, account.sealedKey, project], () =>
        parts.accounts.use(workspace, account, (client) => listServers(client, project)),
      ),
    invoices: (workspace, account) =>
      invoices.get([workspace, account.name, account.sealedKey], () =>
        parts.accounts.use(workspace, account, (client) => listInvoices(client)),
      ),
  };
}
