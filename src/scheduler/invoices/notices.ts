import { DAY_MS, HOUR_MS } from '../../core/clock.ts';
import { code } from '../../core/mrkdwn.ts';
import { INVOICE_SCHEDULES } from '../../records/account-keys.ts';
import { BillingChannel, billingChannels, type KnownInvoices } from '../../records/billing.ts';
import {
  ACTIVE,
  afterUnread,
  feedChannelId,
  SCHEDULES_LOCK,
  type Schedule,
} from '../../records/schedules.ts';
import type { SkippedRows } from '../../service/call.ts';
import { type Invoice, listInvoices } from '../../service/invoices.ts';
import { type InvoiceNews, invoiceNotices, noticeCount } from '../../views/invoices/invoices.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { expectRoomForSchedule, type ScheduleKind } from '../schedules/lifecycle.ts';
import { postPending } from '../schedules/outbox.ts';
import { ensurePolling, type Feed, type PageContext } from '../schedules/polling.ts';

const INTERVAL_MS = HOUR_MS;

/** The invoices of an account, with the rows that could not be read. */
interface InvoicePage {
  invoices: Invoice[];
  skipped: SkippedRows[];
}

/** The invoices of an account, polled once an hour. */
export const INVOICE_FEED: Feed<BillingChannel, InvoicePage> = {
  interval: {
    queue: 'watch-invoices',
    intervalMs: ({ config }) => config.NOTICE_INTERVAL_MS ?? INTERVAL_MS,
    longestIntervals: 2,
  },
  outbox: {
    queue: 'post-invoice-notices',
    metric: 'invoices',
    collection: billingChannels,
    isActive: ({ state }) => state.kind === 'active',
    withResult: (channel, _, last) => ({ ...channel, last }),
  },
  async fetch(client, signal) {
    const skipped: SkippedRows[] = [];
    const invoices = await listInvoices(client, { skipped, ...(signal === undefined ? {} : { signal }) });
    return { invoices, skipped };
  },
  after: afterInvoices,
};

function afterInvoices(
  channel: BillingChannel,
  { invoices, skipped }: InvoicePage,
  { now, batch }: PageContext,
): BillingChannel {
  const before = channel.known ?? knownFrom(invoices, now);
  const { known, news } = newsOf(before, invoices, now);
  const { unread, isNews } = afterUnread(channel.unread, skipped, now);
  const next = { ...channel, known, unread };
  if (news.length === 0 && !isNews) return next;
  const messages = invoiceNotices(channel.account, news, isNews ? skipped : []);
  const added = { id: batch, at: now, ...messages, what: noticeCount(news), for: [] };
  return { ...next, pending: [...channel.pending, added] };
}

export const INVOICE_NOTICES: ScheduleKind<BillingChannel> = {
  command: 'invoices notify',
  collection: 'billing-channels',
  requester: INVOICE_SCHEDULES,
  async list({ store }) {
    const rows = await billingChannels(store).list();
    return rows
      .map(({ doc }) => asSchedule(doc))
      .toSorted((one, other) => one.record.setAt - other.record.setAt);
  },
  async setState({ store }, { id }, change) {
    const changed = await billingChannels(store).update(
      id,
      (current) => current && { ...current, state: change(current.state) },
    );
    return changed && asSchedule(changed);
  },
  start: (workspace, { record }) => ensurePolling(workspace, INVOICE_FEED.interval, record.account),
  async postPending(workspace, { id }) {
    const doc = await billingChannels(workspace.store).get(id);
    await postPending(workspace, INVOICE_FEED.outbox, doc);
  },
  async prepareResume({ accounts }, { record }) {
    const account = await accounts.resolve(INVOICE_SCHEDULES, record.account);
    await accounts.use(account, (client) => INVOICE_FEED.fetch(client));
    // What happened in the meantime is still news.
    return async () => {};
  },
  async remove({ store }, { id }) {
    const removed = await billingChannels(store).get(id);
    await billingChannels(store).delete(id);
    return removed;
  },
  async restore({ store }, removed) {
    const doc = BillingChannel.parse(removed);
    const existing = await billingChannels(store).update(feedChannelId(doc), (current) => current ?? doc);
    return asSchedule(existing ?? doc);
  },
};

function asSchedule(doc: BillingChannel): Schedule<BillingChannel> {
  const { channel, account, setBy: setUpBy, state } = doc;
  const id = feedChannelId(doc);
  const what = `the invoice notices of ${code(account)}`;
  const resume = `invoices notify here --account ${account}`;
  return { id, name: account, what, channel, setUpBy, account, state, resume, record: doc };
}

/**
 * Stores new notices and begins to poll; repeated for the same channel and account it changes nothing. Without `known` the
 * first poll finds out what is not news.
 */
export function addNotices(
  workspace: Workspace,
  asked: Omit<BillingChannel, 'setAt' | 'state' | 'pending'>,
): Promise<Schedule<BillingChannel>> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const existing = await billingChannels(workspace.store).get(feedChannelId(asked));
    if (existing === undefined) await expectRoomForSchedule(workspace, asked.channel);
    const made: BillingChannel = { ...asked, setAt: workspace.clock.now(), state: ACTIVE, pending: [] };
    const schedule = await INVOICE_NOTICES.restore(workspace, made);
    await INVOICE_NOTICES.start(workspace, schedule);
    return schedule;
  });
}

/** A reminder falls due this many days after an invoice was made. */
const REMINDERS = [14, 7] as const;

/** What is known after the first poll: neither an invoice nor a reminder that is due is news. Pure. */
export function knownFrom(invoices: readonly Invoice[], now: number): KnownInvoices {
  return {
    settled: invoices.filter(({ paid }) => paid).map(({ number }) => number),
    unpaid: invoices
      .filter(({ paid }) => !paid)
      .map((invoice) => ({ number: invoice.number, reminded: dueReminder(invoice, now) })),
  };
}

/**
 * What is news of the account's invoices, oldest first, and what is known after it: an invoice that was not there
 * before, one that became paid, one that is still unpaid after 7 and 14 days. Each is news once; of two reminders that
 * are due together, only the later. Pure.
 * @param now milliseconds since the epoch
 */
export function newsOf(
  known: KnownInvoices,
  invoices: readonly Invoice[],
  now: number,
): { known: KnownInvoices; news: InvoiceNews[] } {
  const settled = new Set(known.settled);
  const unpaid = new Map(known.unpaid.map(({ number, reminded }) => [number, reminded]));
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
    // An old invoice is new first; its reminder comes with the next poll.
    const due = reminded === undefined ? 0 : dueReminder(invoice, now);
    if (due > (reminded ?? 0)) news.push({ kind: 'unpaid', invoice, days: daysSince(invoice, now) });
    unpaid.set(number, Math.max(due, reminded ?? 0));
  }
  const left = [...unpaid].map(([number, reminded]) => ({ number, reminded }));
  return { known: { settled: [...settled], unpaid: left }, news };
}

function byAge(one: Invoice, other: Invoice): number {
  return Date.parse(one.created_at) - Date.parse(other.created_at) || one.number - other.number;
}

/** The days of the latest reminder that is due by now; 0 for none. */
function dueReminder(invoice: Invoice, now: number): number {
  return REMINDERS.find((days) => daysSince(invoice, now) >= days) ?? 0;
}

function daysSince({ created_at }: Invoice, now: number): number {
  return Math.floor((now - Date.parse(created_at)) / DAY_MS);
}
