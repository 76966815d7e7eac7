import { expect, test } from 'vitest';
import { DEMO_USERS } from '../../service/seed/demo-facts.ts';
import { SYNC_MS } from '../../service/world/hosting.ts';
import { openAcme, startBench } from './caller.ts';

/** Longer than any run of two servers takes. */
const LONG_ENOUGH = 10_000;
const RUNS = '/projects/storefront/test_access';
const STOREFRONT = { account: 'acme', project: 'storefront' };

test('a sync of a machine brings what the provider says, but only later', async () => {
  const { caller, world, clock } = await openAcme();
  const machine = { account: 'acme', name: 'staging', status: 'error' } as const;
  const { identifier: resource } = world.addHostedResource(machine);
  const look = async () => (await caller.get(`/hosted_resources/${resource}`)).body;
  const before = await look();
  const provider = { status: 'active', ipAddress: '203.0.113.9' } as const;
  world.setProviderState({ account: 'acme', resource, ...provider });
  await caller.post(`/hosted_resources/${resource}/sync`);
  clock.advance(SYNC_MS - 1);
  expect(await look()).toEqual(before);
  clock.advance(1);
  const after = await look();
  expect(after).toMatchObject({ status: 'active', ip_address: '203.0.113.9' });
  expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
});

test('invoices come newest first once they are finalised, each as a real PDF', async () => {
  const { people, admin, service, world, clock } = await openAcme();
  world.addInvoice({ account: 'acme', total: '49.00', paidAt: clock.now() });
  clock.advance(1_000);
  world.addInvoice({ account: 'acme', currency: 'EUR', total: '118.80', vat: '19.80' });
  world.addInvoice({ account: 'acme', finalised: false });
  const { body } = await admin.get('/account/invoices');
  const download_url = `${service.origin}/acme/account/invoices/1002.pdf`;
  expect(body).toMatchObject([
    { number: 1002, currency: 'eur', total: '118.80', paid: false, paid_at: null, download_url },
    { number: 1001, currency: 'usd', total: '49.00', paid: true },
  ]);
  world.payInvoice({ account: 'acme', number: 1002 });
  expect((await admin.get('/account/invoices')).body[0]).toMatchObject({ paid: true });
  const authorization = `Basic ${btoa(`${people.admin.email}:${people.admin.apiKey}`)}`;
  const headers = { authorization, accept: 'application/pdf' };
  const response = await fetch(download_url, { headers });
  expect(response.headers.get('content-type')).toBe('application/pdf');
  expect((await response.text()).trim()).toMatch(/^%PDF-.*%%EOF$/s);
});

test('a run of one server has no repository', async () => {
  const { caller, project, clock } = await openAcme();
  const server = project.servers[1]?.identifier;
  const path = `/projects/${project.identifier}/servers/${server}/test_access`;
  const { identifier } = (await caller.post(path)).body;
  clock.advance(LONG_ENOUGH);
  const { results } = (await caller.get(`${RUNS}/${identifier}`)).body;
  expect(results).toEqual({ servers: [expect.objectContaining({ name: 'web-2' })] });
});

const results = { servers: [{ status: 'ok' }, { status: 'ok' }] };
const repository = { status: 'error', message: expect.any(String) };

test.each([
  ['to fail', { status: 'failed', withResults: false }, 'failed', undefined],
  ['to fail with results', { status: 'failed', withResults: true }, 'failed', results],
  ['without any result', { results: 'none' }, 'completed', undefined],
  ['to end in a word of no document', { status: 'finished' }, 'finished', results],
  ['without its repository', { results: 'repository_unreachable' }, 'completed', { ...results, repository }],
])('a run that is asked %s does so, and has its time of completion', async (_, outcome, status, expected) => {
  const { people, unchecked, world, clock } = await openAcme();
  world.setRunOutcome({ ...STOREFRONT, ...outcome } as Parameters<typeof world.setRunOutcome>[0]);
  const caller = unchecked('acme', people.member);
  const { identifier } = (await caller.post(RUNS)).body;
  clock.advance(LONG_ENOUGH);
  const ended = (await caller.get(`${RUNS}/${identifier}`)).body;
  expect(ended).toMatchObject({ status, completed_at: expect.any(String) });
  if (expected === undefined) expect(ended).not.toHaveProperty('results');
  else expect(ended.results).toMatchObject(expected);
});

test('everybody of the demo can sign in, and their keys cannot be taken for real ones', async () => {
  const { as } = await startBench({ seed: 'demo' });
  for (const person of Object.values(DEMO_USERS)) {
    expect(person.apiKey).toMatch(/^demo-key-of-[a-z0-9-]{28}$/);
    expect((await as(person.account, person).get('/profile')).body.email_address).toBe(person.email);
  }
});
