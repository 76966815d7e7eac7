import { z } from 'zod';
import { outdated, UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { type Account, forInvoices, INVOICE_SCHEDULES } from '../../records/accounts.ts';
import { ACTIVE, feedPlace, type InvoiceNotices, type Schedule } from '../../records/schedules.ts';
import { addNotices, INVOICES, knownFrom, prepareNotices } from '../../scheduler/invoices/notices.ts';
import { resumeSchedule } from '../../scheduler/schedules/start.ts';
import type { SkippedRows } from '../../service/call.ts';
import { downloadInvoice, type Invoice, listInvoices } from '../../service/invoices.ts';
import { menuTarget } from '../../views/blocks/inputs.ts';
import { withSkipped } from '../../views/blocks/lists.ts';
import {
  invoiceComment,
  invoiceSentMessage,
  invoicesMessage,
  invoiceTitle,
} from '../../views/invoices/invoices.ts';
import { type CommandContext, channelOf, defineCommand, fromButton } from '../command.ts';
import { invoicePicker } from '../option-sources.ts';
import { announce, announceNew, changeCard, recordChange } from '../schedules/changes.ts';
import { removeHere, scheduleCommands } from '../schedules/lifecycle.ts';
import { listSchedules } from '../schedules/lists.ts';
import { accountOf } from '../targets/project.ts';

const ButtonValue = z.object({ account: z.string(), number: z.int().nonnegative() });

export const invoices = defineCommand({
  name: 'invoices',
  summary: 'Lists the account’s invoices, or sends you one as a PDF',
  usage: '[number]',
  examples: ['invoices', 'invoices 1001'],
  role: 'billing',
  needsAccount: true,
  args: z.object({ number: z.string().optional() }),
  async run({ number }, context) {
    const account = await accountOf(context, forInvoices(context.caller));
    return number === undefined ? list(account, context) : send(account, readNumber(number), context);
  },
  optionSources: [invoicePicker],
  actions: [
    {
      actionId: 'invoices:pdf',
      run(value, context) {
        const { account, number } = fromButton(ButtonValue, value);
        return sendOf(account, number, context);
      },
    },
    {
      // One of the menu, for those that have no button.
      actionId: 'invoice',
      run(number, context) {
        const target = menuTarget(context.blockId);
        if (target === undefined || number === undefined) throw outdated('menu', 'invoices');
        return sendOf(target.account, readNumber(number), context);
      },
    },
  ],
});

async function list(account: Account, { workspace }: CommandContext): Promise<Reply> {
  const skipped: SkippedRows[] = [];
  const all = await workspace.accounts.use(account, (client) => listInvoices(client, { skipped }));
  return { kind: 'private', message: withSkipped(invoicesMessage(account.name, all), skipped, all) };
}

async function sendOf(named: string | undefined, number: number, context: CommandContext): Promise<Reply> {
  const { caller, workspace } = context;
  return send(await workspace.accounts.resolve(forInvoices(caller), named), number, context);
}

/** Sends the PDF to the asker alone, or to a channel that gets invoice notices anyway. */
async function send(account: Account, number: number, context: CommandContext): Promise<Reply> {
  const { caller, workspace } = context;
  const { user, channel: here } = caller;
  const { invoice, bytes } = await fetchPdf(account, number, context);
  // A person with the billing role has let everybody in such a channel see the account's invoices.
  const place = here && feedPlace({ channel: here, account: account.name });
  const isForAll = place !== undefined && (await workspace.schedules.get('invoices', place)) !== undefined;
  const channel = isForAll && here !== undefined ? here : await workspace.slack.openDirect(user);
  await workspace.slack.upload({
    filename: `${account.name}-invoice-${number}.pdf`,
    title: invoiceTitle(account.name, number, invoice),
    comment: invoiceComment(account.name, number, user),
    bytes,
    channel,
  });
  const target = `${account.name}/${number}`;
  await workspace.audit.record({ who: user, what: 'invoices', where: channel, target, result: 'done' });
  if (isForAll) return { kind: 'nothing' };
  return { kind: 'private', message: invoiceSentMessage(account.name, number) };
}

/** The record is fetched first: its address is the one to download from, where it is the account's own. */
function fetchPdf(
  account: Account,
  number: number,
  { workspace }: CommandContext,
): Promise<{ invoice: Invoice | undefined; bytes: Buffer }> {
  return workspace.accounts.use(
    account,
    async (client) => {
      const invoice = (await listInvoices(client)).find((one) => one.number === number);
      return { invoice, bytes: await downloadInvoice(client, number, invoice?.download_url) };
    },
    { what: `invoice ${code(number)}`, list: 'invoices' },
  );
}

/** @throws UserError for what is no number */
function readNumber(typed: string): number {
  const digits = /^#?(\d{1,15})$/.exec(typed)?.[1];
  if (digits === undefined) throw new UserError(`${code(typed, 40)} is not an invoice number.`, 'invoices');
  return Number(digits);
}

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
