import type { z } from 'zod';
import { found } from './find.ts';
import { NewInvoice } from './inputs.ts';
import type { Account, Invoice, World } from './records.ts';

const FIRST_NUMBER = 1001;

export function addInvoice(world: World, account: Account, input: z.input<typeof NewInvoice>): Invoice {
  const given = NewInvoice.parse(input);
  const last = Math.max(FIRST_NUMBER - 1, ...account.invoices.map((invoice) => invoice.number));
  const invoice = {
    ...given,
    number: given.number ?? last + 1,
    currency: (given.currency ?? account.currency).toLowerCase(),
    createdAt: given.createdAt ?? world.clock.now(),
  };
  account.invoices.push(invoice);
  return invoice;
}

/** Marks an invoice as paid now. */
export function payInvoice(world: World, account: Account, number: number): Invoice {
  const invoice = findInvoice(account, number);
  const known = found(invoice, 'invoice', String(number));
  known.paidAt = world.clock.now();
  return known;
}

/** A finalised invoice; drafts cannot be seen. */
export function findInvoice(account: Account, number: number): Invoice | undefined {
  return listInvoices(account).find((invoice) => invoice.number === number);
}

/** Finalised invoices, most recent first. Spec 4.10. */
export function listInvoices(account: Account): Invoice[] {
  const finalised = account.invoices.filter((invoice) => invoice.finalised);
  return finalised.sort((a, b) => b.createdAt - a.createdAt || b.number - a.number);
}
