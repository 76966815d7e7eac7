import { describe, expect, it } from 'vitest';
import type { Invoice } from '../../../src/service/invoices.ts';
import { splitAnswer } from '../../../src/views/blocks/lists.ts';
import { invoiceNotices, invoicesMessage, invoiceTitle } from '../../../src/views/invoices/invoices.ts';

const PAID: Invoice = {
  number: 1001,
  kind: 'subscription',
  currency: 'eur',
  total: '0049.50',
  vat: '8.2',
  paid: true,
  paid_at: '2026-11-02T23:30:00Z',
  created_at: '2026-11-01T23:30:00Z',
  download_url: 'https://acme.example.com/account/invoices/1001.pdf',
};
const UNPAID: Invoice = {
  ...PAID,
  number: 1002,
  paid: false,
  paid_at: null,
  vat: null,
  currency: 'jpy',
  total: '1200',
};

function rowsOf(invoices: Invoice[]): string[][] {
  const table = invoicesMessage('acme', invoices).blocks.find(
    (block) => block.type === 'table' || block.type === 'data_table',
  );
  return (table?.rows ?? []).map((row) => row.map((cell) => (cell.type === 'raw_text' ? cell.text : '')));
}

describe('the invoices', () => {
  it('stand in a table, amounts as given and each in its own currency', () => {
    expect(rowsOf([UNPAID, PAID])).toEqual([
      ['Number', 'Date', 'Kind', 'Total', 'VAT', 'Paid'],
      ['1002', 'Nov 1, 2026', 'subscription', '1200 JPY', '—', '⚠️ unpaid'],
      ['1001', 'Nov 1, 2026', 'subscription', '0049.50 EUR', '8.2 EUR', 'Nov 2, 2026'],
    ]);
  });

  it.each(['2026-11-30T23:30:00Z', '2026-11-30T00:30:00+09:00', '2026-11-30T23:59:59-05:00', '2026-11-30'])(
    'of %s are of that calendar day for every reader, in the table and in notices',
    (day) => {
      const invoice = { ...PAID, created_at: day, paid_at: day };
      expect(rowsOf([invoice])[1]).toEqual([
        '1001',
        'Nov 30, 2026',
        'subscription',
        '0049.50 EUR',
        '8.2 EUR',
        'Nov 30, 2026',
      ]);
      const { root } = invoiceNotices('acme', [{ kind: 'paid', invoice }]);
      expect(JSON.stringify(root)).toContain('of Nov 30, 2026, paid Nov 30, 2026');
    },
  );

  it('that are unpaid are named first', () => {
    const message = invoicesMessage('acme', [UNPAID, PAID]);
    expect(message.text).toBe('2 invoices of `acme`, 1 unpaid');
    expect(JSON.stringify(message.blocks)).toContain('1 unpaid: `1002` (1200 JPY)');
  });

  it('have a button for each of the latest and each unpaid one', () => {
    const old = Array.from({ length: 8 }, (_, at) => ({ ...PAID, number: 900 - at }));
    const shown = JSON.stringify(invoicesMessage('acme', [PAID, ...old, UNPAID]).blocks);
    expect(shown.match(/PDF of \d+(?: \(unpaid\))?/g)).toEqual([
      'PDF of 1001',
      'PDF of 900',
      'PDF of 899',
      'PDF of 1002 (unpaid)',
    ]);
  });

  it('over a table’s size have several messages', () => {
    const many = Array.from({ length: 230 }, (_, at) => ({ ...PAID, number: 5_000 + at }));
    const parts = splitAnswer(invoicesMessage('acme', many)).map((part) => JSON.stringify(part));
    expect(parts).toHaveLength(3);
    for (const part of parts) expect(part.match(/data_table/g)).toHaveLength(1);
    for (const { number } of many) expect(parts.join()).toContain(`"${number}"`);
  });

  it('are said to be none', () => {
    expect(invoicesMessage('acme', []).text).toContain('no invoices yet');
  });

  it('never show the address of the PDF', () => {
    expect(JSON.stringify(invoicesMessage('acme', [PAID, UNPAID]))).not.toContain('http');
  });

  it('have a title that tells the amount and whether it is paid', () => {
    expect(invoiceTitle('acme', 1002, UNPAID)).toBe('Invoice 1002 of acme, 1200 JPY, unpaid');
    expect(invoiceTitle('acme', 7, undefined)).toBe('Invoice 7 of acme');
  });
});
