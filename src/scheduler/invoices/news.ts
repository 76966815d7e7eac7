import type { Invoice } from '../../service/invoices.ts';
import type { InvoiceNews } from '../../views/invoices/notice.ts';
import type { KnownInvoices } from '../../workspace/billing.ts';

/** A reminder falls due this many days after an invoice was made. */
const REMINDERS = [14, 7] as const;
const DAY_MS = 86_400_000;

/** What is known after the first poll: neither an invoice nor a reminder that is due is news. Pure. */
export function knownFrom(invoices: readonly Invoice[], now: number): KnownInvoices {
  return {
    settled: invoices.filter(({ paid }) => paid).map(({ number }) => number),
    unpaid: invoices
      .filter(({ paid }) => !paid)
      .map((invoice) => ({ number: invoice.number, reminded: dueReminder(invoice, now) })),
  };
}

/**
 * What is news of the account's invoices, oldest first, and what is known after it: an invoice that was not there
 * before, one that became paid, one that is still unpaid after 7 and 14 days. Each is news once; of two reminders that
 * are due together, only the later. Pure.
 * @param now milliseconds since the epoch
 */
export function newsOf(
  known: KnownInvoices,
  invoices: readonly Invoice[],
  now: number,
): { known: KnownInvoices; news: InvoiceNews[] } {
  const settled = new Set(known.settled);
  const unpaid = new Map(known.unpaid.map(({ number, reminded }) => [number, reminded]));
  const news: InvoiceNews[] = [];
  for (const invoice of invoices.toSorted(byAge)) {
    const { number, paid } = invoice;
    if (settled.has(number)) continue;
    const reminded = unpaid.get(number);
    if (reminded === undefined) news.push({ kind: 'new', invoice });
    else if (paid) news.push({ kind: 'paid', invoice });
    if (paid) {
      settled.add(number);
      unpaid.delete(number);
      continue;
    }
    // An old invoice is new first; its reminder comes with the next poll.
    const due = reminded === undefined ? 0 : dueReminder(invoice, now);
    if (due > (reminded ?? 0)) news.push({ kind: 'unpaid', invoice, days: daysSince(invoice, now) });
    unpaid.set(number, Math.max(due, reminded ?? 0));
  }
  const left = [...unpaid].map(([number, reminded]) => ({ number, reminded }));
  return { known: { settled: [...settled], unpaid: left }, news };
}

function byAge(one: Invoice, other: Invoice): number {
  return Date.parse(one.created_at) - Date.parse(other.created_at) || one.number - other.number;
}

/** The days of the latest reminder that is due by now; 0 for none. */
function dueReminder(invoice: Invoice, now: number): number {
  return REMINDERS.find((days) => daysSince(invoice, now) >= days) ?? 0;
}

function daysSince({ created_at }: Invoice, now: number): number {
  return Math.floor((now - Date.parse(created_at)) / DAY_MS);
}
