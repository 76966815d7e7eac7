import { expect, test } from 'vitest';
import { downloadInvoice, listInvoices } from '../../src/service/invoices.ts';
import { failure, openWire, type Reply, startWire } from './wire.ts';

const PATH = '/acme/account/invoices/7.pdf';
const INVOICE = {
  number: 7,
  kind: 'subscription',
  currency: 'eur',
  total: '120.00',
  vat: '20.00',
  paid: false,
  paid_at: null,
  created_at: '2026-01-01T00:00:00Z',
  download_url: 'https://acme.example.com/account/invoices/7.pdf',
};
const PDF = Buffer.from('%PDF-1.7 and so on');
const pdf: Reply = { raw: PDF, headers: { 'content-type': 'application/pdf; charset=binary' } };

test('invoices are listed as they are given', async () => {
  const odd = { ...INVOICE, number: '8', total: 99, vat: null, download_url: null };
  await using wire = await openWire({ 'GET /acme/account/invoices': [{ json: [INVOICE, odd] }] });
  expect(await listInvoices(wire.account)).toEqual([INVOICE, { ...odd, number: 8, total: '99' }]);
});

test.each([{ paid: undefined }, { number: 1.5 }, { number: '7/../8' }, { total: null }])(
  'an invoice with %j is left out: money is not guessed',
  async (change) => {
    await using wire = await openWire({
      'GET /acme/account/invoices': [{ json: [{ ...INVOICE, ...change }, INVOICE] }],
    });
    expect(await listInvoices(wire.account)).toEqual([INVOICE]);
  },
);

test('the PDF is fetched by number, or from the address in the record', async () => {
  await using wire = await openWire({ [`GET ${PATH}`]: [pdf], [`GET ${PATH}?v=2`]: [pdf] });
  expect(await downloadInvoice(wire.account, 7)).toEqual(PDF);
  expect(await downloadInvoice(wire.account, 7, `${wire.origin}${PATH}?v=2`)).toEqual(PDF);
  const accepted = wire.requests.map(({ headers }) => [headers.accept, headers['content-type']]);
  expect(accepted).toEqual(Array(2).fill(['application/pdf', 'application/json']));
});

test('the key goes to no other host, port, scheme or user, whatever the record says', async () => {
  await using elsewhere = await startWire({});
  await using wire = await openWire({});
  const { host, port } = new URL(wire.origin);
  const addresses = [
    `${elsewhere.origin}${PATH}`,
    `${wire.origin}/globex/account/invoices/7.pdf`,
    `https://${host}${PATH}`,
    `http://localhost:${port}${PATH}`,
    `http://ada@${host}${PATH}`,
    `//evil.test${PATH}`,
  ];
  for (const address of addresses) {
    const error = await failure(downloadInvoice(wire.account, 7, address));
    expect(error).toMatchObject({ kind: 'unexpected', certainlyNotDone: true });
    expect(error.message).toMatch(/address/);
    expect(error.message).not.toContain('evil');
  }
  expect(elsewhere.connections()).toBe(0);
});

test.each<[string, Reply]>([
  ['a web page', { raw: '<h1>Sign in</h1>' }],
  [
    'a web page that says it is a PDF',
    { raw: '<h1>Hi</h1>', headers: { 'content-type': 'application/pdf' } },
  ],
  [
    'a huge PDF',
    { raw: Buffer.concat([PDF, Buffer.alloc(5000)]), headers: { 'content-type': 'application/pdf' } },
  ],
])('%s is refused', async (_what, reply) => {
  await using wire = await openWire({ [`GET ${PATH}`]: [reply] }, { maxPdfBytes: 4000 });
  expect(await failure(downloadInvoice(wire.account, 7))).toMatchObject({
    kind: 'unexpected',
    status: 200,
  });
});
