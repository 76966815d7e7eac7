import { add, type Decimal, readCurrency, ZERO } from '../core/amount.ts';
import { type Invoice, isUnpaid, readAmounts } from './invoices.ts';

/** An invoice and its account's name. */
export interface AccountInvoice {
  account: string;
  invoice: Invoice;
}

/** Invoices in one currency. Credit notes lessen the sums. */
export interface InvoiceSum {
  /** Undefined for all accounts together. */
  account: string | undefined;
  /** Code in capitals; undefined if the service names none, or gives another text. Different texts are never summed. */
  currency: string | undefined;
  amount: number;
  total: Decimal;
  vat: Decimal;
  unpaid: number;
  unpaidTotal: Decimal;
  /** Invoices whose total or tax cannot be read. That amount is not in the sums. */
  unread: AccountInvoice[];
}

/** Sums for each account and currency, in the order of the invoices. Pure. */
export function sumByAccount(all: readonly AccountInvoice[]): InvoiceSum[] {
  return sumBy(all, ({ account }) => account);
}

/** Sums of all accounts for each currency. Pure. */
export function sumTogether(all: readonly AccountInvoice[]): InvoiceSum[] {
  return sumBy(all, () => undefined);
}

function sumBy(
  all: readonly AccountInvoice[],
  nameAccount: (one: AccountInvoice) => string | undefined,
): InvoiceSum[] {
  const sums = new Map<string, InvoiceSum>();
  for (const one of all) {
    const account = nameAccount(one);
    const currency = readCurrency(one.invoice.currency);
    const key = `${account ?? ''} ${currency ?? one.invoice.currency.trim().toLowerCase()}`;
    sums.set(key, addInvoice(sums.get(key) ?? makeEmpty(account, currency), one));
  }
  return [...sums.values()];
}

function makeEmpty(account: string | undefined, currency: string | undefined): InvoiceSum {
  const nothing = { total: ZERO, vat: ZERO, unpaid: 0, unpaidTotal: ZERO };
  return { account, currency, amount: 0, ...nothing, unread: [] };
}

function addInvoice(sum: InvoiceSum, one: AccountInvoice): InvoiceSum {
  const { total, vat } = readAmounts(one.invoice);
  const isOpen = isUnpaid(one.invoice);
  return {
    ...sum,
    amount: sum.amount + 1,
    total: add(sum.total, total ?? ZERO),
    vat: add(sum.vat, vat ?? ZERO),
    unpaid: sum.unpaid + (isOpen ? 1 : 0),
    unpaidTotal: isOpen ? add(sum.unpaidTotal, total ?? ZERO) : sum.unpaidTotal,
    unread: total === undefined || vat === undefined ? [...sum.unread, one] : sum.unread,
  };
}
