import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/reply.ts';
import { knownFrom } from '../../scheduler/invoices/news.ts';
import { INVOICE_BEAT } from '../../scheduler/invoices/notices.ts';
import { roundsOf } from '../../scheduler/schedules/poller.ts';
import { type Invoice, listInvoices } from '../../service/invoices.ts';
import { notifyOffMessage, notifyStateMessage } from '../../views/invoices/channel.ts';
import type { Account } from '../../workspace/accounts.ts';
import { type BillingChannel, billingChannelId, billingChannels } from '../../workspace/billing.ts';
import type { CommandContext } from '../command.ts';
import { defineCommand } from '../command.ts';
import { accountOf, channelOf } from '../resolve-target.ts';
import { goOn, NOTICE_ACTIONS, recordNotices } from './notify-lifecycle.ts';

export const invoicesNotify = defineCommand({
  name: 'invoices notify',
  summary: 'Tells this channel of new, paid and overdue invoices, or no more',
  usage: '[here|off]',
  examples: ['invoices notify here', 'invoices notify off'],
  role: 'billing',
  needsAccount: true,
  durable: true,
  positionals: ['what'],
  args: z.object({
    what: z
      .string()
      .toLowerCase()
      .pipe(z.enum(['here', 'on', 'off']))
      .optional(),
  }),
  actions: NOTICE_ACTIONS,
  async run({ what }, context) {
    if (what === undefined) return tellState(context);
    return what === 'off' ? end(context) : begin(context);
  },
});

/** The first look is made now, so that the service's refusal is answered and what happens from now on is told. */
async function begin(context: CommandContext): Promise<Reply> {
  const { caller, workspace } = context;
  const { requestId } = caller;
  const channel = channelOf(context);
  const account = await accountOf(context);
  const id = billingChannelId(channel, account.name);
  const before = await billingChannels(workspace.store).get(id);
  const isOn = before?.state.kind === 'active' && before.requestId !== requestId;
  if (isOn) return tellState(context);
  const invoices = await workspace.accounts.use(account, (client) => listInvoices(client));
  const isResumed = before?.state.kind === 'paused';
  await goOn(context, { channel, account: account.name, isResumed }, (current) =>
    current === undefined
      ? newChannel(context, channel, account, invoices)
      : { ...current, state: { kind: 'active' } },
  );
  return { kind: 'nothing' };
}

function newChannel(
  { caller, workspace }: CommandContext,
  channel: string,
  account: Account,
  invoices: readonly Invoice[],
): BillingChannel {
  const now = workspace.clock.now();
  return {
    channel,
    account: account.name,
    requestId: caller.requestId,
    setBy: caller.user,
    setAt: now,
    state: { kind: 'active' },
    known: knownFrom(invoices, now),
    pending: [],
  };
}

/** For the named account; without one for every account that this channel is told of. */
async function end(context: CommandContext): Promise<Reply> {
  const { caller, workspace } = context;
  const here = await channelsHere(context);
  const named = context.account?.toLowerCase();
  const ended = here.filter(({ account }) => named === undefined || account === named);
  if (ended.length === 0) throw new UserError('This channel is told of no invoices.', 'invoices notify here');
  for (const { account, channel } of ended) {
    await billingChannels(workspace.store).delete(billingChannelId(channel, account));
    await recordNotices(context, 'invoices notify', account);
  }
  const accounts = ended.map(({ account }) => account);
  return { kind: 'channel', message: notifyOffMessage(accounts, caller.user) };
}

async function tellState(context: CommandContext): Promise<Reply> {
  const { workspace } = context;
  const here = await channelsHere(context);
  const shown = await Promise.all(
    here.map(async (channel) => ({
      ...channel,
      ...(await roundsOf(workspace.store, INVOICE_BEAT, channel.account)),
    })),
  );
  return { kind: 'private', message: notifyStateMessage(shown, workspace.config.SLACK_COMMAND) };
}

async function channelsHere({ caller, workspace }: CommandContext): Promise<BillingChannel[]> {
  const rows = await billingChannels(workspace.store).list();
  return rows.map(({ doc }) => doc).filter(({ channel }) => channel === caller.channel);
}
