import { UserError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import { code } from '../../core/mrkdwn.ts';
import type { CalendarDay } from '../../core/time/zone.ts';
import { type Period, readPeriod } from './period-words.ts';

/** The words after `invoices`. */
export interface InvoiceWords {
  /** Number of an invoice. It may also be the year of `period`. */
  number?: number;
  period?: Period;
  isUnpaid: boolean;
  /** True to post the PDF in the channel. */
  isHere: boolean;
  file?: 'csv' | 'pdfs';
  account?: string;
}

const UNPAID: ReadonlySet<string> = new Set('unpaid open overdue due outstanding owed'.split(' '));
const PDFS: ReadonlySet<string> = new Set('pdf pdfs download'.split(' '));
/** Words of a question that change nothing. */
const QUIET: ReadonlySet<string> = new Set(
  'a account accounts all anywhere are bill bills by cost costs did each everything everywhere for how invoice invoices is it list me much my of our paid pay per please receipt receipts send show still sum sums tax taxes the total totals vat we were what which with'.split(
    ' ',
  ),
);
/** "1001", "#1001" */
export const INVOICE_NUMBER = /^#?(\d{1,15})$/;

/**
 * Reads the words after `invoices`: a number, a span of time, `unpaid`, `csv`, `pdfs`, `here`, or the name of an account.
 * @param today the person's calendar day, read only for a span of time
 * @throws UserError for other words
 */
export async function readInvoiceWords(
  text: string,
  accounts: readonly string[],
  today: () => Promise<CalendarDay>,
): Promise<InvoiceWords> {
  const words = text.toLowerCase().split(' ');
  const isFile = (word: string): boolean => word === 'csv' || PDFS.has(word);
  const account = words.find((word) => accounts.includes(word));
  const others = words.filter(
    (word) => !UNPAID.has(word) && !QUIET.has(word) && !isFile(word) && word !== 'here' && word !== account,
  );
  const rest = others.join(' ');
  const digits = INVOICE_NUMBER.exec(rest)?.[1];
  const file: InvoiceWords['file'] = words.includes('csv') ? 'csv' : words.some(isFile) ? 'pdfs' : undefined;
  const choices = {
    isUnpaid: words.some((word) => UNPAID.has(word)),
    isHere: words.includes('here'),
    ...defined({ account, file }),
  };
  if (digits !== undefined && !choices.isUnpaid) {
    const period = /^(?:19|20)\d\d$/.test(digits) ? readPeriod(digits, await today()) : undefined;
    return { ...choices, number: Number(digits), ...defined({ period }) };
  }
  const period = rest === '' ? undefined : readPeriod(rest, await today());
  if (rest !== '' && period === undefined)
    throw new UserError(
      `${code(rest, 40)} is not an invoice number or a span of time, such as ${code('q3')}, ${code('october')} or ${code('last month')}.`,
      'invoices',
    );
  return { ...choices, ...defined({ period }) };
}
