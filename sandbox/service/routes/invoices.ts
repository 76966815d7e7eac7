import { createRoute, z } from '@hono/zod-openapi';
import { permitBilling } from '../api/access.ts';
import type { AccountApp } from '../api/app.ts';
import { recordNotFound } from '../api/failure.ts';
import { json, usualFailures } from '../api/responses.ts';
import { Timestamp, timestamp, timestampOrNull } from '../api/timestamps.ts';
import { drawInvoice } from '../world/invoice-pdf.ts';
import { findInvoice, listInvoices } from '../world/invoices.ts';
import type { Invoice as InvoiceRecord } from '../world/records.ts';

const Amount = z.string().regex(/^-?\d+\.\d{2}$/);

const Invoice = z
  .strictObject({
    number: z.int(),
    kind: z.string(),
    currency: z.string(),
    total: Amount,
    vat: Amount,
    paid: z.boolean(),
    paid_at: Timestamp.nullable(),
    created_at: Timestamp,
    download_url: z.url(),
  })
  .openapi('Invoice');

const tags = ['Invoices'];

const showInvoices = createRoute({
  method: 'get',
  path: '/account/invoices',
  tags,
  summary: 'Finalised invoices, newest first; for billing managers',
  middleware: [permitBilling],
  responses: { 200: json(z.array(Invoice), 'The invoices.'), ...usualFailures },
});

/** Described apart from its route: the router knows no parameter that ends inside a segment. */
const downloadInvoice = createRoute({
  method: 'get',
  path: '/account/invoices/{number}.pdf',
  tags,
  summary: 'One invoice as a PDF; for billing managers',
  request: { params: z.object({ number: z.string().openapi({ type: 'integer' }) }) },
  responses: {
    200: {
      description: 'The PDF.',
      content: { 'application/pdf': { schema: z.string().openapi({ format: 'binary' }) } },
    },
    ...usualFailures,
  },
});

/** Spec 4.10. */
export function addInvoices(app: AccountApp): void {
  app.openapi(showInvoices, (c) => {
    const invoices = listInvoices(c.env.account);
    return c.json(
      invoices.map((invoice) => toInvoice(c.env.baseUrl, invoice)),
      200,
    );
  });
  app.openAPIRegistry.registerPath(downloadInvoice);
  app.get('/account/invoices/:file{.+\\.pdf}', permitBilling, async (c) => {
    const number = /^(\d+)\.pdf$/.exec(c.req.param('file'))?.[1];
    const invoice = findInvoice(c.env.account, Number(number));
    if (invoice === undefined) throw recordNotFound();
    const pdf = await drawInvoice(c.env.account, invoice);
    return c.body(new Uint8Array(pdf), 200, {
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="invoice-${invoice.number}.pdf"`,
    });
  });
}

function toInvoice(baseUrl: string, invoice: InvoiceRecord): z.infer<typeof Invoice> {
  return {
    number: invoice.number,
    kind: invoice.kind,
    currency: invoice.currency,
    total: invoice.total,
    vat: invoice.vat,
    paid: invoice.paidAt !== null,
    paid_at: timestampOrNull(invoice.paidAt),
    created_at: timestamp(invoice.createdAt),
    download_url: `${baseUrl}/account/invoices/${invoice.number}.pdf`,
  };
}
