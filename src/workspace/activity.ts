import type { Account, Accounts } from '../records/accounts.ts';
import type { Ledger } from '../records/ledger.ts';
import { type Activity, type ActivityRange, getActivity } from '../service/activity.ts';
import type { ListOptions } from '../service/call.ts';

/**
 * Reads the feed of an account, and keeps what is new.
 * @throws AccountFailure
 */
export async function fetchActivity(
  { accounts, ledger }: { accounts: Pick<Accounts, 'use'>; ledger: Ledger },
  account: Account,
  query: { range: ActivityRange; stats: boolean },
  options?: ListOptions,
): Promise<Activity> {
  const activity = await accounts.use(account, (client) => getActivity(client, query, options));
  await keepActivity({ ledger }, account, activity);
  return activity;
}

/**
 * Keeps what is new of a page that an account's key has read. A person's own key may read what others may not know, so only
 * the shared key counts.
 */
export async function keepActivity(
  { ledger }: { ledger: Ledger },
  { name, purpose }: Account,
  page: Pick<Activity, 'events' | 'unread'>,
): Promise<void> {
  if (purpose === 'shared') await ledger.take(name, page);
}
