import type { Button } from '@slack/types';
import type { Message } from '../../core/message.ts';
import {
  capitalised,
  code,
  count,
  dateTime,
  joinLinesWithin,
  listFirst,
  mrkdwn,
  sanitize,
  truncateMarkup,
} from '../../core/mrkdwn.ts';
import type { InvoiceNotices } from '../../records/schedules.ts';
import type { SkippedRows } from '../../service/call.ts';
import { documentDay, type Invoice, isUnpaid, readState } from '../../service/invoices.ts';
import { dateName, money } from '../blocks/formats.ts';
import { menu } from '../blocks/inputs.ts';
import { inPages, table, UNREAD, withSkipped } from '../blocks/lists.ts';
import { button, buttons, context, header, LIMITS, say, section } from '../blocks/make-blocks.ts';
import { polledLines, type ShownPolling } from '../schedules/schedule.ts';
import { resumeCommand } from '../schedules/words.ts';

const MAX_BUTTONS = 10;
const RECENT = 3;
const MAX_NAMED = 10;

/** A table of the account's invoices, with the unpaid ones named first and buttons for the PDFs of recent ones. */
export function invoicesMessage(account: string, invoices: readonly Invoice[]): Message {
  if (invoices.length === 0) return say(`The account ${code(account)} has no invoices yet.`);
  const unpaid = invoices.filter(isUnpaid);
  const amount = `${count(invoices.length, 'invoice')} of`;
  const state = describePayment(invoices.length, unpaid.length);
  const rows = invoices.map(drawInvoiceRow);
  return {
    text: `${amount} ${code(account)}, ${state}${unpaidNames(unpaid)}`,
    blocks: [
      header(`${amount} ${sanitize(account, 60)}`),
      section(`${capitalised(state)}${unpaidNames(unpaid)}`),
      ...table('Invoices', INVOICE_COLUMNS, rows),
      ...buttons(...wanted(invoices).map((invoice) => pdfButton(account, invoice))),
      ...(wanted(invoices).length < invoices.length
        ? menu({ actionId: 'invoice', placeholder: 'Send me another', target: { account } })
        : []),
      context('A PDF is sent to you alone, by direct message.'),
    ],
  };
}

/** "all paid", "2 unpaid", "both unpaid" */
function describePayment(all: number, unpaid: number): string {
  if (unpaid > 0 && unpaid < all) return `${unpaid} unpaid`;
  const state = unpaid === 0 ? 'paid' : 'unpaid';
  if (all === 1) return state;
  return `${all === 2 ? 'both' : 'all'} ${state}`;
}

export function invoiceSentMessage(account: string, number: number): Message {
  return say(
    `:page_facing_up: Invoice ${code(number)} of ${code(account)} was sent to you as a direct message.`,
  );
}

/** The text above the file. */
export function invoiceComment(account: string, number: number, user: string): string {
  return `Invoice ${code(number)} of ${code(account)}, for <@${user}>`;
}

/** "Invoice 1001 of acme, 49.00 USD, unpaid"; plain text. */
export function invoiceTitle(account: string, number: number, invoice: Invoice | undefined): string {
  const total = invoice === undefined ? [] : [money(invoice.total, invoice.currency), readState(invoice)];
  return sanitize([`Invoice ${number} of ${account}`, ...total].join(', '), 150);
}

export const INVOICE_COLUMNS = [
  { title: 'Number', align: 'right' },
  'Date',
  'Kind',
  { title: 'Total', align: 'right' },
  { title: 'VAT', align: 'right' },
  'Paid',
] as const;

export function drawInvoiceRow(invoice: Invoice): string[] {
  return [
    String(invoice.number),
    dateName(documentDay(invoice.created_at)),
    sanitize(invoice.kind.replaceAll('_', ' '), 40),
    money(invoice.total, invoice.currency),
    invoice.vat === null ? '' : money(invoice.vat, invoice.currency),
    paidWords(invoice),
  ];
}

function paidWords(invoice: Invoice): string {
  const state = readState(invoice);
  if (state !== 'paid') return state === 'unpaid' ? '⚠️ unpaid' : state;
  return invoice.paid_at === null ? 'paid' : dateName(documentDay(invoice.paid_at));
}

function unpaidNames(unpaid: readonly Invoice[]): string {
  if (unpaid.length === 0) return '';
  const names = unpaid.map(
    ({ number, total, currency }) => `${code(number)} (${mrkdwn(money(total, currency))})`,
  );
  return `: ${listFirst(names, MAX_NAMED)}`;
}

