import { randomUUID } from 'node:crypto';
import { code } from '../../core/mrkdwn.ts';
import { type Invoice, listInvoices } from '../../service/invoices.ts';
import { invoiceNotices, noticeCount } from '../../views/invoices/notice.ts';
import { type BillingChannel, billingChannelId, billingChannels } from '../../workspace/billing.ts';
import type { Scheduled } from '../../workspace/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { PollState } from '../polling.ts';
import { type Outbox, postPending } from '../schedules/outbox.ts';
import { pauseAndNotify } from '../schedules/pause.ts';
import { pollAccount } from '../schedules/poll-account.ts';
import { ensurePolling, type Poll, type Poller, type PollInterval } from '../schedules/poller.ts';
import type { ScheduleKind } from '../schedules/reconcile-schedules.ts';
import { newsOf } from './news.ts';

const INTERVAL_MS = 3_600_000;

/** Invoices are looked at once an hour. */
export const INVOICE_BEAT: PollInterval = {
  queue: 'watch-invoices',
  intervalMs: ({ config }) => config.NOTICE_INTERVAL_MS ?? INTERVAL_MS,
  longestIntervals: 2,
};

export const INVOICE_ROUNDS: Poller = {
  beat: INVOICE_BEAT,
  isWanted: async (workspace, account) => (await activeOf(workspace, account)).length > 0,
  look,
};

export const INVOICE_NOTICES: ScheduleKind = {
  async list({ store }) {
    return (await billingChannels(store).list()).map(({ doc }) => asScheduled(doc));
  },
  async pause({ store }, id, paused) {
    await billingChannels(store).update(id, (current) =>
      current?.state.kind === 'active' ? { ...current, state: paused } : current,
    );
  },
  async resume(workspace, id, cause) {
    const changed = await billingChannels(workspace.store).update(id, (current) =>
      current?.state.kind === 'paused' && current.state.cause === cause
        ? { ...current, state: { kind: 'active' } }
        : current,
    );
    if (changed !== undefined) await ensurePolling(workspace, INVOICE_BEAT, changed.account);
  },
};

/** What is told of it where it is one of several things that were set up. */
function asScheduled({ channel, account, setBy, state }: BillingChannel): Scheduled {
  const what = `the invoice notices of ${code(account)} in <#${channel}>`;
  const resume = `invoices notify here --account ${account}`;
  return { id: billingChannelId(channel, account), what, channel, setUpBy: setBy, account, state, resume };
}

export const INVOICE_OUTBOX: Outbox = {
  queue: 'post-invoice-notices',
  async read({ store }, id) {
    const found = await billingChannels(store).get(id);
    if (found === undefined) return undefined;
    const { channel, pending, state } = found;
    return { channel, pending, isPaused: state.kind === 'paused' };
  },
  async take({ store, clock, metrics }, id, batch, failed) {
    const last = {
      at: clock.now(),
      said: failed === undefined ? batch.what : `${batch.what}, but ${failed}`,
    };
    await billingChannels(store).update(id, (current) =>
      current === undefined
        ? undefined
        : { ...current, last, pending: current.pending.filter((pending) => pending.id !== batch.id) },
    );
    metrics.slot('invoices', failed === undefined ? 'posted' : 'failed');
  },
  async pause(workspace, { id, batch, reason, signal }) {
    await pauseAndNotify(workspace, INVOICE_NOTICES, {
      concerns: (scheduled) => scheduled.id === id,
      paused: reason === undefined ? undefined : { cause: 'slack', reason },
      during: `undeliverable ${batch.id}`,
      signal,
    });
  },
};

/** What is pending is posted, and the rounds go on. */
export async function goOnWithNotices(workspace: Workspace, id: string): Promise<void> {
  const found = await billingChannels(workspace.store).get(id);
  if (found === undefined) return;
  await postPending(workspace, INVOICE_OUTBOX, id, found.pending);
  await ensurePolling(workspace, INVOICE_BEAT, found.account);
}

async function activeOf({ store }: Workspace, account: string): Promise<BillingChannel[]> {
  const rows = await billingChannels(store).list();
  return rows.map(({ doc }) => doc).filter((doc) => doc.account === account && doc.state.kind === 'active');
}

/** One request for all channels that are told of the account. */
function look(workspace: Workspace, look: Poll): Promise<PollState> {
  const { account, signal } = look;
  return pollAccount(workspace, INVOICE_NOTICES, look, {
    fetch: (client) => listInvoices(client, { signal }),
    async take(invoices) {
      for (const found of await activeOf(workspace, account)) await takeNews(workspace, found, invoices);
    },
  });
}

/** Keeps what is known now and what is to be posted, in one step; then sees to it that it is posted. */
async function takeNews(
  workspace: Workspace,
  found: BillingChannel,
  invoices: readonly Invoice[],
): Promise<void> {
  const id = billingChannelId(found.channel, found.account);
  const now = workspace.clock.now();
  const moved = (current: BillingChannel): BillingChannel =>
    current.state.kind === 'active' ? afterInvoices(current, invoices, now, randomUUID()) : current;
  // Most looks find nothing, and then nothing is written.
  const isMoved = JSON.stringify(moved(found).known) !== JSON.stringify(found.known);
  const kept = isMoved
    ? await billingChannels(workspace.store).update(id, (current) => current && moved(current))
    : found;
  if (kept !== undefined) await postPending(workspace, INVOICE_OUTBOX, id, kept.pending);
}

/** @param batch the id of a batch that may come of it */
function afterInvoices(
  channel: BillingChannel,
  invoices: readonly Invoice[],
  now: number,
  batch: string,
): BillingChannel {
  const { known, news } = newsOf(channel.known, invoices, now);
  if (news.length === 0) return { ...channel, known };
  const messages = invoiceNotices(channel.account, news);
  const added = { id: batch, at: now, ...messages, what: noticeCount(news), for: [] };
  return { ...channel, known, pending: [...channel.pending, added] };
}
