import { z } from 'zod';
import { type Decimal, isNegative, isZero, makeNegative, parseAmount, ZERO } from '../core/amount.ts';
import type { HttpAnswer } from '../core/http.ts';
import { type ListOptions, readHeader, requestRows, unexpected } from './call.ts';
import type { AccountClient } from './client.ts';
import {
  listUnder,
  NullableText,
  NullableTimestamp,
  Numeric,
  OptionalText,
  orElse,
  Timestamp,
  YesOrNo,
} from './fields.ts';
import { refusedAddress } from './transport.ts';

const Amount = z.union([z.string(), z.number()]).transform(String);

/** API 2.13 (docs/service-api.md). Amounts are decimal text as the service gives it. */
export const Invoice = z.object({
  number: Numeric.pipe(z.int().nonnegative()),
  kind: OptionalText,
  /** Lower-case code. */
  currency: OptionalText,
  total: Amount,
  vat: orElse(Amount, null),
  paid: YesOrNo,
  paid_at: NullableTimestamp,
  created_at: Timestamp,
  /** A foreign address. Only `downloadInvoice` may follow it. */
  download_url: NullableText,
});
export interface Invoice extends z.infer<typeof Invoice> {}

/** Kinds that lessen what is owed, without signs between their words. */
const CREDITS: ReadonlySet<string> = new Set('credit creditmemo creditnote refund'.split(' '));

/** True for a document that lessens what is owed: its kind says so, or its total is below zero. */
function isCreditNote({ kind, total, currency }: Invoice): boolean {
  if (CREDITS.has(kind.toLowerCase().replace(/[^a-z]/g, ''))) return true;
  const amount = parseAmount(total, currency);
  return amount !== undefined && isNegative(amount);
}

/** Total and tax of an invoice, below zero for a credit note; undefined if they cannot be read. */
export function readAmounts(invoice: Invoice): { total: Decimal | undefined; vat: Decimal | undefined } {
  const { currency, total, vat } = invoice;
  const read = (text: string): Decimal | undefined => {
    const amount = parseAmount(text, currency);
    return amount && isCreditNote(invoice) ? makeNegative(amount) : amount;
  };
  return { total: read(total), vat: vat === null ? ZERO : read(vat) };
}

export type InvoiceState = 'paid' | 'unpaid' | 'credit note' | 'nothing to pay';

/** Nobody pays a credit note, or an invoice of 0.00. */
export function readState(invoice: Invoice): InvoiceState {
  if (isCreditNote(invoice)) return 'credit note';
  if (invoice.paid) return 'paid';
  const amount = parseAmount(invoice.total, invoice.currency);
  return amount !== undefined && isZero(amount) ? 'nothing to pay' : 'unpaid';
}

export function isUnpaid(invoice: Invoice): boolean {
  return readState(invoice) === 'unpaid';
}

/** Returns the calendar day of a document, by the timestamp's own offset: the same for every reader. */
export function documentDay(timestamp: string): string {
  return timestamp.slice(0, 10);
}

const PDF_MAGIC = Buffer.from('%PDF-');

/** Lists the finalised invoices, most recent first. Rejects as `forbidden` without a billing manager's key. API 4.10. */
export function listInvoices(account: AccountClient, options?: ListOptions): Promise<Invoice[]> {
  const call = { operation: 'listInvoices', path: ['account', 'invoices'] };
  return requestRows(account, listUnder('invoices'), Invoice, call, options);
}

/**
 * Downloads an invoice's PDF. API 4.10 and 7.4. The request carries the key, so an address on another host than the
 * account's rejects as `unexpected`. So does an answer that is not a PDF. An unknown number rejects as `record_not_found`.
 * @param downloadUrl address in the record, if it has one
 */
export async function downloadInvoice(
  account: AccountClient,
  number: number,
  downloadUrl?: string | null,
): Promise<Buffer> {
  return account.send({
    operation: 'downloadInvoice',
    method: 'GET',
    path: downloadUrl ? parseDownloadUrl(downloadUrl) : ['account', 'invoices', `${number}.pdf`],
    scope: 'account',
    pdf: true,
    read: readPdf,
  });
}

function parseDownloadUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null) return url;
  throw refusedAddress('downloadInvoice', 'no_address', 'the download address is not a full address');
}

function readPdf(answer: HttpAnswer, operation: string): Buffer {
  const [type] = (readHeader(answer, 'content-type') ?? '').split(';', 1);
  const isPdf = type?.trim().toLowerCase() === 'application/pdf';
  if (isPdf && answer.body.subarray(0, PDF_MAGIC.length).equals(PDF_MAGIC)) return answer.body;
  throw unexpected(operation, answer.status, 'the answer is not a PDF', { fault: 'not_pdf' });
}
