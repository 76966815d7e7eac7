import { z } from 'zod';
import type { Collection, Store } from './store/store.ts';

/** A channel that is told of an account's invoices. */
const BillingChannel = z.object({
  channel: z.string(),
  account: z.string(),
  setBy: z.string(),
  /** Milliseconds since the epoch. */
  setAt: z.number(),
});
export type BillingChannel = z.infer<typeof BillingChannel>;

/** By `billingChannelId`. */
export function billingChannels(store: Store): Collection<BillingChannel> {
  return store.collection('billing-channels', BillingChannel);
}

/** A channel may be told of several accounts, and an account be told in several channels. */
export function billingChannelId(channel: string, account: string): string {
  return `${channel} ${account}`;
}

/** True where everybody in the channel may see the account's invoices, because a person with the billing role said so. */
export async function isBillingChannel(
  store: Store,
  workspace: string,
  channel: string | undefined,
  account: string,
): Promise<boolean> {
  if (channel === undefined) return false;
  const found = await billingChannels(store).get(workspace, billingChannelId(channel, account));
  return found !== undefined;
}
