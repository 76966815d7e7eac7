import { describe, expect } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { ACCOUNT, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const NOW = '2026-11-20T12:00:00Z';
const OTHER = {
  name: 'globex',
  email: 'gus@example.com',
  apiKey: 'GlobexKey0GlobexKey0GlobexKey0GlobexKey0',
};

const at = (day: string): number => Date.parse(`${day}T10:00:00Z`);

/** Two accounts: one in dollars, one in yen and dinars. */
async function fill(world: TestWorld): Promise<void> {
  const { world: service } = world.service;
  service.updateUser({ account: ACCOUNT, email: EMAIL, billing: true });
  const add = (account: string, number: number, day: string, total: string, more: object = {}): void => {
    const createdAt = at(day);
    service.addInvoice({
      account,
      number,
      total,
      vat: '0.00',
      createdAt,
      paidAt: createdAt + 86_400_000,
      ...more,
    });
  };
  add(ACCOUNT, 900, '2025-12-31', '10.00', { vat: '2.00' });
  add(ACCOUNT, 1001, '2026-01-01', '49.00', { vat: '8.17' });
  add(ACCOUNT, 1002, '2026-07-31', '49.10', { vat: '8.18' });
  add(ACCOUNT, 1003, '2026-09-30', '0.20', { vat: '0.03' });
  add(ACCOUNT, 1004, '2026-10-01', '49.00', { vat: '8.17', paidAt: null });
  add(ACCOUNT, 1005, '2026-10-31', '-12.00', { vat: '-2.00', kind: 'credit_note', paidAt: null });
  add(ACCOUNT, 1006, '2026-11-01', '0.00', { paidAt: null });
  service.addAccount({
    name: OTHER.name,
    users: [{ email: OTHER.email, apiKey: OTHER.apiKey, role: 'admin', billing: true }],
    projects: [],
  });
  add(OTHER.name, 7, '2026-10-15', '1200', { currency: 'jpy', vat: '100', paidAt: null });
  add(OTHER.name, 8, '2026-10-16', '12.345', { currency: 'kwd', vat: '0.345' });
  const { accounts } = world.app.workspaces.open(TEAM);
  await accounts.connect({ ...OTHER, createdBy: PEOPLE.admin, state: 'ok' });
}

const files = (world: TestWorld) => world.slack.files(TEAM);
const csvOf = (world: TestWorld) => files(world).at(-1)?.bytes?.toString() ?? '';

/** Presses a button of the admin's latest answer. */
function press(world: TestWorld, actionId: string): Promise<string> {
  const ts = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
  return answerTo(world, 'admin', () => world.as('admin').click({ channel: CHANNEL, ts }, { actionId }));
}

describe('what finance asks', () => {
  test.override({ connected: true, worldOptions: { time: createManualClock(NOW) } });
  test.beforeEach(({ world }) => fill(world));

  test.for([
    [
      'last month, by account',
      'invoices october',
      [
        '`acme`: 2 invoices, *37.00 USD*, of which tax 6.17 USD, 1 unpaid (49.00 USD)',
        '`globex`: 1 invoice, *1200 JPY*, of which tax 100 JPY, 1 unpaid (1200 JPY)',
        '`globex`: 1 invoice, *12.345 KWD*, of which tax 0.345 KWD, none unpaid',
      ],
    ],
    ['the same in other words', 'invoices last month', ['Invoices, October 2026', '*37.00 USD*']],
    [
      'last quarter by account',
      'invoices last quarter by account',
      ['Invoices, Q3 2026', '`acme`: 2 invoices, *49.30 USD*', 'none unpaid'],
    ],
    [
      'what is unpaid anywhere',
      'invoices unpaid',
      ['Unpaid invoices', '`acme`: 1 invoice, *49.00 USD*', '`globex`: 1 invoice, *1200 JPY*'],
    ],
    ['the same without the first word', 'unpaid', ['Unpaid invoices', '*1200 JPY*']],
    ['tax of the year', 'invoices 2026', ['Invoices, 2026', '*135.30 USD*, of which tax 22.55 USD']],
    ['the year before', 'invoices last year', ['Invoices, 2025', '1 invoice, *10.00 USD*']],
    ['one client’s year', 'invoices 2026 --account globex', ['Invoices of globex, 2026', '*1200 JPY*']],
    [
      'one client in plain words',
      'invoices for globex in october',
      ['Invoices of globex, October 2026', '*1200 JPY*'],
    ],
    ['half a year', 'invoices h2', ['Invoices, July 2026 to December 2026', '*86.30 USD*']],
    [
      'a week without any',
      'invoices last week',
      ['Invoices, Nov 9, 2026 to Nov 15, 2026: none in `acme` and `globex`'],
    ],
  ] as const)('%s: %s', async ([, line, words], { world }) => {
    const answer = await ask(world, `/deckhand ${line}`, 'admin');
    for (const one of words) expect(answer).toContain(one);
  });

  test('the accountant’s CSV comes as a file in a direct message', async ({ world }) => {
    await ask(world, '/deckhand invoices october', 'admin');
    expect(await press(world, 'invoices:csv')).toContain(
      'The CSV of 4 invoices was sent to you as a direct message',
    );
    expect(files(world)[0]?.name).toBe('invoices-2026-10-01-to-2026-10-31.csv');
    expect(csvOf(world).split('\r\n')).toEqual([
      'account,number,kind,date,total,tax,currency,state,paid',
      'acme,1004,subscription,2026-10-01,49.00,8.17,USD,unpaid,',
      'globex,7,subscription,2026-10-15,1200,100,JPY,unpaid,',
      'globex,8,subscription,2026-10-16,12.345,0.345,KWD,paid,2026-10-17',
      'acme,1005,credit_note,2026-10-31,-12.00,-2.00,USD,credit note,',
      '',
    ]);
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
    const latest = await world.app.workspaces.open(TEAM).audit.latest(5);
    expect(latest.map(({ entry }) => entry)).toContainEqual(
      expect.objectContaining({ what: 'invoices csv', target: 'Invoices, October 2026' }),
    );
  });

  test('the quarter’s PDFs come one by one, each once', async ({ world }) => {
    await ask(world, '/deckhand invoices q3', 'admin');
    expect(await press(world, 'invoices:pdfs')).toContain('2 PDFs were sent to you by direct message');
    expect(files(world).map(({ name }) => name)).toEqual(['acme-invoice-1003.pdf', 'acme-invoice-1002.pdf']);
    expect(files(world).every(({ bytes }) => bytes?.subarray(0, 5).toString() === '%PDF-')).toBe(true);
  });

  test('an invoice whose number is a year comes first, from whichever account has it', async ({ world }) => {
    world.service.world.addInvoice({ account: OTHER.name, number: 2026, createdAt: at('2026-11-02') });
    expect(await ask(world, '/deckhand invoices 2026', 'admin')).toContain(
      'Invoice `2026` of `globex` was sent',
    );
    expect(await ask(world, '/deckhand invoices 8', 'admin')).toContain('Invoice `8` of `globex` was sent');
    expect(await ask(world, '/deckhand invoices 4711', 'admin')).toContain('4711');
    expect(files(world).map(({ name }) => name)).toEqual(['globex-invoice-2026.pdf', 'globex-invoice-8.pdf']);
  });

  test('a year’s CSV is sent at once, also if the first account refuses its invoices', async ({ world }) => {
    world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, billing: false });
    const answer = await ask(world, '/deckhand invoices 2026', 'admin');
    expect(answer).toContain('*1200 JPY*');
    expect(answer).toContain('`acme`: The service refused the invoices');
    expect(await ask(world, '/deckhand invoices 2026 csv', 'admin')).toContain(
      'The CSV of 2 invoices was sent',
    );
  });

  test('a credit note and an invoice of 0.00 are unpaid nowhere', async ({ world }) => {
    const answer = await ask(world, '/deckhand invoices', 'admin');
    expect(answer).toContain('7 invoices of acme, 1 unpaid');
    expect(answer).toContain('credit note');
    expect(answer).toContain('nothing to pay');
  });

  test('an account that refuses is named, and the others are summed', async ({ world }) => {
    world.service.world.updateUser({ account: OTHER.name, email: OTHER.email, billing: false });
    const answer = await ask(world, '/deckhand invoices october', 'admin');
    expect(answer).toContain('*37.00 USD*');
    expect(answer).toContain('`globex`: The service refused the invoices');
  });

  test('250 invoices fit, with all of them in the CSV and the newest 24 as PDFs', async ({ world }) => {
    for (let number = 5000; number < 5250; number += 1)
      world.service.world.addInvoice({
        account: ACCOUNT,
        number,
        total: '0.10',
        createdAt: at('2024-05-05') + number,
      });
    const answer = await ask(world, '/deckhand invoices 2024', 'admin');
    expect(answer).toContain('250 invoices, *25.00 USD*');
    expect(answer).toContain('and 190 more, which are in the CSV');
    await press(world, 'invoices:csv');
    expect(csvOf(world).split('\r\n')).toHaveLength(252);
    await ask(world, '/deckhand invoices 2024', 'admin');
    const sent = await press(world, 'invoices:pdfs');
    expect(sent).toContain('24 PDFs were sent to you');
    expect(sent).toContain('226 older PDFs were not sent');
    expect(files(world).filter(({ name }) => name.endsWith('.pdf'))).toHaveLength(24);
  });

  test('amounts in any spelling are summed or said as they are', async ({ world }) => {
    const row = {
      kind: 'subscription',
      currency: 'usd',
      vat: null,
      paid: false,
      created_at: '2026-11-03T00:00:00Z',
    };
    const totals = ['1 234.50', '$0.50', '(10.00)', '−5.00', 'about 3', 7.5];
    const body = totals.map((total, number) => ({ ...row, number, total }));
    world.service.faults.add({ path: `/${ACCOUNT}/account/invoices`, status: 200, body });
    const answer = await ask(world, '/deckhand invoices november --account acme', 'admin');
    expect(answer).toContain('*1227.50 USD*');
    expect(answer).toContain('could not be read, and are not in the sums: `4` (about 3)');
    expect(answer).toContain('about 3');
    expect(answer).toContain('-10.00 USD');
    await press(world, 'invoices:csv');
    expect(csvOf(world)).toContain('acme,4,subscription,2026-11-03,about 3,,USD,unpaid,');
  });

  test('files say what they lack', async ({ world }) => {
    const row = { kind: 'subscription', currency: 'usd', total: '5.00', vat: null, paid: false };
    const body = [
      { ...row, number: 1004, created_at: '2026-11-03T00:00:00Z' },
      { ...row, number: 'lost', created_at: '2026-11-03T00:00:00Z' },
    ];
    world.service.faults.add({ path: `/${ACCOUNT}/account/invoices`, status: 200, body });
    for (const file of ['csv', 'pdfs'])
      expect(await ask(world, `/deckhand invoices november ${file} --account acme`, 'admin')).toContain(
        '1 entry could not be read.',
      );
  });

  test('the CSV has a currency that is no code, as the service writes it', async ({ world }) => {
    const row = { kind: 'subscription', total: '5.00', vat: null, paid: false };
    const body = ['euro', 'US$', ''].map((currency, number) => ({
      ...row,
      number,
      currency,
      created_at: '2026-11-03T00:00:00Z',
    }));
    world.service.faults.add({ path: `/${ACCOUNT}/account/invoices`, status: 200, body });
    const answer = await ask(world, '/deckhand invoices november --account acme', 'admin');
    // Whatever they are, they are not the same money.
    expect(answer).not.toContain('*15.00*');
    await press(world, 'invoices:csv');
    expect(csvOf(world)).toContain('acme,0,subscription,2026-11-03,5.00,,EURO,unpaid,');
  });
});
