import { withTimeout } from '../core/clock.ts';
import { ServiceError } from '../core/errors.ts';
import { code } from '../core/mrkdwn.ts';
import type { AccountClient } from '../service/client.ts';
import { getHostedResource, type HostedResource, listHostedResources } from '../service/hosted-resources.ts';
import { type Account, AccountFailure } from './accounts.ts';
import type { Workspace } from './workspace.ts';

const CURRENCY_TIMEOUT_MS = 1_500;

/**
 * The currency of the account's price list, which hosted resources leave out; undefined where it cannot be read in
 * time. It only labels amounts that are known already, so its absence fails nothing.
 */
export async function currencyOf(
  { clock, hosting }: Pick<Workspace, 'clock' | 'hosting'>,
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
 * A managed resource by its identifier, or by a name that only one has.
 * @throws AccountFailure, `record_not_found` where neither fits
 */
export function findResource(
  { accounts }: Pick<Workspace, 'accounts'>,
  account: Account,
  named: string,
): Promise<HostedResource> {
  const sought = { what: `managed resource ${code(named)}`, list: 'hosting list' };
  return accounts.use(account, (client) => byIdentifierOrName(client, named), sought);
}

async function byIdentifierOrName(client: AccountClient, named: string): Promise<HostedResource> {
  try {
    return await getHostedResource(client, named);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'record_not_found') throw error;
    const wanted = named.toLowerCase();
    const fitting = (await listHostedResources(client)).filter(({ name }) => name.toLowerCase() === wanted);
    const [only] = fitting;
    if (only === undefined || fitting.length > 1) throw error;
    return only;
  }
}