/** Unpaid and latest invoices, in the order of the table. */
function wanted(invoices: readonly Invoice[]): Invoice[] {
  return invoices.filter((invoice, at) => at < RECENT || isUnpaid(invoice)).slice(0, MAX_BUTTONS);
}

function pdfButton(account: string, invoice: Invoice): Button {
  const { number } = invoice;
  const label = `PDF of ${number}${isUnpaid(invoice) ? ' (unpaid)' : ''}`;
  return button(label, `invoices:pdf#${number}`, { value: { account, number } });
}

/** A notice about an invoice; `days` since its date, or since it was unpaid again. */
export type InvoiceNews =
  | { kind: 'new' | 'paid' | 'unpaid again'; invoice: Invoice }
  | { kind: 'unpaid'; invoice: Invoice; days: number };

/** Slack refuses messages whose blocks hold much over 13,000 characters. */
const MAX_AT_ONCE = 12;

/**
 * One message for all news. What does not fit goes to its thread.
 * @param skipped unreadable rows that the channel has not been told about
 */
export function invoiceNotices(
  account: string,
  news: readonly InvoiceNews[],
  skipped: readonly SkippedRows[] = [],
): { root: Message; replies: Message[] } {
  const [first = [], ...rest] = inPages(news, { most: MAX_AT_ONCE });
  const root = noticeMessage(account, first);
  const replies = rest.map((page) => noticeMessage(account, page));
  return { root: withSkipped(root, skipped), replies };
}

/** "2 invoice notices", for lists. */
export function noticeCount(news: readonly InvoiceNews[]): string {
  return news.length === 0 ? UNREAD : count(news.length, 'invoice notice');
}

function noticeMessage(account: string, news: readonly InvoiceNews[]): Message {
  if (news.length === 0) return say(`Invoices of ${code(account)} that could not be read`);
  const lines = news.map((one) => `${noticeText(account, one)}. ${describeDetails(one)}`);
  return {
    text: truncateMarkup(lines.join('\n'), LIMITS.messageText),
    blocks: news.map((one) =>
      section(`${noticeText(account, one)}\n${describeDetails(one)}`, pdfButton(account, one.invoice)),
    ),
  };
}

/** "New invoice `1001` of `acme`: 49.00 EUR, unpaid" */
function noticeText(account: string, news: InvoiceNews): string {
  const { invoice } = news;
  const state = readState(invoice);
  const noun = state === 'credit note' ? state : 'invoice';
  const which = `${noun} ${code(invoice.number)} of ${code(account)}`;
  const total = mrkdwn(money(invoice.total, invoice.currency));
  switch (news.kind) {
    case 'new':
      return `:page_facing_up: New ${which}: ${total}${state === noun ? '' : `, ${state}`}`;
    case 'unpaid again':
      return `:warning: Unpaid again: ${which}, ${total}`;
    case 'paid':
      return `:white_check_mark: Paid: ${which}, ${total}`;
    case 'unpaid':
      return `:alarm_clock: Still unpaid after ${count(news.days, 'day')}: ${which}, ${total}`;
  }
}

function describeDetails({ invoice }: InvoiceNews): string {
  const { created_at, kind, paid_at, vat } = invoice;
  const details = [
    `${kind && `${mrkdwn(kind.replaceAll('_', ' '), 40)} `}of ${dateName(documentDay(created_at))}`,
    vat !== null && `VAT ${mrkdwn(money(vat, invoice.currency))}`,
    paid_at !== null && `paid ${dateName(documentDay(paid_at))}`,
  ];
  return capitalised(details.filter(Boolean).join(', '));
}

/** The person who set the notices up, the time, and the latest result. */
export function notifyStateMessage(
  listed: ReadonlyArray<{ notices: InvoiceNotices; polling: ShownPolling }>,
  word: string,
): Message {
  if (listed.length === 0)
    return say(
      `This channel gets no invoice notices. Set them up with ${code(`${word} invoices notify here`)}.`,
    );
  const lines = listed.map(({ notices, polling }) => stateLines(notices, polling, word));
  return say(joinLinesWithin(lines, LIMITS.sectionText, 'more accounts'));
}

function stateLines(notices: InvoiceNotices, polling: ShownPolling, word: string): string {
  const { account, last, createdAt, createdBy, state } = notices;
  const resume = code(`${word} ${resumeCommand(notices)}`, 120);
  return [
    `:receipt: This channel gets invoice notices of ${code(account)}. Set up by <@${createdBy}> ${dateTime(createdAt)}.`,
    ...polledLines(state, polling, last),
    ...(state.kind === 'paused' ? [`Resume them with ${resume}.`] : []),
  ].join('\n');
}
