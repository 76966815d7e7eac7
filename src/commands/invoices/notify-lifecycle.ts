import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/reply.ts';
import { deliver } from '../../scheduler/deliver.ts';
import { goOnWithNotices, INVOICE_NOTICES } from '../../scheduler/invoices/notices.ts';
import { listInvoices } from '../../service/invoices.ts';
import { notifyOnMessage, notifyPausedMessage, notifyResumedMessage } from '../../views/invoices/channel.ts';
import { type BillingChannel, billingChannelId, billingChannels } from '../../workspace/billing.ts';
import type { Action, ActionContext, CommandContext } from '../command.ts';

const ButtonValue = z.object({ id: z.string() });

/** For places that are not the channel itself: App Home, and what is said of a change made there. */
export const NOTICE_ACTIONS: Action[] = [
  { actionId: 'invoices:pause', role: 'billing', durable: true, run: pause },
  { actionId: 'invoices:resume', role: 'billing', durable: true, run: resume },
];

async function pause(value: string | undefined, context: ActionContext): Promise<Reply> {
  const { caller, workspace } = context;
  const { id, found } = await noticesOf(value, context);
  await INVOICE_NOTICES.pause(workspace, id, {
    kind: 'paused',
    cause: 'person',
    reason: 'somebody paused it',
    by: caller.user,
    at: workspace.clock.now(),
    during: caller.requestId,
  });
  await recordNotices(context, 'invoices pause', found.account);
  return {
    kind: 'private',
    message: notifyPausedMessage({ id, ...found }, workspace.config.SLACK_COMMAND),
  };
}

/** The service is asked first, so that its refusal is answered and not left to the next look. */
async function resume(value: string | undefined, context: ActionContext): Promise<Reply> {
  const { workspace } = context;
  const { id, found } = await noticesOf(value, context);
  if (found.state.kind === 'paused') {
    const account = await workspace.accounts.resolve(found.account, undefined);
    await workspace.accounts.use(account, (client) => listInvoices(client));
    await goOn(
      context,
      { ...found, isResumed: true },
      (current) => current && { ...current, state: { kind: 'active' } },
    );
  }
  return { kind: 'private', message: notifyResumedMessage({ id, ...found }) };
}

/** Tells the channel and begins, or goes on where `isResumed`; `change` says what is kept. */
export async function goOn(
  context: CommandContext,
  { channel, account, isResumed }: Pick<BillingChannel, 'channel' | 'account'> & { isResumed: boolean },
  change: (current: BillingChannel | undefined) => BillingChannel | undefined,
): Promise<void> {
  const { caller, workspace } = context;
  const { user, requestId } = caller;
  const id = billingChannelId(channel, account);
  // Before it is stored, so that a channel that cannot be told is not told later either.
  const message = notifyOnMessage(account, user, isResumed, workspace.config.SLACK_COMMAND);
  await deliver(workspace, { id: `invoices notify ${requestId}`, channel, message });
  await billingChannels(workspace.store).update(id, change);
  await goOnWithNotices(workspace, id);
  await recordNotices(context, 'invoices notify', account);
}

export function recordNotices(
  { caller, workspace }: CommandContext,
  what: string,
  target: string,
): Promise<void> {
  const { user: who, channel } = caller;
  const where = channel === undefined ? {} : { where: channel };
  return workspace.audit.record({ who, what, target, ...where, result: 'done' });
}

async function noticesOf(
  value: string | undefined,
  { workspace }: ActionContext,
): Promise<{ id: string; found: BillingChannel }> {
  const { id } = ButtonValue.parse(JSON.parse(value ?? '{}'));
  const found = await billingChannels(workspace.store).get(id);
  if (found === undefined) throw new UserError('These invoice notices were stopped.', 'invoices notify here');
  return { id, found };
}
