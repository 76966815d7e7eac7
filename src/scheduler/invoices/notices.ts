import { randomUUID } from 'node:crypto';
import type { Deckhand } from '../../deckhand.ts';
import { type Invoice, listInvoices } from '../../service/invoices.ts';
import { code } from '../../views/blocks/text.ts';
import { invoiceNotices, noticeCount } from '../../views/invoices/notice.ts';
import { type BillingChannel, billingChannelId, billingChannels } from '../../workspace/billing.ts';
import type { Scheduled } from '../../workspace/schedules.ts';
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
  isWanted: async (deckhand, workspace, account) => (await activeOf(deckhand, workspace, account)).length > 0,
  look,
};

export const INVOICE_NOTICES: ScheduleKind = {
  async list({ store }, workspace) {
    return (await billingChannels(store).list(workspace)).map(({ doc }) => asScheduled(doc));
  },
  async pause({ store }, workspace, id, paused) {
    await billingChannels(store).update(workspace, id, (current) =>
      current?.state.kind === 'active' ? { ...current, state: paused } : current,
    );
  },
  async resume(deckhand, workspace, id, cause) {
    const changed = await billingChannels(deckhand.store).update(workspace, id, (current) =>
      current?.state.kind === 'paused' && current.state.cause === cause
        ? { ...current, state: { kind: 'active' } }
        : current,
    );
    if (changed !== undefined) await ensurePolling(deckhand, INVOICE_BEAT, workspace, changed.account);
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
  async read({ store }, workspace, id) {
    const found = await billingChannels(store).get(workspace, id);
    if (found === undefined) return undefined;
    const { channel, pending, state } = found;
    return { channel, pending, isPaused: state.kind === 'paused' };
  },
  async take({ store, clock, metrics }, workspace, id, batch, failed) {
    const last = {
      at: clock.now(),
      said: failed === undefined ? batch.what : `${batch.what}, but ${failed}`,
    };
    await billingChannels(store).update(workspace, id, (current) =>
      current === undefined
        ? undefined
        : { ...current, last, pending: current.pending.filter((pending) => pending.id !== batch.id) },
    );
    metrics.slot('invoices', failed === undefined ? 'posted' : 'failed');
  },
  async pause(deckhand, { workspace, id, batch, reason, signal }) {
    await pauseAndNotify(deckhand, INVOICE_NOTICES, {
      workspace,
      concerns: (scheduled) => scheduled.id === id,
      paused: reason === undefined ? undefined : { cause: 'slack', reason },
      during: `undeliverable ${batch.id}`,
      signal,
    });
  },
};

/** What is pending is posted, and the rounds go on. */
export async function goOnWithNotices(deckhand: Deckhand, workspace: string, id: string): Promise<void> {
  const found = await billingChannels(deckhand.store).get(workspace, id);
  if (found === undefined) return;
  await postPending(deckhand, INVOICE_OUTBOX, workspace, id, found.pending);
  await ensurePolling(deckhand, INVOICE_BEAT, workspace, found.account);
}

async function activeOf({ store }: Deckhand, workspace: string, account: string): Promise<BillingChannel[]> {
  const rows = await billingChannels(store).list(workspace);
  return rows.map(({ doc }) => doc).filter((doc) => doc.account === account && doc.state.kind === 'active');
}

/** One request for all channels that are told of the account. */
function look(deckhand: Deckhand, look: Poll): Promise<PollState> {
  const { workspace, account, signal } = look;
  return pollAccount(deckhand, INVOICE_NOTICES, look, {
    fetch: (client) => listInvoices(client, { signal }),
    async take(invoices) {
      for (const found of await activeOf(deckhand, workspace, account))
        await takeNews(deckhand, workspace, found, invoices);
    },
  });
}

/** Keeps what is known now and what is to be posted, in one step; then sees to it that it is posted. */
async function takeNews(
  deckhand: Deckhand,
  workspace: string,
  found: BillingChannel,
  invoices: readonly Invoice[],
): Promise<void> {
  const id = billingChannelId(found.channel, found.account);
  const now = deckhand.clock.now();
  const moved = (current: BillingChannel): BillingChannel =>
    current.state.kind === 'active' ? afterInvoices(current, invoices, now, randomUUID()) : current;
  // Most looks find nothing, and then nothing is written.
  const isMoved = JSON.stringify(moved(found).known) !== JSON.stringify(found.known);
  const kept = isMoved
    ? await billingChannels(deckhand.store).update(workspace, id, (current) => current && moved(current))
    : found;
  if (kept !== undefined) await postPending(deckhand, INVOICE_OUTBOX, workspace, id, kept.pending);
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
