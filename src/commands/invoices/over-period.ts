import { writeCsv } from '../../core/csv.ts';
import { AccountFailure, AccountKeyUnreadable } from '../../core/errors.ts';
import type { Reply } from '../../core/message.ts';
import { code, count, listFirst } from '../../core/mrkdwn.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import { countPossibleDuplicate } from '../../observability/metrics.ts';
import { type Account, makeInvoiceUse } from '../../records/accounts.ts';
import type { SkippedRows } from '../../service/call.ts';
import type { AccountInvoice } from '../../service/invoice-sums.ts';
import {
  documentDay,
  downloadInvoice,
  type Invoice,
  isUnpaid,
  listInvoices,
} from '../../service/invoices.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { inPages, withSkipped } from '../../views/blocks/lists.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { invoiceTitle } from '../../views/invoices/invoice-messages.ts';
import {
  drawCsvRows,
  type FoundInvoices,
  type InvoiceAsk,
  listFailures,
  MAX_PDFS,
  nameAsk,
  periodMessage,
} from '../../views/invoices/period-message.ts';
import type { CommandContext } from '../context.ts';
import { replyPrivately } from '../replies.ts';

/** Number of accounts that are read at once. */
const AT_ONCE = 8;

interface AccountRead {
  account: Account;
  invoices: Invoice[];
  skipped: SkippedRows[];
  /** Set if the invoices could not be read. */
  error?: AccountFailure | AccountKeyUnreadable;
}

/** The invoices of all accounts that the person may see. @throws AccountFailure if no account answers */
export async function readInvoices(ask: InvoiceAsk, context: CommandContext): Promise<FoundInvoices> {
  const { accounts } = context.workspace;
  const use = makeInvoiceUse(context.invocation);
  const requested =
    ask.account === undefined ? await accounts.list(use) : [await accounts.resolve(use, ask.account)];
  const reads: AccountRead[] = [];
  for (const some of inPages(requested, { most: AT_ONCE }))
    reads.push(...(await Promise.all(some.map((account) => readAccount(account, context)))));
  const failed = reads.flatMap(({ account, error }) => (error === undefined ? [] : [{ account, error }]));
  const [first] = failed;
  if (first !== undefined && failed.length === reads.length) throw first.error;
  const all = reads.flatMap(({ account, invoices }) =>
    invoices
      .filter((invoice) => isMeant(invoice, ask))
      .map((invoice) => ({ account: account.name, invoice })),
  );
  return {
    ask,
    all: all.toSorted((one, other) => compareAge(other.invoice, one.invoice)),
    accounts: reads.filter(({ error }) => error === undefined).map(({ account }) => account.name),
    failures: failed.map(({ account, error }) => ({
      account: account.name,
      words: failureWords(context.explain(error, { account: account.name })),
    })),
    skipped: reads.flatMap(({ skipped }) => skipped),
  };
}

/** The invoices of one account, or the reason why they cannot be read. */
export async function readAccount(account: Account, { workspace }: CommandContext): Promise<AccountRead> {
  const skipped: SkippedRows[] = [];
  try {
    const invoices = await workspace.accounts.use(account, (client) => listInvoices(client, { skipped }));
    return { account, invoices, skipped };
  } catch (error) {
    if (!(error instanceof AccountFailure) && !(error instanceof AccountKeyUnreadable)) throw error;
    return { account, invoices: [], skipped: [], error };
  }
}

function isMeant(invoice: Invoice, { from, to, isUnpaid: onlyUnpaid }: InvoiceAsk): boolean {
  const day = documentDay(invoice.created_at);
  const isInPeriod = (from === undefined || day >= from) && (to === undefined || day <= to);
  return isInPeriod && (!onlyUnpaid || isUnpaid(invoice));
}

function compareAge(one: Invoice, other: Invoice): number {
  return Date.parse(one.created_at) - Date.parse(other.created_at) || one.number - other.number;
}

/** Shows the sums to the person. */
export async function showPeriod(ask: InvoiceAsk, context: CommandContext): Promise<Reply> {
  return replyPrivately(periodMessage(await readInvoices(ask, context)));
}

