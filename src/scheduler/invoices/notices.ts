import { randomUUID } from 'node:crypto';
import { DAY_MS, HOUR_MS } from '../../core/time/clock.ts';
import { INVOICE_SCHEDULES } from '../../records/accounts.ts';
import { afterUnread, type InvoiceFeed, type KnownInvoices } from '../../records/feeds.ts';
import { ACTIVE, feedPlace, type InvoiceNotices, SCHEDULES_LOCK } from '../../records/schedules.ts';
import type { SkippedRows } from '../../service/call.ts';
import { type Invoice, isUnpaid, listInvoices } from '../../service/invoices.ts';
import { type InvoiceNews, invoiceNotices, noticeCount } from '../../views/invoices/invoice-messages.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { postPending } from '../schedules/outbox.ts';
import { expectRoomForSchedule } from '../schedules/pause-schedule.ts';
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
  takePage: takeInvoices,
};

/** Stores what each channel knows and its news in one write, then sends the jobs that post them. */
async function takeInvoices(
  workspace: Workspace,
  account: string,
  page: InvoicePage,
  active: readonly InvoiceNotices[],
): Promise<void> {
  const { clock, feeds, schedules } = workspace;
  for (const notices of active) {
    const { channel } = notices;
    const context = { now: clock.now(), batch: randomUUID() };
    const feed = await feeds.get('invoices', { channel, account });
    if (feed === undefined) continue;
    // Most polls find nothing. Then nothing is written.
    const isMoved = JSON.stringify(afterInvoices(feed, [notices], page, context)) !== JSON.stringify(feed);
    const changed = isMoved
      ? await feeds.update('invoices', feed, async (current) => {
          const present = await schedules.get('invoices', notices.id);
          const isActive = present?.state.kind === 'active';
          return current && isActive ? afterInvoices(current, [present], page, context) : current;
        })
      : feed;
    await postPending(workspace, INVOICES, changed);
  }
}

function afterInvoices(
  feed: InvoiceFeed,
  followers: readonly InvoiceNotices[],
  { invoices, skipped }: InvoicePage,
  { now, batch }: Pick<PageContext, 'now' | 'batch'>,
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

/** A reminder falls due this many days after an invoice was made, or was unpaid again. */
const REMINDERS = [14, 7] as const;

/** Records the first poll. Its invoices, and reminders that are already due, are not news. Pure. */
export function knownFrom(invoices: readonly Invoice[], now: number): KnownInvoices {
  return {
    settled: invoices.filter((invoice) => !isUnpaid(invoice)).map(({ number }) => number),
    unpaid: invoices
      .filter(isUnpaid)
      .map((invoice) => ({ number: invoice.number, reminded: dueReminder(readAge(invoice), now) })),
  };
}

/**
 * Lists the news of an account's invoices, oldest first, and the new record. News are a new invoice, a payment, one that is unpaid
 * again, and one that is unpaid after 7 and 14 days. Each is news once. Of two reminders due together, only the later counts. Pure.
 * @param now milliseconds since the epoch
 */
export function listInvoiceNews(
  knownInvoices: KnownInvoices,
  invoices: readonly Invoice[],
  now: number,
): { knownInvoices: KnownInvoices; news: InvoiceNews[] } {
  const settled = new Set(knownInvoices.settled);
  const unpaid = new Map(knownInvoices.unpaid.map((one) => [one.number, one]));
  const news: InvoiceNews[] = [];
  for (const invoice of invoices.toSorted(byAge)) {
    const { number } = invoice;
    const before = { isSettled: settled.has(number), open: unpaid.get(number) };
    const after = isUnpaid(invoice) ? followUnpaid(invoice, before, now) : followSettled(invoice, before);
    news.push(...after.news);
    if (after.open === undefined) {
      settled.add(number);
      unpaid.delete(number);
    } else {
      settled.delete(number);
      unpaid.set(number, after.open);
    }
  }
  return { knownInvoices: { settled: [...settled], unpaid: [...unpaid.values()] }, news };
}

interface Followed {
  isSettled: boolean;
  open: KnownInvoices['unpaid'][number] | undefined;
}

type Next = Pick<Followed, 'open'> & { news: InvoiceNews[] };

function followSettled(invoice: Invoice, { isSettled, open }: Followed): Next {
  if (open === undefined) return { open, news: isSettled ? [] : [{ kind: 'new', invoice }] };
  // A credit note that an earlier release took for unpaid is no news.
  return { open: undefined, news: invoice.paid ? [{ kind: 'paid', invoice }] : [] };
}

/** The reminder of a new one comes with a later poll. */
function followUnpaid(invoice: Invoice, { isSettled, open }: Followed, now: number): Next {
  const { number } = invoice;
  if (open === undefined && isSettled)
    return { open: { number, reminded: 0, since: now }, news: [{ kind: 'unpaid again', invoice }] };
  if (open === undefined) return { open: { number, reminded: 0 }, news: [{ kind: 'new', invoice }] };
  const from = readAge(invoice, open.since);
  const due = dueReminder(from, now);
  if (due <= open.reminded) return { open, news: [] };
  return {
    open: { ...open, reminded: due },
    news: [{ kind: 'unpaid', invoice, days: daysSince(from, now) }],
  };
}

function byAge(one: Invoice, other: Invoice): number {
  return readAge(one) - readAge(other) || one.number - other.number;
}

/** Time from which reminders count. */
function readAge({ created_at }: Invoice, since?: number): number {
  return since ?? Date.parse(created_at);
}

/** Days of the latest reminder that is due by now; 0 for none. */
function dueReminder(from: number, now: number): number {
  return REMINDERS.find((days) => daysSince(from, now) >= days) ?? 0;
}

function daysSince(from: number, now: number): number {
  return Math.floor((now - from) / DAY_MS);
}
