import { afterEach, beforeEach, describe, expect } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import {
  ACCOUNT,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';

const BILLING = 'C0BILLING';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function lines(world: TestWorld, channel = BILLING): string[] {
  return world.slack
    .messages(TEAM, channel)
    .map(({ text }) => text)
    .filter((text) => !/the invoice notices of|now hears/.test(text));
}

async function begin(world: TestWorld, channel = BILLING, line = 'invoices notify here'): Promise<void> {
  const existing = () =>
    world.slack.messages(TEAM, channel).filter(({ text }) => /the invoice notices of|now hears/.test(text))
      .length;
  const before = existing();
  await world.as('admin').command(channel, `/deckhand ${line}`);
  await world.slack.until(() => existing() > before, { what: 'the beginning' });
}

describe('invoice notices', () => {
  test.override({ worldOptions: { env: { NOTICE_INTERVAL_MS: '40' } }, connected: true });
  test.beforeEach(async ({ world }) => {
    for (const channel of [CHANNEL, BILLING]) world.slack.invite(TEAM, channel, 'bot');
    setBilling(world, true);
    world.service.world.addInvoice({ account: ACCOUNT, total: '11.00' });
  });

  const until = (world: TestWorld, check: () => boolean, what: string) => world.slack.until(check, { what });
  const shown = (world: TestWorld, channel = BILLING) => JSON.stringify(world.slack.messages(TEAM, channel));
  const dms = (world: TestWorld) => world.slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text);

  async function looks(world: TestWorld, amount = 3): Promise<void> {
    for (let look = 0; look < amount; look += 1)
      await world.service.requests.next(({ path }) => path.endsWith('/account/invoices'));
  }

  test('invoice notices tell once of each new and each paid invoice, with its PDF for who may see it', async ({
    world,
  }) => {
    await begin(world);
    await looks(world);
    world.service.world.addInvoice({ account: ACCOUNT, number: 2001, total: '49.50', currency: 'eur' });
    world.service.world.addInvoice({ account: ACCOUNT, number: 2002, finalised: false });
    await until(world, () => lines(world).length > 0, 'the new one');
    world.service.world.payInvoice({ account: ACCOUNT, number: 1001 });
    await until(world, () => lines(world).length > 1, 'the paid one');
    await looks(world);
    expect(lines(world)).toEqual([
      ':page_facing_up: New invoice `2001` of `acme`: 49.50 EUR, unpaid',
      ':white_check_mark: Paid: invoice `1001` of `acme`, 11.00 USD',
    ]);
    const notice = world.slack.messages(TEAM, BILLING).find(({ text }) => text.includes('`2001`'));
    const press = (who: keyof typeof PEOPLE) =>
      world.as(who).click({ channel: BILLING, ts: notice?.ts ?? '' }, { actionId: 'invoices:pdf#2001' });
    expect(await answerTo(world, 'member', () => press('member'))).toContain(
      'Only people with the billing role can see invoices',
    );
    expect(world.slack.files(TEAM)).toEqual([]);
    await press('admin');
    await until(world, () => world.slack.files(TEAM).length > 0, 'the file');
    expect(world.slack.files(TEAM)[0]?.shares).toMatchObject([{ channel: BILLING }]);
  });

  test('invoice notices say once that an invoice cannot be read, beside those that can', async ({
    world,
  }) => {
    await begin(world);
    const invoice = (number: unknown) => ({
      number,
      kind: 'subscription',
      currency: 'eur',
      total: '49.50',
      paid: false,
      created_at: new Date().toISOString(),
    });
    const body = [invoice('odd'), invoice(3001)];
    world.service.faults.add({ path: '/acme/account/invoices', status: 200, body });
    await until(world, () => lines(world).length > 0, 'the new one');
    await looks(world);
    expect(lines(world)).toHaveLength(1);
    expect(lines(world)[0]).toContain('`3001`');
    expect(shown(world)).toMatch(/1 entry could not be read\. Reference `[0-9a-f]{8}`/);
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
    expect(again).toContain(`Set up by <@${PEOPLE.admin}>`);
    expect(again).toContain('Nothing posted yet');
    await world.as('admin').command(CHANNEL, '/deckhand invoices notify off');
    await until(world, () => shown(world, CHANNEL).includes('removed the invoice notices'), 'the end');
    world.service.world.addInvoice({ account: ACCOUNT, number: 2001 });
    await begin(world, BILLING);
    world.service.world.addInvoice({ account: ACCOUNT, number: 2002 });
    await until(world, () => shown(world).includes('`2002`'), 'the other channel');
    expect(shown(world, CHANNEL)).not.toContain('2001');
    expect(await notify('off')).toContain('has no invoice notices');
  });

  test('invoice notices pause with the reason where the service refuses, tell it once, and go on where they were', async ({
    world,
  }) => {
    await begin(world);
    setBilling(world, false);
    await until(world, () => dms(world).length > 0, 'the message');
    expect(dms(world)[0]).toContain('the service refused the invoices');
    expect(dms(world)[0]).toContain('press “Resume”');
    world.service.world.addInvoice({ account: ACCOUNT, number: 2001 });
    setBilling(world, true);
    await begin(world, BILLING, 'invoices notify here --account acme');
    await until(world, () => shown(world).includes('`2001`'), 'what was missed');
    expect(dms(world)).toHaveLength(1);
  });
});

describe('reminders of unpaid invoices', () => {
  let world: TestWorld;
  let time: ManualClock;
  beforeEach(async () => {
    time = createManualClock();
    world = await openTestWorld({ time, connected: true, env: { NOTICE_INTERVAL_MS: String(6 * HOUR) } });
    world.slack.invite(TEAM, BILLING, 'bot');
    setBilling(world, true);
  });
  afterEach(() => world.stop());

  /** Lets six hours after the other pass, each with its look, for so many days. */
  async function pass(days: number): Promise<void> {
    const end = time.now() + days * DAY;
    const asked = () => world.service.requests.all.filter(({ path }) => path.endsWith('/invoices')).length;
    while (time.now() < end) {
      const before = asked();
      while (asked() === before) {
        await time.advance(HOUR);
        for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  test('reminders of unpaid invoices come after 7 and after 14 days, each once, and not of what was paid', async () => {
    world.service.world.addInvoice({ account: ACCOUNT, number: 2001 });
    world.service.world.addInvoice({ account: ACCOUNT, number: 2002 });
    await begin(world);
    await pass(6.5);
    expect(lines(world)).toEqual([]);
    await pass(1);
    await world.slack.until(() => lines(world).length === 1);
    expect(lines(world)[0]?.match(/Still unpaid after 7 days: invoice `200[12]`/g)).toHaveLength(2);
    world.service.world.payInvoice({ account: ACCOUNT, number: 2002 });
    await pass(8);
    await world.slack.until(() => lines(world).length === 3);
    expect(lines(world)[1]).toContain('Paid: invoice `2002`');
    expect(lines(world)[2]).toContain('Still unpaid after 14 days: invoice `2001`');
    expect(lines(world)[2]).not.toContain('2002');
    await pass(3);
    expect(lines(world)).toHaveLength(3);
  });
});

function setBilling({ service }: TestWorld, billing: boolean): void {
  const user = service.world.state.accounts.get(ACCOUNT)?.users.find(({ email }) => email === EMAIL);
  Object.assign(user ?? {}, { billing });
}
