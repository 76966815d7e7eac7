import { z } from 'zod';
import { countCurrencyDigits, type Decimal, readCurrency, writeDecimal } from '../../core/amount.ts';
import type { KnownBlock, Message } from '../../core/message.ts';
import { code, count, joinFirst, listFirst, mrkdwn, sanitize, truncateMarkup } from '../../core/mrkdwn.ts';
import type { SkippedRows } from '../../service/call.ts';
import {
  type AccountInvoice,
  type InvoiceSum,
  sumByAccount,
  sumTogether,
} from '../../service/invoice-sums.ts';
import { documentDay, readAmounts, readState } from '../../service/invoices.ts';
import { dateName, monthName } from '../blocks/formats.ts';
import { listBlocks, table, withSkipped } from '../blocks/lists.ts';
import { button, buttons, header, LIMITS, notes, say } from '../blocks/make-blocks.ts';
import { drawInvoiceRow, INVOICE_COLUMNS } from './invoice-messages.ts';

/** A question about the invoices of a span of time. */
export const InvoiceAsk = z.object({
  /** Calendar days such as `2026-10-05`, both included; all time if left out. */
  from: z.iso.date().optional(),
  to: z.iso.date().optional(),
  isUnpaid: z.boolean(),
  /** All accounts that the person may see if left out. */
  account: z.string().optional(),
});
export interface InvoiceAsk extends z.infer<typeof InvoiceAsk> {}

export interface FoundInvoices {
  ask: InvoiceAsk;
  /** Newest first. */
  all: readonly AccountInvoice[];
  /** Names of the accounts that answered. */
  accounts: readonly string[];
  /** Accounts whose invoices could not be read, and why; `words` is mrkdwn. */
  failures: ReadonlyArray<{ account: string; words: string }>;
  skipped: readonly SkippedRows[];
}

/** Number of PDFs that are sent at once. */
export const MAX_PDFS = 24;
/** Longer tables would hide the sums. The CSV has all rows. */
const MAX_ROWS = 60;
const MAX_NAMED = 5;
const MAX_ACCOUNTS = 10;

/** Sums for each account and currency, and the invoices. */
export function periodMessage({ ask, all, accounts, failures, skipped }: FoundInvoices): Message {
  const title = nameAsk(ask);
  const failed = listFailures({ failures });
  if (all.length === 0) {
    const names = accounts.map((name) => code(name));
    const where = names.length === 0 ? '' : ` in ${joinFirst(names, MAX_ACCOUNTS)}`;
    return withSkipped(say(`${title}: none${where}.`, ...notes(...failed)), skipped);
  }
  const lines = [...describeSums(all, ask), ...failed];
  const hasSeveral = accounts.length > 1;
  const rows = all
    .slice(0, MAX_ROWS)
    .map(({ account, invoice }) => [...(hasSeveral ? [account] : []), ...drawInvoiceRow(invoice)]);
  const columns = [...(hasSeveral ? ['Account'] : []), ...INVOICE_COLUMNS];
  const message = {
    text: truncateMarkup([title, ...lines].join('\n'), LIMITS.messageText),
    blocks: [
      header(title),
      ...listBlocks(lines),
      ...notes(describeUnread(all)),
      ...table('Invoices', columns, rows),
      ...notes(all.length > MAX_ROWS && `and ${all.length - MAX_ROWS} more, which are in the CSV`),
      ...drawFileButtons(ask, all.length),
    ],
  };
  return withSkipped(message, skipped, all);
}

/** A line for each account that was not read; mrkdwn. */
export function listFailures({ failures }: Pick<FoundInvoices, 'failures'>): string[] {
  return failures.map(({ account, words }) => `${code(account)}: ${words}`);
}

function drawFileButtons(ask: InvoiceAsk, amount: number): KnownBlock[] {
  const pdfs = amount > MAX_PDFS ? `PDFs of the newest ${MAX_PDFS}` : 'PDFs';
  return [
    ...buttons(button('CSV', 'invoices:csv', { value: ask }), button(pdfs, 'invoices:pdfs', { value: ask })),
    ...notes('Files are sent to you alone, by direct message.'),
  ];
}

/** "Unpaid invoices of Q3 2026"; plain text. */
export function nameAsk({ from, to, isUnpaid, account }: InvoiceAsk): string {
  const what = isUnpaid ? 'Unpaid invoices' : 'Invoices';
  const when = from === undefined || to === undefined ? '' : `, ${namePeriod(from, to)}`;
  return `${what}${account === undefined ? '' : ` of ${sanitize(account, 60)}`}${when}`;
}

