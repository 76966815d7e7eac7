import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BillingChannel, billingChannelId, billingChannels } from '../../../src/workspace/billing.ts';
import { answerTo, ask } from '../../support/asking.ts';
import {
  ACCOUNT,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';

const LIST = '/*/account/invoices';
const PDF = '/*/account/invoices/1001.pdf';

describe('invoices', () => {
  let house: TestWorld;
  beforeEach(async () => {
    house = await openTestWorld();
    await house.connect();
    house.service.world.addInvoice({ account: ACCOUNT, number: 1000, paidAt: 1_790_000_000_000 });
    house.service.world.addInvoice({ account: ACCOUNT, number: 1001, total: '1234.50', currency: 'eur' });
    setBilling(house, true);
  });
  afterEach(() => house.stop());

  const files = () => house.slack.files(TEAM);

  it('are listed for the one who asks', async () => {
    const shown = await ask(house, '/deckhand invoices', 'admin');
    expect(shown).toContain('2 invoices of `acme`, 1 unpaid');
    expect(shown).toContain('1234.50 EUR');
    expect(shown).not.toContain('http');
    expect(house.slack.messages(TEAM, CHANNEL)).toEqual([]);
  });

  it('need the billing role', async () => {
    expect(await ask(house, '/deckhand invoices')).toContain('This needs the role *billing*');
    expect(house.service.requests.all.some(({ path }) => path.includes('invoices'))).toBe(false);
  });

  it('come as a PDF by direct message, with nothing in the channel and no address anywhere', async () => {
    const said = await ask(house, '/deckhand invoices 1001', 'admin');
    expect(said).toContain('as a direct message');
    const [file] = files();
    expect(file?.bytes?.subarray(0, 5).toString()).toBe('%PDF-');
    expect(file).toMatchObject({
      name: 'acme-invoice-1001.pdf',
      title: 'Invoice 1001 of acme, 1234.50 EUR, unpaid',
    });
    expect(house.slack.dms(TEAM, PEOPLE.admin)).toHaveLength(1);
    expect(house.slack.messages(TEAM, CHANNEL)).toEqual([]);
    const sent = JSON.stringify(house.slack.calls.filter(({ method }) => method.startsWith('chat.')));
    expect(sent + said).not.toContain('/account/invoices/');
    const [latest] = await house.app.workspaces.open(TEAM).audit.latest(1);
    expect(latest?.entry).toMatchObject({ who: PEOPLE.admin, what: 'invoices', target: 'acme/1001' });
  });

  it('come by their button too', async () => {
    await ask(house, '/deckhand invoices', 'admin');
    const card = house.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
    const press = () =>
      house.as('admin').click({ channel: CHANNEL, ts: card }, { actionId: 'invoices:pdf#1001' });
    expect(await answerTo(house, 'admin', press)).toContain('as a direct message');
    expect(files()).toHaveLength(1);
  });

  it('stay in the channel that is told of this account’s invoices, and only there', async () => {
    house.slack.invite(TEAM, CHANNEL, 'bot');
    const told: BillingChannel = {
      channel: CHANNEL,
      account: 'other',
      requestId: 'r1',
      setBy: PEOPLE.admin,
      setAt: 0,
      state: { kind: 'active' },
      known: { settled: [], unpaid: [] },
      pending: [],
    };
    const stored = billingChannels(house.app.workspaces.open(TEAM).store);
    await stored.put(billingChannelId(CHANNEL, 'other'), told);
    expect(await ask(house, '/deckhand invoices 1001', 'admin')).toContain('as a direct message');
    await stored.put(billingChannelId(CHANNEL, ACCOUNT), { ...told, account: ACCOUNT });
    await house.as('admin').command(CHANNEL, '/deckhand invoices #1001');
    await house.slack.until(() => house.slack.messages(TEAM, CHANNEL).length > 0);
    expect(house.slack.messages(TEAM, CHANNEL)[0]?.text).toContain(`for <@${PEOPLE.admin}>`);
    expect(house.slack.dms(TEAM, PEOPLE.admin)).toHaveLength(1);
  });

  it.each<[string, string, (house: TestWorld) => void]>([
    ['a number that is unknown', 'The service has no invoice `1001`', forget],
    ['no billing manager', 'Invoices need a billing manager', (at) => setBilling(at, false)],
    [
      'an address on another host',
      'another host than the account’s',
      (at) => fault(at, LIST, [{ ...RECORD, download_url: 'https://evil.example/1001.pdf' }]),
    ],
    [
      'an address that is none',
      'another host than the account’s',
      (at) => fault(at, LIST, [{ ...RECORD, download_url: 'nonsense' }]),
    ],
    ['no PDF', 'is not a PDF', (at) => fault(at, PDF, { nothing: true })],
    ['something too large', 'larger than I take', (at) => fault(at, LIST, 'x'.repeat(6_000_000))],
    ['a busy service', 'busy', (at) => at.service.faults.add({ path: PDF, status: 429, retryAfter: '3600' })],
  ])('%s is told in its own sentence, and nothing is sent', async (_what, sentence, prepare) => {
    prepare(house);
    expect(await ask(house, '/deckhand invoices 1001', 'admin')).toContain(sentence);
    expect(files()).toEqual([]);
  });

  it('refuses words that are no number', async () => {
    expect(await ask(house, '/deckhand invoices latest', 'admin')).toContain('`latest` is no invoice number');
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
