import { expect, test } from 'vitest';
import { addAcme, startBench } from './caller.ts';

async function openAcme() {
  const bench = await startBench();
  const parts = addAcme(bench);
  const { world, clock } = bench.service;
  world.addInvoice({ account: 'acme', total: '49.00', paidAt: clock.now() });
  clock.advance(1_000);
  world.addInvoice({ account: 'acme', currency: 'EUR', total: '118.80', vat: '19.80' });
  world.addInvoice({ account: 'acme', finalised: false });
  return { ...bench, ...parts, caller: bench.as('acme', parts.admin) };
}

test('finalised invoices come newest first, drafts not at all', async () => {
  const { caller, service } = await openAcme();
  const { body } = await caller.get('/account/invoices');
  expect(body).toMatchObject([
    { number: 1002, currency: 'eur', total: '118.80', vat: '19.80', paid: false, paid_at: null },
    { number: 1001, currency: 'usd', total: '49.00', paid: true },
  ]);
  expect(body[0].download_url).toBe(`${service.origin}/acme/account/invoices/1002.pdf`);
  service.world.payInvoice({ account: 'acme', number: 1002 });
  expect((await caller.get('/account/invoices')).body[0]).toMatchObject({ paid: true });
});

test('an invoice is a real PDF', async () => {
  const { admin, service } = await openAcme();
  const response = await fetch(`${service.origin}/acme/account/invoices/1002.pdf`, {
    headers: { authorization: `Basic ${btoa(`${admin.email}:${admin.apiKey}`)}`, accept: 'application/pdf' },
  });
  const pdf = Buffer.from(await response.arrayBuffer());
  expect(response.headers.get('content-type')).toBe('application/pdf');
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
  expect(pdf.subarray(-6).toString().trim()).toBe('%%EOF');
});

test.each(['/account/invoices/9.pdf', '/account/invoices/1003.pdf', '/account/invoices/x.pdf'])(
  '%s is not found, in JSON',
  async (path) => {
    const { caller } = await openAcme();
    expect(await caller.get(path)).toMatchObject({ status: 404, body: { error_code: 'record_not_found' } });
  },
);

test('only billing managers see invoices', async () => {
  const { as, member } = await openAcme();
  const caller = as('acme', member);
  expect((await caller.get('/account/invoices')).status).toBe(403);
  expect((await caller.get('/account/invoices/1002.pdf')).status).toBe(403);
});
