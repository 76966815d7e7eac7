import { z } from 'zod';
import { outdated, UserError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import type { Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { type CalendarDay, dayAt } from '../../core/time/zone.ts';
import { type Account, INVOICE_SCHEDULES, makeInvoiceUse } from '../../records/accounts.ts';
import type { Schedule } from '../../records/schedules.ts';
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
} from '../../views/invoices/invoice-messages.ts';
import { InvoiceAsk } from '../../views/invoices/period-message.ts';
import { defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { invoicePicker } from '../option-sources.ts';
import { replyPrivately } from '../replies.ts';
import { replyWithNew } from '../schedules/change-replies.ts';
import { removeHere, scheduleCommands } from '../schedules/schedule-commands.ts';
import { listSchedules } from '../schedules/schedule-replies.ts';
import { resolveAccount } from '../targets/targets.ts';
import { INVOICE_NUMBER, type InvoiceWords, readInvoiceWords } from './invoice-words.ts';
import { readAccount, readInvoices, recordSent, sendCsv, sendPdfs, showPeriod } from './over-period.ts';
import { type Period, readPeriod } from './period-words.ts';

export const invoices = defineCommand({
  name: 'invoices',
  phrase: 'lists and sums invoices, sends PDFs and notices',
  synonyms: ['bill', 'billing', 'bills', 'invoice', 'receipts', 'payments', 'payment', 'receipt'],
  shorthands: {
    unpaid: 'unpaid',
    overdue: 'unpaid',
    owed: 'unpaid',
    total: 'total',
    costs: 'total',
    spend: 'total',
  },
  phrases: {
    '(january|february|march|april|may|june|july|august|september|october|november|december)': 'total $1',
    '(q1|q2|q3|q4) *': 'total $1 $2',
    'how much *': 'total $1',
    'how much do|does|did|have we|i|you|they owe|owed|pay|paid|spend|spent *': 'total $1',
    'how much was|is|were for|in? +': 'total $1',
    'is|was + paid|unpaid|settled': 'total $1',
    'when is|comes|was the|our? next|last|latest invoice|bill *': '',
    'is|are|do|have|has there|we|any? have|any? unpaid|open|overdue|outstanding|due invoices|invoice|bills|bill *':
      'unpaid $1',
    'how much does|do|did|will it|that|this|deckhand|everything|we? cost|costs *': 'total $1',
    'what did|do|does|have|must we|you|it|i cost|pay|paid|owe|spend|spent *': 'total $1',
    'what is|are|was were? overdue|unpaid|due|owed|outstanding|open *': 'unpaid',
    'total|cost|costs|spend|spending|sum|price|paid|expenses *': 'total $1',
    'what|how costs|cost|much *': 'total $1',
    'pdf|pdfs|csv|download|send of? invoice|invoices|bill *': '$1',
    'pdf|csv of|for +': '$1 pdf',
    'unpaid|open|overdue|outstanding|due invoices|bills|invoice *': 'unpaid $1',
    '(last|latest|this|next|previous) invoice|bill|invoices|bills': '',
    'vat|tax|taxes *': 'total $1',
    'do|does|did we|anybody owe *': 'unpaid',
    'did|have|has i|we|you|they|anybody pay|paid *': 'total $1',
    'which|what|any invoices|bills are|is|were? unpaid|open|overdue|due|outstanding *': 'unpaid',
  },
  summary: 'Lists the account’s invoices, sums those of a span of time, or sends you one as a PDF',
  usage: '[number|span of time|unpaid] [csv|pdfs|here]',
  examples: ['invoices', 'invoices 1001', 'invoices q3', 'invoices last month', 'invoices unpaid'],
  role: 'billing',
  target: 'account',
  keyUse: makeInvoiceUse,
  rest: true,
  args: z.object({ words: z.string().optional() }),
  async handle({ words: text }, context, { account }) {
    if (text === undefined) return showInvoices(account, context);
    const names = (await context.workspace.accounts.list(makeInvoiceUse(context.invocation))).map(
      ({ name }) => name,
    );
    const words = await readInvoiceWords(text, names, () => readToday(context));
    return answer(words, context, account);
  },
  optionSources: [invoicePicker],
  actions: [
    defineButton(z.object({ account: z.string(), number: z.int().nonnegative() }), {
      actionId: 'invoices:pdf',
      handle: ({ account, number }, context) => resolveAndSend(account, number, context),
    }),
    defineButton(InvoiceAsk, { actionId: 'invoices:csv', once: true, handle: sendCsv }),
    defineButton(InvoiceAsk, { actionId: 'invoices:pdfs', once: true, durable: true, handle: sendPdfs }),
    {
      // The menu of invoices without a button.
      actionId: 'invoice',
      handle(number, context) {
        const target = menuTarget(context.blockId);
        if (target === undefined || number === undefined) throw outdated('menu', 'invoices');
        return resolveAndSend(target.account, readNumber(number), context);
      },
    },
  ],
});

async function readToday({ invocation, workspace }: CommandContext): Promise<CalendarDay> {
  return dayAt(await workspace.home.zone(invocation.user), workspace.clock.now());
}

/** A span of time in words, for the person's zone. @throws UserError for other words */
export async function readInvoicePeriod(text: string, context: CommandContext): Promise<Period> {
  const period = readPeriod(text, await readToday(context));
  if (period === undefined) throw new UserError(`${code(text, 40)} is not a span of time.`, 'invoices');
  return period;
}

async function answer(words: InvoiceWords, context: CommandContext, account: Account): Promise<Reply> {
  const { number, period, isUnpaid, isHere, file } = words;
  const ask = {
    ...period,
    isUnpaid,
    ...defined({ account: words.account ?? context.account?.toLowerCase() }),
  };
  if (number !== undefined) {
    const owner = await findOwner(number, ask, context);
    if (owner !== undefined || period === undefined)
      return sendPdf(owner ?? account, number, context, isHere);
  }
  if (file === 'csv') return sendCsv(ask, context);
  return file === 'pdfs' ? sendPdfs(ask, context) : showPeriod(ask, context);
}

/** The account that has an invoice of this number: the channel's first, then the others that the person may see. */
async function findOwner(
  number: number,
  { account: name }: Pick<InvoiceAsk, 'account'>,
  context: CommandContext,
): Promise<Account | undefined> {
  const { invocation, workspace } = context;
  const use = makeInvoiceUse(invocation);
  const own = await resolveAccount({ ...context, account: name }, use);
  const { invoices: first, error } = await readAccount(own, context);
  if (first.some((invoice) => invoice.number === number)) return own;
  // The person is told why the account does not answer.
  if (name !== undefined) return error && own;
  const { all } = await readInvoices({ isUnpaid: false }, context);
  const owner = all.find(({ invoice }) => invoice.number === number)?.account;
  return owner === undefined ? undefined : workspace.accounts.resolve(use, owner);
}

async function showInvoices(account: Account, { workspace }: CommandContext): Promise<Reply> {
  const skipped: SkippedRows[] = [];
  const all = await workspace.accounts.use(account, (client) => listInvoices(client, { skipped }));
  return replyPrivately(withSkipped(invoicesMessage(account.name, all), skipped, all));
}

async function resolveAndSend(
  accountName: string | undefined,
  number: number,
  context: CommandContext,
): Promise<Reply> {
  const { invocation, workspace } = context;
  return sendPdf(await workspace.accounts.resolve(makeInvoiceUse(invocation), accountName), number, context);
}

/** Sends the PDF to the person alone. @param isHere true to post it in the channel, because the person said so */
async function sendPdf(
  account: Account,
  number: number,
  context: CommandContext,
  isHere = false,
): Promise<Reply> {
  const { invocation, workspace } = context;
  const { user, channel: here } = invocation;
  const { invoice, bytes } = await fetchPdf(account, number, context);
  const isPosted = isHere && here !== undefined;
  const channel = isPosted ? here : await workspace.slack.openDirect(user);
  await workspace.slack.upload({
    filename: `${account.name}-invoice-${number}.pdf`,
    title: invoiceTitle(account.name, number, invoice),
    comment: invoiceComment(account.name, number, user),
    bytes,
    channel,
  });
  await recordSent(context, { what: 'invoices', where: channel, target: `${account.name}/${number}` });
  if (isPosted) return { kind: 'nothing' };
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
  const digits = INVOICE_NUMBER.exec(text)?.[1];
  if (digits === undefined) throw new UserError(`${code(text, 40)} is not an invoice number.`, 'invoices');
  return Number(digits);
}

const { pause, resume, remove } = scheduleCommands('invoices');

export const invoicesNotify = defineCommand({
  name: 'invoices notify',
  phrases: {
    'invoice|invoices|bill notification|notifications|notices|alerts|reminders *': '',
    'invoices|bills by|as mail|email|e-mail *': '',
  },
  phrase: 'lists and sums invoices, sends PDFs and notices',
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
  submissions: remove.submissions ?? [],
  async handle({ what }, context) {
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
  if (existing?.state.kind === 'paused') return resume.handle({ nameOrId: existing.id }, context, {});
  if (existing !== undefined && existing.requestId !== requestId) return showState(context);
  const { invoices } = await workspace.accounts.use(account, (client) => INVOICES.fetch(client));
  const knownInvoices = knownFrom(invoices, workspace.clock.now());
  const requested = { channel, account: account.name, requestId, createdBy, knownInvoices };
  return replyWithNew(context, await addNotices(workspace, requested), 'invoices notify');
}

async function showState(context: CommandContext, isMeant?: IsMeant): Promise<Reply> {
  return replyPrivately(await listSchedules('invoices', context, 'here', { isMeant }));
}
