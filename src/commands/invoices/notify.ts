import { z } from 'zod';
import type { Reply } from '../../core/reply.ts';
import { INVOICE_SCHEDULES } from '../../records/account-keys.ts';
import { ACTIVE, type InvoiceNotices, type Schedule } from '../../records/schedules.ts';
import { addNotices, INVOICES, knownFrom, prepareNotices } from '../../scheduler/invoices/notices.ts';
import { resumeSchedule } from '../../scheduler/schedules/start.ts';
import { type CommandContext, channelOf, defineCommand } from '../command.ts';
import { announce, announceNew, changeCard, recordChange } from '../schedules/changes.ts';
import { removeHere, scheduleCommands } from '../schedules/lifecycle.ts';
import { listSchedules } from '../schedules/lists.ts';
import { accountOf } from '../targets/account.ts';

const { pause, resume, remove } = scheduleCommands('invoices');

export const invoicesNotify = defineCommand({
  name: 'invoices notify',
  summary: 'Posts new, paid and overdue invoices in this channel, or stops that',
  usage: '[here|off]',
  examples: ['invoices notify here', 'invoices notify off'],
  role: 'billing',
  needsAccount: true,
  durable: true,
  args: z.object({
    what: z
      .string()
      .toLowerCase()
      .pipe(z.enum(['here', 'on', 'off']))
      .optional(),
  }),
  actions: [pause, resume, remove].flatMap(({ actions = [] }) => actions),
  async run({ what }, context) {
    if (what === 'here' || what === 'on') return begin(context);
    const isMeant = await meantHere(context);
    return what === undefined ? showState(context, isMeant) : removeHere('invoices', context, isMeant);
  },
});

type IsMeant = (schedule: Schedule) => boolean;

/**
 * Those of the account after `--account`, else all. Notices may stand longer than their account is connected.
 * @throws UserError where the channel has none of that name, and no such account is connected
 */
async function meantHere(context: CommandContext): Promise<IsMeant> {
  const { caller, workspace } = context;
  const named = context.account?.toLowerCase();
  const isMeant: IsMeant = ({ account }) => named === undefined || account === named;
  const all = await workspace.schedules.list('invoices');
  const isKnown = all.some((one) => one.channel === caller.channel && isMeant(one));
  if (named !== undefined && !isKnown) await accountOf(context);
  return isMeant;
}

/** The service is asked now, so that a refusal is answered and only what happens from now on is posted. */
async function begin(context: CommandContext): Promise<Reply> {
  const { caller, workspace } = context;
  const { requestId, user: setUpBy } = caller;
  const channel = channelOf(context);
  // With the key that the notices will be read with.
  const account = await accountOf(context, INVOICE_SCHEDULES);
  const all = await workspace.schedules.list('invoices');
  const existing = all.find((one) => one.channel === channel && one.account === account.name);
  if (existing?.state.kind === 'paused') return resumeHere(context, existing);
  if (existing !== undefined && existing.requestId !== requestId) return showState(context);
  const { invoices } = await workspace.accounts.use(account, (client) => INVOICES.fetch(client));
  const known = knownFrom(invoices, workspace.clock.now());
  const requested = { channel, account: account.name, requestId, setUpBy, known };
  return announceNew(context, await addNotices(workspace, requested), 'invoices notify');
}

async function resumeHere(context: CommandContext, schedule: InvoiceNotices): Promise<Reply> {
  const { workspace } = context;
  const prepared = await prepareNotices(workspace, schedule);
  // Posted first: what cannot be posted here is not resumed.
  const resumed = { ...schedule, state: ACTIVE };
  const reply = await announce(context, schedule, changeCard(resumed, 'resumed', context));
  await resumeSchedule(workspace, schedule, { prepared });
  await recordChange(context, 'invoices notify', schedule);
  return reply;
}

async function showState(context: CommandContext, isMeant?: IsMeant): Promise<Reply> {
  return { kind: 'private', message: await listSchedules('invoices', context, 'here', { isMeant }) };
}
