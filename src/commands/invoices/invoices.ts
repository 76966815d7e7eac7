import { z } from 'zod';
import { outdated, UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { type Account, INVOICE_SCHEDULES, makeInvoiceUse } from '../../records/accounts.ts';
import { feedPlace, type Schedule } from '../../records/schedules.ts';
import { addNotices, INVOICES, knownFrom } from '../../scheduler/invoices/notices.ts';
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
import { defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { invoicePicker } from '../option-sources.ts';
import { replyPrivately } from '../replies.ts';
import { removeHere, scheduleCommands } from '../schedules/lifecycle.ts';
import { listSchedules, replyWithNew } from '../schedules/schedules.ts';
import { resolveAccount } from '../targets/targets.ts';

export const invoices = defineCommand({
  name: 'invoices',
  phrase: 'lists invoices, sends PDFs, posts new ones',
  synonyms: ['bill', 'billing', 'bills', 'invoice'],
  summary: 'Lists the account’s invoices, or sends you one as a PDF',
  usage: '[number]',
  examples: ['invoices', 'invoices 1001'],
  role: 'billing',
  target: 'account',
  keyUse: makeInvoiceUse,
  args: z.object({ number: z.string().optional() }),
  run: ({ number }, context, { account }) =>
    number === undefined ? showInvoices(account, context) : sendPdf(account, readNumber(number), context),
  optionSources: [invoicePicker],
  actions: [
    defineButton(z.object({ account: z.string(), number: z.int().nonnegative() }), {
      actionId: 'invoices:pdf',
      run: ({ account, number }, context) => resolveAndSend(account, number, context),
    }),
    {
      // The menu of invoices without a button.
      actionId: 'invoice',
      run(number, context) {
        const target = menuTarget(context.blockId);
        if (target === undefined || number === undefined) throw outdated('menu', 'invoices');
        return resolveAndSend(target.account, readNumber(number), context);
      },
    },
  ],
});

async function showInvoices(account: Account, { workspace }: CommandContext): Promise<Reply> {
  const skipped: SkippedRows[] = [];
  const all = await workspace.accounts.use(account, (client) => listInvoices(client, { skipped }));
  return replyPrivately(withSkipped(invoicesMessage(account.name, all), skipped, all));
}

async function resolveAndSend(
  numberText: string | undefined,
  number: number,
  context: CommandContext,
): Promise<Reply> {
  const { invocation, workspace } = context;
  return sendPdf(await workspace.accounts.resolve(makeInvoiceUse(invocation), numberText), number, context);
}

/** Sends the PDF to the person alone, or to a channel that gets invoice notices anyway. */
async function sendPdf(account: Account, number: number, context: CommandContext): Promise<Reply> {
  const { invocation, workspace } = context;
  const { user, channel: here } = invocation;
  const { invoice, bytes } = await fetchPdf(account, number, context);
  // Somebody with the billing role lets everybody in such a channel see the account's invoices.
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
  await workspace.audit.record({
    requestedBy: user,
    what: 'invoices',
    where: channel,
    target,
    result: 'done',
  });
  if (isForAll) return { kind: 'nothing' };
  return replyPrivately(invoiceSentMessage(account.name, number));
}

/** Fetches the record first, for the address of its PDF. */
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

/** @throws UserError */
function readNumber(text: string): number {
  const digits = /^#?(\d{1,15})$/.exec(text)?.[1];
  if (digits === undefined) throw new UserError(`${code(text, 40)} is not an invoice number.`, 'invoices');
  return Number(digits);
}

const { pause, resume, remove } = scheduleCommands('invoices');

export const invoicesNotify = defineCommand({
  name: 'invoices notify',
  phrase: 'lists invoices, sends PDFs, posts new ones',
  shownAs: 'invoices',
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
    if (what === 'here' || what === 'on') return beginNotices(context);
    const isMeant = await createFilter(context);
    return what === undefined ? showState(context, isMeant) : removeHere('invoices', context, isMeant);
  },
});

type IsMeant = (schedule: Schedule) => boolean;

/**
 * Filters by the account after `--account`, which may be disconnected by now. Without one, every schedule passes.
 * @throws UserError if the channel has no notices of the account, and it is not connected
 */
async function createFilter(context: CommandContext): Promise<IsMeant> {
  const { invocation, workspace } = context;
  const accountName = context.account?.toLowerCase();
  const isMeant: IsMeant = ({ account }) => accountName === undefined || account === accountName;
  const all = await workspace.schedules.list('invoices');
  const hasNotices = all.some((one) => one.channel === invocation.channel && isMeant(one));
  if (accountName !== undefined && !hasNotices) await resolveAccount(context);
  return isMeant;
}

/** Reads the invoices now, to answer a refusal, and to post only later changes. */
async function beginNotices(context: CommandContext): Promise<Reply> {
  const { invocation, workspace } = context;
  const { requestId, user: createdBy } = invocation;
  const channel = expectChannel(context);
  const account = await resolveAccount(context, INVOICE_SCHEDULES);
  const all = await workspace.schedules.list('invoices');
  const existing = all.find((one) => one.channel === channel && one.account === account.name);
  if (existing?.state.kind === 'paused') return resume.run({ nameOrId: existing.id }, context, {});
  if (existing !== undefined && existing.requestId !== requestId) return showState(context);
  const { invoices } = await workspace.accounts.use(account, (client) => INVOICES.fetch(client));
  const knownInvoices = knownFrom(invoices, workspace.clock.now());
  const requested = { channel, account: account.name, requestId, createdBy, knownInvoices };
  return replyWithNew(context, await addNotices(workspace, requested), 'invoices notify');
}

async function showState(context: CommandContext, isMeant?: IsMeant): Promise<Reply> {
  return replyPrivately(await listSchedules('invoices', context, 'here', { isMeant }));
}
