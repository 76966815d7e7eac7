import type { Button } from '@slack/types';
import type { Message } from '../../core/message.ts';
import { code, count, firstOf, sanitize } from '../../core/mrkdwn.ts';
import type { Invoice } from '../../service/invoices.ts';
import { searchMenu } from '../blocks/choices.ts';
import { dateName, dayOf } from '../blocks/days.ts';
import { table } from '../blocks/lists.ts';
import { button, buttons, context, header, say, section } from '../blocks/message.ts';
import { money } from '../blocks/money.ts';

const MAX_BUTTONS = 10;
const RECENT = 3;
const MAX_NAMED = 10;

/**
 * The account's invoices as a table, the unpaid ones named first, with buttons for the PDFs that people want.
 * @param zone IANA zone of the reader, for the dates
 */
export function invoicesMessage(account: string, invoices: readonly Invoice[], zone: string): Message {
  if (invoices.length === 0) return say(`The account ${code(account)} has no invoices yet.`);
  const unpaid = invoices.filter((invoice) => !invoice.paid);
  const state = unpaid.length === 0 ? 'all paid' : `${unpaid.length} unpaid`;
  return {
    text: `${count(invoices.length, 'invoice')} of ${code(account)}, ${state}`,
    blocks: [
      header(`Invoices of ${sanitize(account, 60)}`),
      section(`${count(invoices.length, 'invoice')}, ${state}${unpaidNames(unpaid)}`),
      ...table(
        'Invoices',
        COLUMNS,
        invoices.map((invoice) => rowOf(invoice, zone)),
      ),
      ...buttons(...wanted(invoices).map((invoice) => pdfButton(account, invoice))),
      ...(wanted(invoices).length < invoices.length
        ? searchMenu({ actionId: 'invoice', placeholder: 'Send me another', target: { account } })
        : []),
      context('A PDF is sent to you alone, unless this channel gets the account’s invoice notices.'),
    ],
  };
}

export function invoiceSentMessage(account: string, number: number): Message {
  return say(
    `:page_facing_up: Invoice ${code(number)} of ${code(account)} was sent to you as a direct message.`,
  );
}

/** Shown above the file, where others see it too. */
export function invoiceComment(account: string, number: number, user: string): string {
  return `Invoice ${code(number)} of ${code(account)}, for <@${user}>`;
}

/** "Invoice 1001 of acme, 49.00 USD, unpaid"; plain text. */
export function invoiceTitle(account: string, number: number, invoice: Invoice | undefined): string {
  const known =
    invoice === undefined ? [] : [money(invoice.total, invoice.currency), invoice.paid ? 'paid' : 'unpaid'];
  return sanitize([`Invoice ${number} of ${account}`, ...known].join(', '), 150);
}

const COLUMNS = [
  { title: 'Number', align: 'right' },
  'Date',
  'Kind',
  { title: 'Total', align: 'right' },
  { title: 'VAT', align: 'right' },
  'Paid',
] as const;

function rowOf(invoice: Invoice, zone: string): string[] {
  return [
    String(invoice.number),
    dateName(dayOf(zone, invoice.created_at)),
    sanitize(invoice.kind.replaceAll('_', ' '), 40),
    money(invoice.total, invoice.currency),
    invoice.vat === null ? '' : money(invoice.vat, invoice.currency),
    paidWords(invoice, zone),
  ];
}

function paidWords(invoice: Invoice, zone: string): string {
  if (!invoice.paid) return '⚠️ unpaid';
  return invoice.paid_at === null ? 'paid' : dateName(dayOf(zone, invoice.paid_at));
}

function unpaidNames(unpaid: readonly Invoice[]): string {
  if (unpaid.length === 0) return '';
  const names = unpaid.map(({ number, total, currency }) => `${code(number)} (${money(total, currency)})`);
  return `: ${firstOf(names, MAX_NAMED)}`;
}

/** The unpaid ones and the latest, in the order of the table. */
function wanted(invoices: readonly Invoice[]): Invoice[] {
  return invoices.filter((invoice, at) => at < RECENT || !invoice.paid).slice(0, MAX_BUTTONS);
}

export function pdfButton(account: string, { number, paid }: Invoice): Button {
  const label = `PDF of ${number}${paid ? '' : ' (unpaid)'}`;
  return button(label, `invoices:pdf#${number}`, { value: { account, number } });
}
