import { z } from 'zod';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { Batch, feedChannelId, LastResult, ReportedUnread, ScheduleState } from './schedules.ts';

/** What is known of the account's invoices, by number, so that each piece of news is posted once. */
export const KnownInvoices = z.object({
  /** Paid when they were first seen, or since, with a notice. */
  settled: z.array(z.number()),
  /** `reminded`: after how many days the latest reminder was due. */
  unpaid: z.array(z.object({ number: z.number(), reminded: z.number() })),
});
export type KnownInvoices = z.infer<typeof KnownInvoices>;

/** A channel that gets notices of an account's invoices. Times are milliseconds since the epoch. */
export const BillingChannel = z.object({
  channel: z.string(),
  account: z.string(),
  /** The request that set it up, so that a repetition after a kill knows its own. */
  requestId: z.string(),
  setBy: z.string(),
  setAt: z.number(),
  state: ScheduleState,
  /** Undefined until the invoices have been read once. */
  known: KnownInvoices.optional(),
  /** The invoices that could not be read, as the channel was told. */
  unread: ReportedUnread.optional(),
  /** Oldest first. */
  pending: z.array(Batch),
  last: LastResult.optional(),
});
export type BillingChannel = z.infer<typeof BillingChannel>;

/** By `feedChannelId`. */
export function billingChannels(store: WorkspaceStore): Collection<BillingChannel> {
  return store.collection('billing-channels', BillingChannel);
}

/** True where everybody in the channel may see the account's invoices, because a person with the billing role said so. */
export async function isBillingChannel(
  store: WorkspaceStore,
  channel: string | undefined,
  account: string,
): Promise<boolean> {
  if (channel === undefined) return false;
  const found = await billingChannels(store).get(feedChannelId({ channel, account }));
  return found !== undefined;
}