/** "Q3 2026", "October 2026", "2026", "Oct 5, 2026 to Oct 20, 2026" */
function namePeriod(from: string, to: string): string {
  const [year = '', month = ''] = from.split('-');
  const [lastYear = '', lastMonth = ''] = to.split('-');
  const isWhole = from.endsWith('-01') && to === findMonthEnd(to);
  if (from === to) return dateName(from);
  if (!isWhole) return `${dateName(from)} to ${dateName(to)}`;
  if (year !== lastYear) return `${monthName(from)} to ${monthName(to)}`;
  const months = Number(lastMonth) - Number(month) + 1;
  if (months === 12) return year;
  if (months === 3 && Number(month) % 3 === 1) return `Q${Math.ceil(Number(month) / 3)} ${year}`;
  return months === 1 ? monthName(from) : `${monthName(from)} to ${monthName(to)}`;
}

function findMonthEnd(day: string): string {
  const [year = 0, month = 1] = day.split('-').map(Number);
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
}

/** The sums as facts, in amounts of text. */
export function writeSums({ ask, all, failures }: FoundInvoices) {
  return {
    ...ask,
    sums: sumByAccount(all).map(({ account, currency, amount, total, vat, unpaid, unpaidTotal, unread }) => ({
      account,
      currency,
      invoices: amount,
      total: writeMoney(total, currency),
      tax: writeMoney(vat, currency),
      unpaid,
      unpaid_total: writeMoney(unpaidTotal, currency),
      not_in_the_sums: unread.map(({ invoice }) => invoice.number),
    })),
    not_read: failures.map(({ account }) => account),
  };
}

function describeSums(all: readonly AccountInvoice[], ask: InvoiceAsk): string[] {
  const sums = sumByAccount(all);
  const lines = sums.map((sum) => `${code(sum.account)}: ${describeSum(sum, ask)}`);
  const isShared = ({ currency }: InvoiceSum): boolean =>
    new Set(sums.filter((sum) => sum.currency === currency).map(({ account }) => account)).size > 1;
  const shared = sumTogether(all).filter(isShared);
  return [...lines, ...shared.map((sum) => `*Together*: ${describeSum(sum, ask)}`)];
}

function describeSum(sum: InvoiceSum, { isUnpaid }: InvoiceAsk): string {
  const parts = [
    count(sum.amount, 'invoice'),
    `*${writeMoney(sum.total, sum.currency)}*`,
    `of which tax ${writeMoney(sum.vat, sum.currency)}`,
    !isUnpaid &&
      (sum.unpaid === 0
        ? 'none unpaid'
        : `${sum.unpaid} unpaid (${writeMoney(sum.unpaidTotal, sum.currency)})`),
  ];
  return parts.filter(Boolean).join(', ');
}

function writeMoney(amount: Decimal, currency: string | undefined): string {
  const figure = writeDecimal(amount, countCurrencyDigits(currency));
  return currency === undefined ? figure : `${figure} ${currency}`;
}

function describeUnread(all: readonly AccountInvoice[]): string {
  const unread = sumTogether(all).flatMap((sum) => sum.unread);
  if (unread.length === 0) return '';
  const names = unread.map(({ invoice }) => `${code(invoice.number)} (${mrkdwn(invoice.total, 40)})`);
  return `:warning: These amounts could not be read, and are not in the sums: ${listFirst(names, MAX_NAMED)}`;
}

const CSV_COLUMNS = ['account', 'number', 'kind', 'date', 'total', 'tax', 'currency', 'state', 'paid'];

/** The rows of a CSV file, oldest first. Amounts have a point, and are text as the service gives it if they cannot be read. */
export function drawCsvRows(all: readonly AccountInvoice[]): string[][] {
  const rows = all.toReversed().map(({ account, invoice }) => {
    const { number, kind, created_at, currency, paid_at, total: totalText, vat: vatText } = invoice;
    const { total, vat } = readAmounts(invoice);
    const digits = countCurrencyDigits(readCurrency(currency));
    return [
      account,
      String(number),
      kind,
      documentDay(created_at),
      total === undefined ? totalText : writeDecimal(total, digits),
      vatText === null ? '' : vat === undefined ? vatText : writeDecimal(vat, digits),
      currency.toUpperCase(),
      readState(invoice),
      paid_at === null ? '' : documentDay(paid_at),
    ];
  });
  return [CSV_COLUMNS, ...rows];
}
