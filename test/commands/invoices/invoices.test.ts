import { describe, expect } from 'vitest';
import { feedPlace, type InvoiceNotices } from '../../../src/records/schedules.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const LIST = '/*/account/invoices';
const PDF = '/*/account/invoices/1001.pdf';

describe('invoices', () => {
  test.override({ connected: true });
  test.beforeEach(async ({ world }) => {
    world.service.world.addInvoice({ account: ACCOUNT, number: 1000, paidAt: 1_790_000_000_000 });
    world.service.world.addInvoice({ account: ACCOUNT, number: 1001, total: '1234.50', currency: 'eur' });
    setBilling(world, true);
  });

  const files = (world: TestWorld) => world.slack.files(TEAM);

  test('invoices are listed for the one who asks', async ({ world }) => {
    const shown = await ask(world, '/deckhand invoices', 'admin');
    expect(shown).toContain('2 invoices of `acme`, 1 unpaid');
    expect(shown).toContain('1234.50 EUR');
    expect(shown).not.toContain('http');
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
  });

  test('invoices need the billing role', async ({ world }) => {
    expect(await ask(world, '/deckhand invoices')).toContain(
      'Only people with the billing role can see invoices',
    );
    expect(world.service.requests.all.some(({ path }) => path.includes('invoices'))).toBe(false);
  });

  test('invoices come as a PDF by direct message, with nothing in the channel and no address anywhere', async ({
    world,
  }) => {
    const said = await ask(world, '/deckhand invoices 1001', 'admin');
    expect(said).toContain('as a direct message');
    const [file] = files(world);
    expect(file?.bytes?.subarray(0, 5).toString()).toBe('%PDF-');
    expect(file).toMatchObject({
      name: 'acme-invoice-1001.pdf',
      title: 'Invoice 1001 of acme, 1234.50 EUR, unpaid',
    });
    expect(world.slack.dms(TEAM, PEOPLE.admin)).toHaveLength(1);
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
    const sent = JSON.stringify(world.slack.calls.filter(({ method }) => method.startsWith('chat.')));
    expect(sent + said).not.toContain('/account/invoices/');
    const [latest] = await world.app.workspaces.open(TEAM).audit.latest(1);
    expect(latest?.entry).toMatchObject({ who: PEOPLE.admin, what: 'invoices', target: 'acme/1001' });
  });

  test('invoices come by their button too', async ({ world }) => {
    await ask(world, '/deckhand invoices', 'admin');
    const card = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
    const press = () =>
      world.as('admin').click({ channel: CHANNEL, ts: card }, { actionId: 'invoices:pdf#1001' });
    expect(await answerTo(world, 'admin', press)).toContain('as a direct message');
    expect(files(world)).toHaveLength(1);
  });

  test('invoices stay in the channel that is told of this account’s invoices, and only there', async ({
    world,
  }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    const { schedules } = world.app.workspaces.open(TEAM);
    const tell = (account: string): Promise<void> => {
      const notices: InvoiceNotices = {
        kind: 'invoices',
        id: feedPlace({ channel: CHANNEL, account }),
        channel: CHANNEL,
        account,
        requestId: 'r1',
        createdBy: PEOPLE.admin,
        createdAt: 0,
        state: { kind: 'active' },
      };
      return schedules.put(notices);
    };
    await tell('other');
    expect(await ask(world, '/deckhand invoices 1001', 'admin')).toContain('as a direct message');
    await tell(ACCOUNT);
    await world.as('admin').command(CHANNEL, '/deckhand invoices #1001');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length > 0);
    expect(world.slack.messages(TEAM, CHANNEL)[0]?.text).toContain(`for <@${PEOPLE.admin}>`);
    expect(world.slack.dms(TEAM, PEOPLE.admin)).toHaveLength(1);
  });

  test.for<[string, string, (world: TestWorld) => void]>([
    ['a number that is unknown', 'There is no invoice `1001`', forget],
    ['no billing manager', 'The service refused the invoices', (at) => setBilling(at, false)],
    [
      'an address on another host',
      'another host than the account’s',
      (at) => fault(at, LIST, [{ ...RECORD, download_url: 'https://evil.example/1001.pdf' }]),
    ],
    [
      'an address that is none',
      'no full address for the PDF',
      (at) => fault(at, LIST, [{ ...RECORD, download_url: 'nonsense' }]),
    ],
    [
      'a relative address',
      'no full address for the PDF',
      (at) => fault(at, LIST, [{ ...RECORD, download_url: '/acme/account/invoices/1001.pdf' }]),
    ],
    ['no PDF', 'is not a PDF', (at) => fault(at, PDF, { nothing: true })],
    ['something too large', 'more than Deckhand accepts', (at) => fault(at, LIST, 'x'.repeat(6_000_000))],
    ['a busy service', 'busy', (at) => at.service.faults.add({ path: PDF, status: 429, retryAfter: '3600' })],
  ] as const)(
    'of invoices, %s is told in its own sentence, and nothing is sent',
    async ([_what, sentence, prepare], { world }) => {
      prepare(world);
      expect(await ask(world, '/deckhand invoices 1001', 'admin')).toContain(sentence);
      expect(files(world)).toEqual([]);
    },
  );

  test('invoices refuse words that are no number', async ({ world }) => {
    expect(await ask(world, '/deckhand invoices latest', 'admin')).toContain(
      '`latest` is not an invoice number',
    );
  });
});

const RECORD = {
  number: 1001,
  kind: 'subscription',
  currency: 'eur',
  total: '1.00',
  vat: '0.00',
  paid: false,
  paid_at: null,
  created_at: '2026-11-01T00:00:00Z',
};

function forget({ service }: TestWorld): void {
  service.world.state.accounts.get(ACCOUNT)?.invoices.splice(0);
}

function fault({ service }: TestWorld, path: string, body: unknown): void {
  service.faults.add({ path, status: 200, body });
}

function setBilling({ service }: TestWorld, billing: boolean): void {
  const user = service.world.state.accounts.get(ACCOUNT)?.users.find(({ email }) => email === EMAIL);
  Object.assign(user ?? {}, { billing });
}
