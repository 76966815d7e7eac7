import { describe, expect, onTestFinished, test as plain } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import {
  ACCOUNT,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';
import { dms, news, OTHER, roots, say, shown, test, untilShown } from '../channel.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const begin = (world: TestWorld, channel = OTHER) => say(world, 'invoices notify here', channel);
const lines = (world: TestWorld) => news(world, OTHER).map(({ text }) => text);

async function looks({ service }: TestWorld, amount = 3): Promise<void> {
  for (let look = 0; look < amount; look += 1)
    await service.requests.next(({ path }) => path.endsWith('/account/invoices'));
}

function setBilling({ service }: TestWorld, billing: boolean): void {
  service.world.updateUser({ account: ACCOUNT, email: EMAIL, billing });
}

describe('invoice notices', () => {
  test.beforeEach(async ({ world }) => {
    setBilling(world, true);
    world.service.world.addInvoice({ account: ACCOUNT, total: '11.00' });
  });

  test('invoice notices tell once of each new and each paid invoice, with its PDF for who may see it', async ({
    world,
  }) => {
    await begin(world);
    await looks(world);
    world.service.world.addInvoice({ account: ACCOUNT, number: 2001, total: '49.50', currency: 'eur' });
    world.service.world.addInvoice({ account: ACCOUNT, number: 2002, finalised: false });
    await world.slack.until(() => lines(world).length > 0);
    world.service.world.payInvoice({ account: ACCOUNT, number: 1001 });
    await world.slack.until(() => lines(world).length > 1);
    await looks(world);
    expect(lines(world)).toEqual([
      expect.stringContaining('New invoice 2001 of acme: 49.50 EUR, unpaid'),
      expect.stringContaining('Paid: invoice 1001 of acme, 11.00 USD'),
    ]);
    const { ts = '' } = roots(world, OTHER).find(({ text }) => text.includes('2001')) ?? {};
    const press = (who: keyof typeof PEOPLE) =>
      world.as(who).click({ channel: OTHER, ts }, { actionId: 'invoices:pdf#2001' });
    expect(await answerTo(world, 'member', () => press('member'))).toContain(
      'Only people with the billing role can see invoices',
    );
    expect(world.slack.files(TEAM)).toEqual([]);
    await press('admin');
    await world.slack.until(() => world.slack.files(TEAM).length > 0);
    // A direct message, because nobody said "here".
    expect(world.slack.files(TEAM)[0]?.shares).not.toMatchObject([{ channel: OTHER }]);
    expect(world.slack.dms(TEAM, PEOPLE.admin)).toHaveLength(1);
  });

  test('invoice notices say once that an invoice cannot be read, beside those that can', async ({
    world,
  }) => {
    await begin(world);
    const invoice = { kind: 'subscription', currency: 'eur', total: '49.50', paid: false };
    const body = ['odd', 3001].map((number) => ({
      ...invoice,
      number,
      created_at: new Date().toISOString(),
    }));
    world.service.faults.add({ path: '/acme/account/invoices', status: 200, body });
    await world.slack.until(() => lines(world).length > 0);
    await looks(world);
    expect(lines(world)).toHaveLength(1);
    expect(lines(world)[0]).toContain('3001');
    expect(shown(world, OTHER)).toMatch(/1 entry could not be read\. Reference `[0-9a-f]{8}`/);
  });

  test('invoice notices begin where Deckhand can speak with a billing manager’s key, say how they stand and stop', async ({
    world,
  }) => {
    const notify = (words: string) => ask(world, `/deckhand invoices notify ${words}`, 'admin');
    setBilling(world, false);
    expect(await notify('here')).toContain('The service refused the invoices');
    setBilling(world, true);
    world.slack.kick(TEAM, CHANNEL, 'bot');
    expect(await notify('here')).toContain('Invite it');
    expect(await notify('')).toContain('gets no invoice notices');
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await begin(world, CHANNEL);
    const again = await notify('here');
    expect(again).toContain('Set up by <@U0ANN>');
    expect(again).toContain('Nothing posted yet');
    expect(await say(world, 'invoices notify off')).toContain('Removed: the invoice notices');
    world.service.world.addInvoice({ account: ACCOUNT, number: 2001 });
    await begin(world);
    world.service.world.addInvoice({ account: ACCOUNT, number: 2002 });
    await untilShown(world, '2002', OTHER);
    expect(shown(world)).not.toContain('2001');
    expect(await notify('off')).toContain('has no invoice notices');
  });

  test('invoice notices pause with the reason where the service refuses, tell it once, and go on where they were', async ({
    world,
  }) => {
    await begin(world);
    setBilling(world, false);
    await world.slack.until(() => dms(world).length > 0);
    expect(dms(world)[0]).toContain('the service refused the invoices');
    expect(dms(world)[0]).toContain('press “Resume”');
    world.service.world.addInvoice({ account: ACCOUNT, number: 2001 });
    setBilling(world, true);
    await say(world, 'invoices notify here --account acme', OTHER);
    await untilShown(world, '2001', OTHER);
    expect(dms(world)).toHaveLength(1);
  });
});

const LOOK_MS = 6 * HOUR;

/** A world whose time a test moves, with notices in a channel. */
async function openTimed() {
  const time = createManualClock();
  const env = { NOTICE_INTERVAL_MS: String(LOOK_MS) };
  const world = await openTestWorld({ time, connected: true, env });
  onTestFinished(() => world.stop());
  world.slack.invite(TEAM, OTHER, 'bot');
  setBilling(world, true);

  /** Lets six hours after the other pass, each with its look, for so many days. */
  async function pass(days: number): Promise<void> {
    const end = time.now() + days * DAY;
    const asked = () => world.service.requests.all.filter(({ path }) => path.endsWith('/invoices')).length;
    while (time.now() < end) {
      const before = asked();
      // All that happens before the look would take most of the test's time.
      time.jump(LOOK_MS - 40 * SECOND);
      while (asked() === before) await time.advance(20 * SECOND);
    }
  }
  return { world, pass };
}

plain('a credit note and an invoice of 0.00 are told, and never reminded of', async () => {
  const { world, pass } = await openTimed();
  await begin(world);
  const more = { account: ACCOUNT, currency: 'eur' };
  world.service.world.addInvoice({ ...more, number: 3001, total: '-120.00', kind: 'credit_note' });
  world.service.world.addInvoice({ ...more, number: 3002, total: '15.00', kind: 'refund' });
  world.service.world.addInvoice({ ...more, number: 3003, total: '0.00' });
  await pass(1);
  await world.slack.until(() => lines(world).length === 1);
  expect(lines(world)[0]).toMatch(
    /^New credit note 3001 of acme: -120\.00 EUR\. Credit note of .* New credit note 3002 of acme: 15\.00 EUR\. Refund of .* New invoice 3003 of acme: 0\.00 EUR, nothing to pay\. Subscription of /,
  );
  await pass(16);
  expect(lines(world)).toHaveLength(1);
});

plain('one that was paid and is unpaid again is told, and reminded of anew', async () => {
  const { world, pass } = await openTimed();
  const { invoices = [] } = world.service.world.state.accounts.get(ACCOUNT) ?? {};
  world.service.world.addInvoice({ account: ACCOUNT, number: 3001, total: '49.00' });
  world.service.world.payInvoice({ account: ACCOUNT, number: 3001 });
  await begin(world);
  await pass(20);
  expect(lines(world)).toEqual([]);
  const [invoice] = invoices;
  if (invoice !== undefined) invoice.paidAt = null;
  await pass(1);
  await world.slack.until(() => lines(world).length === 1);
  expect(lines(world)[0]).toContain('Unpaid again: invoice 3001 of acme, 49.00 USD');
  await pass(5.5);
  expect(lines(world)).toHaveLength(1);
  await pass(1);
  await world.slack.until(() => lines(world).length === 2);
  expect(lines(world)[1]).toContain('Still unpaid after 7 days: invoice 3001');
  world.service.world.payInvoice({ account: ACCOUNT, number: 3001 });
  await pass(1);
  await world.slack.until(() => lines(world).length === 3);
  expect(lines(world)[2]).toContain('Paid: invoice 3001');
});

plain(
  'reminders of unpaid invoices come after 7 and after 14 days, each once, and not of what was paid',
  async () => {
    const { world, pass } = await openTimed();
    for (const number of [2001, 2002]) world.service.world.addInvoice({ account: ACCOUNT, number });
    await begin(world);
    await pass(6.5);
    expect(lines(world)).toEqual([]);
    await pass(1);
    await world.slack.until(() => lines(world).length === 1);
    expect(lines(world)[0]?.match(/Still unpaid after 7 days: invoice 200[12]/g)).toHaveLength(2);
    world.service.world.payInvoice({ account: ACCOUNT, number: 2002 });
    await pass(8);
    await world.slack.until(() => lines(world).length === 3);
    expect(lines(world)[1]).toContain('Paid: invoice 2002');
    expect(lines(world)[2]).toContain('Still unpaid after 14 days: invoice 2001');
    expect(lines(world)[2]).not.toContain('2002');
    await pass(3);
    expect(lines(world)).toHaveLength(3);
  },
);
