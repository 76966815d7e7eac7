import { describe, expect, test } from 'vitest';
import { SYNC_MS } from '../../service/world/hosting.ts';
import { addAcme, startBench } from './caller.ts';

async function openAcme() {
  const bench = await startBench();
  const { admin } = addAcme(bench);
  const { world, clock } = bench.service;
  const resource = world.addHostedResource({ account: 'acme', name: 'staging', status: 'error' });
  return { ...bench, world, clock, admin, caller: bench.as('acme', admin), resource };
}

describe('hosted resources', () => {
  test('a sync brings what the provider says, but only later', async () => {
    const { caller, resource, world, clock } = await openAcme();
    const path = `/hosted_resources/${resource.identifier}`;
    const look = async () => (await caller.get(path)).body;
    const before = await look();
    const provider = { status: 'active', ipAddress: '203.0.113.9' } as const;
    world.setProviderState({ account: 'acme', resource: resource.identifier, ...provider });
    expect((await caller.post(`${path}/sync`)).body).toEqual({ status: 'sync_requested' });
    clock.advance(SYNC_MS - 1);
    expect(await look()).toEqual(before);
    clock.advance(1);
    const after = await look();
    expect(after).toMatchObject({ status: 'active', ip_address: '203.0.113.9' });
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    expect((await caller.get('/hosted_resources/none')).status).toBe(404);
    expect((await caller.post('/hosted_resources/none/sync')).status).toBe(404);
  });
});

describe('invoices', () => {
  async function openInvoices() {
    const bench = await openAcme();
    const { world, clock } = bench;
    world.addInvoice({ account: 'acme', total: '49.00', paidAt: clock.now() });
    clock.advance(1_000);
    world.addInvoice({ account: 'acme', currency: 'EUR', total: '118.80', vat: '19.80' });
    world.addInvoice({ account: 'acme', finalised: false });
    return bench;
  }

  test('come newest first once they are finalised', async () => {
    const { caller, service, world } = await openInvoices();
    const { body } = await caller.get('/account/invoices');
    expect(body).toMatchObject([
      { number: 1002, currency: 'eur', total: '118.80', vat: '19.80', paid: false, paid_at: null },
      { number: 1001, currency: 'usd', total: '49.00', paid: true },
    ]);
    expect(body[0].download_url).toBe(`${service.origin}/acme/account/invoices/1002.pdf`);
    world.payInvoice({ account: 'acme', number: 1002 });
    expect((await caller.get('/account/invoices')).body[0]).toMatchObject({ paid: true });
  });

  test('are real PDFs, or not found, in JSON', async () => {
    const { admin, caller, service } = await openInvoices();
    const headers = {
      authorization: `Basic ${btoa(`${admin.email}:${admin.apiKey}`)}`,
      accept: 'application/pdf',
    };
    const response = await fetch(`${service.origin}/acme/account/invoices/1002.pdf`, { headers });
    const pdf = Buffer.from(await response.arrayBuffer())
      .toString('latin1')
      .trim();
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(pdf).toMatch(/^%PDF-.*%%EOF$/s);
    for (const number of ['9', '1003', 'x']) {
      const missing = { status: 404, body: { error_code: 'record_not_found' } };
      expect(await caller.get(`/account/invoices/${number}.pdf`)).toMatchObject(missing);
    }
  });
});
