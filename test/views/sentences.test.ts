import { describe, expect, it } from 'vitest';
import { describeMessage } from '../../src/core/message-text.ts';
import type { Invoice } from '../../src/service/invoices.ts';
import { invoiceNotices, invoicesMessage } from '../../src/views/invoices/invoice-messages.ts';
import { periodMessage } from '../../src/views/invoices/period-message.ts';

const BILL: Invoice = {
  number: 1001,
  created_at: '2026-10-01T00:00:00Z',
  kind: 'subscription',
  total: '49.00',
  vat: null,
  currency: 'USD',
  paid: false,
  paid_at: null,
  download_url: null,
};
const PAID: Invoice = { ...BILL, number: 1002, paid: true, paid_at: '2026-10-02T00:00:00Z' };

describe('invoices, as a phone shows them', () => {
  it.for([
    [[BILL], '1 invoice of acme, unpaid: 1001 (49.00 USD). Number,'],
    [[PAID], '1 invoice of acme, paid. Number,'],
    [
      [BILL, { ...BILL, number: 1003 }],
      '2 invoices of acme, both unpaid: 1001 (49.00 USD), 1003 (49.00 USD). Number,',
    ],
    [[PAID, PAID, PAID], '3 invoices of acme, all paid. Number,'],
    [[BILL, PAID, PAID], '3 invoices of acme, 1 unpaid: 1001 (49.00 USD). Number,'],
  ] as const)('%j begins with its number and state once', ([invoices, start]) => {
    expect(describeMessage(invoicesMessage('acme', invoices)).slice(0, start.length)).toBe(start);
  });

  it('a notice says after each invoice which one it is', () => {
    const { root } = invoiceNotices('acme', [
      { kind: 'new', invoice: BILL },
      { kind: 'paid', invoice: PAID },
    ]);
    expect(describeMessage(root)).toBe(
      'New invoice 1001 of acme: 49.00 USD, unpaid. Subscription of Oct 1, 2026. Paid: invoice 1002 of acme, 49.00 USD. Subscription of Oct 1, 2026, paid Oct 2, 2026.',
    );
  });

  const ask = { isUnpaid: false };
  const find = (all: ReadonlyArray<readonly [string, Invoice]>) => ({
    ask,
    all: all.map(([account, invoice]) => ({ account, invoice })),
    accounts: ['acme', 'globex'],
    failures: [],
    skipped: [],
  });

  it('sums are together only for a currency of more than one account', () => {
    const euros = { ...BILL, currency: 'EUR' };
    const text = describeMessage(
      periodMessage(
        find([
          ['acme', BILL],
          ['globex', PAID],
          ['globex', euros],
        ]),
      ),
    );
    expect(text.match(/Together: [^,]*, [^,]*/g)).toEqual(['Together: 2 invoices, 98.00 USD']);
  });

  it('none in two accounts', () => {
    expect(describeMessage(periodMessage(find([])))).toBe('Invoices: none in acme and globex.');
  });
});
