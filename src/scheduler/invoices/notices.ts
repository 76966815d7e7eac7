import { DAY_MS, HOUR_MS } from '../../core/time/clock.ts';
import { INVOICE_SCHEDULES } from '../../records/accounts.ts';
import { afterUnread, type InvoiceFeed, type KnownInvoices } from '../../records/feeds.ts';
import { ACTIVE, feedPlace, type InvoiceNotices, SCHEDULES_LOCK } from '../../records/schedules.ts';
import type { SkippedRows } from '../../service/call.ts';
import { type Invoice, listInvoices } from '../../service/invoices.ts';
import { type InvoiceNews, invoiceNotices, noticeCount } from '../../views/invoices/invoices.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { expectRoomForSchedule } from '../schedules/lifecycle.ts';
import { type PageContext, type Source, startPolling } from '../schedules/polling.ts';

const INTERVAL_MS = HOUR_MS;

/** Invoices of an account, and the number of rows that could not be read. */
interface InvoicePage {
  invoices: Invoice[];
  skipped: SkippedRows[];
}

export const INVOICES: Source<'invoices', InvoicePage> = {
  kind: 'invoices',
  keyUse: INVOICE_SCHEDULES,
  queue: 'watch-invoices',
  postQueue: 'post-invoice-notices',
  intervalMs: ({ config }) => config.NOTICE_INTERVAL_MS ?? INTERVAL_MS,
  longestIntervals: 2,
  async fetch(client, signal) {
    const skipped: SkippedRows[] = [];
    const invoices = await listInvoices(client, { skipped, ...(signal === undefined ? {} : { signal }) });
    return { invoices, skipped };
  },
  after: afterInvoices,
};

function afterInvoices(
  feed: InvoiceFeed,
  followers: readonly InvoiceNotices[],
  { invoices, skipped }: InvoicePage,
  { now, batch }: PageContext,
): InvoiceFeed {
  const before = feed.knownInvoices ?? knownFrom(invoices, now);
  const { knownInvoices, news } = listInvoiceNews(before, invoices, now);
  const { unread, isNews } = afterUnread(feed.unread, skipped, now);
  const next = { ...feed, knownInvoices, unread };
  if (news.length === 0 && !isNews) return next;
  const messages = invoiceNotices(feed.account, news, isNews ? skipped : []);
  const added = {
    id: batch,
    at: now,
    ...messages,
    what: noticeCount(news),
    for: followers.map(({ id }) => id),
  };
  return { ...next, pending: [...feed.pending, added] };
}

/** Reads the invoices before notices resume. News from the pause are still posted. */
export async function prepareNotices(
  { accounts }: Workspace,
  { account }: InvoiceNotices,
): Promise<() => Promise<void>> {
  await accounts.use(await accounts.resolve(INVOICE_SCHEDULES, account), (client) => INVOICES.fetch(client));
  return async () => {};
}

/**
 * Stores new notices and starts to poll. A repeat for the same channel and account changes nothing. Without
 * `knownInvoices`, the first poll finds out which invoices are old.
 */
export function addNotices(
  workspace: Workspace,
  {
    knownInvoices,
    ...requested
  }: Pick<InvoiceNotices, 'requestId' | 'channel' | 'account' | 'createdBy'> &
    Pick<InvoiceFeed, 'knownInvoices'>,
): Promise<InvoiceNotices> {
  const { clock, feeds, schedules, store } = workspace;
  return store.exclusive(SCHEDULES_LOCK, async () => {
    const id = feedPlace(requested);
    const existing = await schedules.get('invoices', id);
    const notices = existing ?? { kind: 'invoices', id, ...requested, createdAt: clock.now(), state: ACTIVE };
    if (existing === undefined) {
      await expectRoomForSchedule(workspace, requested.channel);
      const { channel, account } = requested;
      await feeds.update('invoices', requested, () => ({
        kind: 'invoices',
        channel,
        account,
        knownInvoices,
        pending: [],
      }));
      await schedules.put(notices);
    }
    await startPolling(workspace, INVOICES, notices);
    return notices;
  });
}

/** A reminder falls due this many days after an invoice was made. */
const REMINDERS = [14, 7] as const;

/** Records the first poll. Its invoices, and reminders that are already due, are not news. Pure. */
export function knownFrom(invoices: readonly Invoice[], now: number): KnownInvoices {
  return {
    settled: invoices.filter(({ paid }) => paid).map(({ number }) => number),
    unpaid: invoices
      .filter(({ paid }) => !paid)
      .map((invoice) => ({ number: invoice.number, reminded: dueReminder(invoice, now) })),
  };
}

/**
 * Lists the news of an account's invoices, oldest first, and the new record. News are a new invoice, a
 * payment, and an invoice that is unpaid after 7 and 14 days. Each is news once. Of two reminders due
 * together, only the later counts. Pure.
 * @param now milliseconds since the epoch
 */
export function listInvoiceNews(
  knownInvoices: KnownInvoices,
  invoices: readonly Invoice[],
  now: number,
): { knownInvoices: KnownInvoices; news: InvoiceNews[] } {
  const settled = new Set(knownInvoices.settled);
  const unpaid = new Map(knownInvoices.unpaid.map(({ number, reminded }) => [number, reminded]));
  const news: InvoiceNews[] = [];
  for (const invoice of invoices.toSorted(byAge)) {
    const { number, paid } = invoice;
    if (settled.has(number)) continue;
    const reminded = unpaid.get(number);
    if (reminded === undefined) news.push({ kind: 'new', invoice });
    else if (paid) news.push({ kind: 'paid', invoice });
    if (paid) {
      settled.add(number);
      unpaid.delete(number);
      continue;
    }
    // A new invoice comes first; its reminder comes with the next poll.
    const due = reminded === undefined ? 0 : dueReminder(invoice, now);
    if (due > (reminded ?? 0)) news.push({ kind: 'unpaid', invoice, days: daysSince(invoice, now) });
    unpaid.set(number, Math.max(due, reminded ?? 0));
  }
  const stillUnpaid = [...unpaid].map(([number, reminded]) => ({ number, reminded }));
  return { knownInvoices: { settled: [...settled], unpaid: stillUnpaid }, news };
}

function byAge(one: Invoice, other: Invoice): number {
  return Date.parse(one.created_at) - Date.parse(other.created_at) || one.number - other.number;
}

/** Days of the latest reminder that is due by now; 0 for none. */
function dueReminder(invoice: Invoice, now: number): number {
  return REMINDERS.find((days) => daysSince(invoice, now) >= days) ?? 0;
}

function daysSince({ created_at }: Invoice, now: number): number {
  return Math.floor((now - Date.parse(created_at)) / DAY_MS);
}
