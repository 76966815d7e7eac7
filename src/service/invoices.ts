import { z } from 'zod';
import { headerOf, jsonOf, unexpected } from './answer.ts';
import type { CallOptions } from './call.ts';
import type { AccountClient } from './client.ts';
import { ServiceError } from './errors.ts';
import { NullableText, NullableTimestamp, Numeric, OptionalText, Timestamp } from './shapes.ts';
import type { Answer } from './transport.ts';

const Amount = z.union([z.string(), z.number()]).transform(String);

/** Spec 2.13. Amounts are decimal text, as given. */
export const Invoice = z.object({
  number: Numeric.pipe(z.int().nonnegative()),
  kind: OptionalText,
  /** Lower-case code. */
  currency: OptionalText,
  total: Amount,
  vat: Amount.nullish().transform((vat) => vat ?? null),
  paid: z.boolean(),
  paid_at: NullableTimestamp,
  created_at: Timestamp,
  /** Foreign: only `downloadInvoice` may follow it. */
  download_url: NullableText,
});
export type Invoice = z.infer<typeof Invoice>;

const PDF_MAGIC = Buffer.from('%PDF-');

/** The finalised invoices, most recent first. `forbidden` unless a billing manager asks. Spec 4.10. */
export function listInvoices(account: AccountClient, options?: CallOptions): Promise<Invoice[]> {
  return account.send(
    {
      operation: 'listInvoices',
      method: 'GET',
      path: ['account', 'invoices'],
      scope: 'account',
      read: jsonOf(z.array(Invoice)),
    },
    options,
  );
}

/**
 * An invoice's PDF, from `downloadUrl` if the record had one. The key travels with the request, so an
 * address on any other host than the account's is refused as `unexpected` before it is sent, and so is an
 * answer that is no PDF. `record_not_found` for an unknown number. Spec 4.10 and 7.4.
 */
export async function downloadInvoice(
  account: AccountClient,
  number: number,
  downloadUrl?: string | null,
  options?: CallOptions,
): Promise<Buffer> {
  return account.send(
    {
      operation: 'downloadInvoice',
      method: 'GET',
      path: downloadUrl ? addressIn(downloadUrl) : ['account', 'invoices', `${number}.pdf`],
      scope: 'record',
      pdf: true,
      read: readPdf,
    },
    options,
  );
}

function addressIn(text: string): URL {
  const url = URL.parse(text);
  if (url !== null) return url;
  const detail = 'the download address is not an address';
  const fault = 'foreign_address';
  throw new ServiceError('unexpected', 'downloadInvoice', { detail, fault, certainlyNotDone: true });
}

function readPdf(answer: Answer, operation: string): Buffer {
  const [type] = (headerOf(answer, 'content-type') ?? '').split(';', 1);
  const isPdf = type?.trim().toLowerCase() === 'application/pdf';
  if (isPdf && answer.body.subarray(0, PDF_MAGIC.length).equals(PDF_MAGIC)) return answer.body;
  throw unexpected(operation, answer.status, 'the answer is not a PDF', { fault: 'not_pdf' });
}
