import { buffer } from 'node:stream/consumers';
import PDFDocument from 'pdfkit';
import type { Account, Invoice } from './records.ts';

/** An invoice as a PDF of one page. */
export async function drawInvoice(account: Account, invoice: Invoice): Promise<Buffer> {
  const pdf = new PDFDocument({
    size: 'A4',
    margin: 56,
    info: { Title: `Invoice ${invoice.number}`, CreationDate: new Date(invoice.createdAt) },
  });
  pdf.fontSize(22).text(`Invoice ${invoice.number}`).moveDown(0.5);
  pdf
    .fontSize(11)
    .fillColor('#555')
    .text(`${account.displayName}, ${day(invoice.createdAt)}`)
    .moveDown(2);
  pdf.fillColor('#000');
  const currency = invoice.currency.toUpperCase();
  for (const [label, value] of [
    ['For', invoice.kind],
    ['VAT', `${invoice.vat} ${currency}`],
    ['Total', `${invoice.total} ${currency}`],
    ['Status', invoice.paidAt === null ? 'unpaid' : `paid on ${day(invoice.paidAt)}`],
  ] as const) {
    pdf.text(label, { continued: true, width: 300 }).text(value, { align: 'right' }).moveDown(0.5);
  }
  pdf.moveDown(2).fontSize(9).fillColor('#777').text('Made by a simulated service. Nothing is owed.');
  pdf.end();
  return buffer(pdf);
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