/** Sends the person a CSV file by direct message. */
export async function sendCsv(ask: InvoiceAsk, context: CommandContext): Promise<Reply> {
  const { invocation, workspace } = context;
  const { user } = invocation;
  const read = await readInvoices(ask, context);
  if (read.all.length === 0) return replyPrivately(periodMessage(read));
  const channel = await workspace.slack.openDirect(user);
  const title = nameAsk(ask);
  await workspace.slack.upload({
    filename: `${nameFile(ask)}.csv`,
    title,
    comment: `${title}, for <@${user}>`,
    bytes: Buffer.from(writeCsv(drawCsvRows(read.all))),
    channel,
  });
  const sent = `:page_facing_up: The CSV of ${count(read.all.length, 'invoice')} was sent to you as a direct message.`;
  await recordSent(context, { what: 'invoices csv', where: channel, target: title });
  return replyPrivately(withSkipped(say([sent, ...listFailures(read)].join('\n')), read.skipped));
}

/** Who got which invoices is in the audit log, although nothing changed. */
export function recordSent(
  { invocation, workspace }: CommandContext,
  sent: { what: string; where: string; target: string },
): Promise<void> {
  return workspace.audit.record({ requestedBy: invocation.user, ...sent, result: 'done' });
}

/** "unpaid-invoices-acme-2026-07-01-to-2026-09-30" */
function nameFile({ from, to, isUnpaid: onlyUnpaid, account }: InvoiceAsk): string {
  const parts = [onlyUnpaid && 'unpaid', 'invoices', account, from && to && `${from}-to-${to}`];
  return parts.filter(Boolean).join('-');
}

/**
 * Sends the person the newest PDFs by direct message, one at a time. A repeat after a kill leaves out those that were sent. One that
 * may have arrived is sent again, and counted.
 */
export async function sendPdfs(ask: InvoiceAsk, context: CommandContext): Promise<Reply> {
  const { invocation, workspace } = context;
  const read = await readInvoices(ask, context);
  if (read.all.length === 0) return replyPrivately(periodMessage(read));
  const channel = await workspace.slack.openDirect(invocation.user);
  const failed: string[] = [];
  const chosen = read.all.slice(0, MAX_PDFS);
  for (const one of chosen) {
    const about = [invocation.requestId, one.account, one.invoice.number];
    if (await workspace.wasDone(['invoice sent', ...about])) continue;
    const isRepeat = !(await workspace.once(['invoice begun', ...about], DAY_MS));
    if (isRepeat) countPossibleDuplicate(workspace, 'post', { channel, delivery: namePdf(one) });
    if (await sendOne(one, channel, context)) await workspace.once(['invoice sent', ...about], DAY_MS);
    else failed.push(`${code(one.account)} ${code(one.invoice.number)}`);
  }
  const sent = chosen.length - failed.length;
  const rest = read.all.length - chosen.length;
  const lines = [
    `:page_facing_up: ${count(sent, 'PDF')} ${sent === 1 ? 'was' : 'were'} sent to you by direct message.`,
    failed.length > 0 && `Could not be fetched: ${listFirst(failed, MAX_PDFS)}.`,
    rest > 0 &&
      `${count(rest, 'older PDF')} ${rest === 1 ? 'was' : 'were'} not sent. Ask for a shorter time.`,
    ...listFailures(read),
  ];
  await recordSent(context, { what: 'invoices pdfs', where: channel, target: nameAsk(ask) });
  return replyPrivately(withSkipped(say(lines.filter(Boolean).join('\n')), read.skipped));
}

function namePdf({ account, invoice }: AccountInvoice): string {
  return `${account}-invoice-${invoice.number}.pdf`;
}

/** Returns false if the service does not give the PDF. @throws SlackFailure */
async function sendOne(one: AccountInvoice, channel: string, context: CommandContext): Promise<boolean> {
  const { account: name, invoice } = one;
  const { invocation, workspace } = context;
  const { number, download_url: url } = invoice;
  try {
    const account = await workspace.accounts.resolve(makeInvoiceUse(invocation), name);
    const bytes = await workspace.accounts.use(account, (client) => downloadInvoice(client, number, url));
    const title = invoiceTitle(name, number, invoice);
    await workspace.slack.upload({ filename: namePdf(one), title, bytes, channel });
    return true;
  } catch (error) {
    if (!(error instanceof AccountFailure)) throw error;
    context.explain(error, { account: name });
    return false;
  }
}
