import { code } from '../../core/mrkdwn.ts';
import type { SkippedRows } from '../../service/call.ts';
import { type Invoice, listInvoices } from '../../service/invoices.ts';
import { invoiceNotices, noticeCount } from '../../views/invoices/notice.ts';
import { INVOICE_SCHEDULES } from '../../workspace/account-keys.ts';
import { BillingChannel, billingChannels } from '../../workspace/billing.ts';
import { expectRoomForSchedule } from '../../workspace/schedule-limits.ts';
import { ACTIVE, SCHEDULES_LOCK, type Schedule } from '../../workspace/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ScheduleKind } from '../schedules/lifecycle.ts';
import { feedChannelId, postPending } from '../schedules/outbox.ts';
import type { Feed, PageContext } from '../schedules/poll-account.ts';
import { ensurePolling } from '../schedules/poller.ts';
import { afterUnread } from '../schedules/unread-rows.ts';
import { newsOf } from './news.ts';

const INTERVAL_MS = 3_600_000;

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
    const onSkipped = (rows: SkippedRows) => skipped.push(rows);
    const invoices = await listInvoices(client, { onSkipped, ...(signal === undefined ? {} : { signal }) });
    return { invoices, skipped };
  },
  after: afterInvoices,
  hasMoved: (before, after) =>
    after.unread?.at !== before.unread?.at || JSON.stringify(after.known) !== JSON.stringify(before.known),
};

function afterInvoices(
  channel: BillingChannel,
  { invoices, skipped }: InvoicePage,
  { now, batch }: PageContext,
): BillingChannel {
  const { known, news } = newsOf(channel.known, invoices, now);
  const { unread, isNews } = afterUnread(channel.unread, skipped, now);
  const next = { ...channel, known, ...(unread === undefined ? {} : { unread }) };
  if (news.length === 0 && !isNews) return next;
  const messages = invoiceNotices(channel.account, news, isNews ? skipped : []);
  const added = { id: batch, at: now, ...messages, what: noticeCount(news), for: [] };
  return { ...next, pending: [...channel.pending, added] };
}

export const INVOICE_NOTICES: ScheduleKind<BillingChannel> = {
  asker: INVOICE_SCHEDULES,
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
    const standing = await billingChannels(store).update(feedChannelId(doc), (current) => current ?? doc);
    return asSchedule(standing ?? doc);
  },
};

function asSchedule(doc: BillingChannel): Schedule<BillingChannel> {
  const { channel, account, setBy: setUpBy, state } = doc;
  const what = `the invoice notices of ${code(account)} in <#${channel}>`;
  const resume = `invoices notify here --account ${account}`;
  return {
    id: feedChannelId(doc),
    name: account,
    what,
    channel,
    setUpBy,
    account,
    state,
    resume,
    record: doc,
  };
}

/** Stores new notices and begins to poll; repeated for the same channel and account it changes nothing. */
export function addNotices(
  workspace: Workspace,
  asked: Omit<BillingChannel, 'setAt' | 'state' | 'pending'>,
): Promise<Schedule<BillingChannel>> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const standing = await billingChannels(workspace.store).get(feedChannelId(asked));
    if (standing === undefined) await expectRoomForSchedule(workspace, asked.channel);
    const made: BillingChannel = { ...asked, setAt: workspace.clock.now(), state: ACTIVE, pending: [] };
    const schedule = await INVOICE_NOTICES.restore(workspace, made);
    await INVOICE_NOTICES.start(workspace, schedule);
    return schedule;
  });
}
