import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { deliver } from '../../scheduler/deliver.ts';
import { goOnWithNotices, INVOICE_NOTICES } from '../../scheduler/invoices/notices.ts';
import { listInvoices } from '../../service/invoices.ts';
import { notifyOnMessage, notifyPausedMessage, notifyResumedMessage } from '../../views/invoices/channel.ts';
import { type BillingChannel, billingChannelId, billingChannels } from '../../workspace/billing.ts';
import type { Action, ActionContext, CommandContext, Reply } from '../command.ts';

const ButtonValue = z.object({ id: z.string() });

/** For places that are not the channel itself: App Home, and what is said of a change made there. */
export const NOTICE_ACTIONS: Action[] = [
  { actionId: 'invoices:pause', role: 'billing', durable: true, run: pause },
  { actionId: 'invoices:resume', role: 'billing', durable: true, run: resume },
];

async function pause(value: string | undefined, context: ActionContext): Promise<Reply> {
  const { caller, deckhand } = context;
  const { id, found } = await noticesOf(value, context);
  await INVOICE_NOTICES.pause(deckhand, caller.workspace, id, {
    kind: 'paused',
    cause: 'person',
    reason: 'somebody paused it',
    by: caller.user,
    at: deckhand.clock.now(),
    during: caller.requestId,
  });
  await recordNotices(context, 'invoices pause', found.account);
  return {
    kind: 'private',
    message: notifyPausedMessage({ id, ...found }, deckhand.config.SLACK_COMMAND),
  };
}

/** The service is asked first, so that its refusal is answered and not left to the next look. */
async function resume(value: string | undefined, context: ActionContext): Promise<Reply> {
  const { caller, deckhand } = context;
  const { id, found } = await noticesOf(value, context);
  if (found.state.kind === 'paused') {
    const account = await deckhand.accounts.resolve(caller.workspace, found.account, undefined);
    await deckhand.accounts.use(caller.workspace, account, (client) => listInvoices(client));
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
  const { caller, deckhand } = context;
  const { workspace, user, requestId } = caller;
  const id = billingChannelId(channel, account);
  // Before it is stored, so that a channel that cannot be told is not told later either.
  const message = notifyOnMessage(account, user, isResumed, deckhand.config.SLACK_COMMAND);
  await deliver(deckhand, { workspace, id: `invoices notify ${requestId}`, channel, message });
  await billingChannels(deckhand.store).update(workspace, id, change);
  await goOnWithNotices(deckhand, workspace, id);
  await recordNotices(context, 'invoices notify', account);
}

export function recordNotices(
  { caller, deckhand }: CommandContext,
  what: string,
  target: string,
): Promise<void> {
  const { workspace, user: who, channel } = caller;
  const where = channel === undefined ? {} : { where: channel };
  return deckhand.audit.record(workspace, { who, what, target, ...where, result: 'done' });
}

async function noticesOf(
  value: string | undefined,
  { caller, deckhand }: ActionContext,
): Promise<{ id: string; found: BillingChannel }> {
  const { id } = ButtonValue.parse(JSON.parse(value ?? '{}'));
  const found = await billingChannels(deckhand.store).get(caller.workspace, id);
  if (found === undefined) throw new UserError('These invoice notices were stopped.', 'invoices notify here');
  return { id, found };
}
