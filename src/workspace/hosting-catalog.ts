import { AccountFailure, ServiceError } from '../core/errors.ts';
import { code } from '../core/mrkdwn.ts';
import { NameIndex, pickNamed } from '../core/names.ts';
import { type Clock, withTimeout } from '../core/time/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { Account, Accounts } from '../records/accounts.ts';
import { getActivity } from '../service/activity.ts';
import type { SkippedRows } from '../service/call.ts';
import type { AccountClient } from '../service/client.ts';
import { listInvoices } from '../service/invoices.ts';
import {
  getHostedResource,
  type HostedResource,
  listHostedResources,
  listRegions,
  listServers,
  listSizes,
} from '../service/servers.ts';

/**
 * Options for menus, at most a few seconds old, and figures up to a minute old. All functions throw
 * AccountFailure.
 */
export type HostingCatalog = ReturnType<typeof createHostingCatalog>;

const FIGURES_FRESH_MS = 60_000;

export function createHostingCatalog({ accounts, clock }: { accounts: Accounts; clock: Clock }) {
  /** The cache's key holds the sealed key, so that a new key never shows answers to an old one. */
  function cached<T>(load: (client: AccountClient, about: string) => Promise<T>, freshMs?: number) {
    const cache = new TtlCache<T>(clock, freshMs);
    return (account: Account, about = '') =>
      cache.get([account.name, account.sealedKey, about], () =>
        accounts.use(account, (client) => load(client, about)),
      );
  }
  return {
    /** The project's servers; undefined if the service does not list them. */
    servers: cached(listServers),
    invoices: cached((client) => listInvoices(client)),
    regions: cached((client) => listRegions(client)),
    /** The sizes of managed servers, with prices in the account's currency. */
    sizes: cached((client) => listSizes(client)),
    lastSevenDays: cached(weekFigures, FIGURES_FRESH_MS),
  };
}

/** Without statistics if the service gives none. `skipped`: events that could not be read. */
async function weekFigures(client: AccountClient) {
  const skipped: SkippedRows[] = [];
  const activity = await getActivity(client, { range: 'last_7_days', stats: true }, { skipped });
  return { activity, skipped };
}

const CURRENCY_TIMEOUT_MS = 1_500;

/**
 * The currency of the account's price list, because hosted resources do not name it. Returns undefined if it
 * cannot be read in time, because amounts are useful without it.
 */
export async function readCurrency(
  { clock, hosting }: { clock: Clock; hosting: HostingCatalog },
  account: Account,
): Promise<string | undefined> {
  try {
    const sizes = await withTimeout(clock, CURRENCY_TIMEOUT_MS, hosting.sizes(account));
    return sizes?.find((size) => size.currency !== '')?.currency;
  } catch (error) {
    if (error instanceof AccountFailure) return undefined;
    throw error;
  }
}

/**
 * A managed server by its identifier or its unambiguous name.
 * @throws AccountFailure, with `record_not_found` if neither matches
 */
export function findResource(
  { accounts }: { accounts: Accounts },
  account: Account,
  nameOrId: string,
): Promise<HostedResource> {
  const sought = { what: `managed server ${code(nameOrId)}`, list: 'hosting list' };
  return accounts.use(account, (client) => byIdentifierOrName(client, nameOrId), sought);
}

async function byIdentifierOrName(client: AccountClient, nameOrId: string): Promise<HostedResource> {
  try {
    return await getHostedResource(client, nameOrId);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'record_not_found') throw error;
    const match = pickNamed(new NameIndex(await listHostedResources(client)).find(nameOrId), nameOrId);
    if (match === undefined) throw error;
    return match;
  }
}
