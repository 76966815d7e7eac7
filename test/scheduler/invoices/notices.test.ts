import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
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

function lines(house: TestWorld, channel = BILLING): string[] {
  return house.slack
    .messages(TEAM, channel)
    .map(({ text }) => text)
    .filter((text) => !text.includes('This channel is told'));
}

async function begin(house: TestWorld, channel = BILLING, line = 'invoices notify here'): Promise<void> {
  const standing = () =>
    house.slack.messages(TEAM, channel).filter(({ text }) => text.includes('This channel is told')).length;
  const before = standing();
  await house.as('admin').command(channel, `/deckhand ${line}`);
  await house.slack.until(() => standing() > before, { what: 'the beginning' });
}

describe('invoice notices', () => {
  let house: TestWorld;
  beforeEach(async () => {
    house = await openTestWorld({ env: { NOTICE_INTERVAL_MS: '40' } });
    for (const channel of [CHANNEL, BILLING]) house.slack.invite(TEAM, channel, 'bot');
    await house.connect();
    setBilling(house, true);
    house.service.world.addInvoice({ account: ACCOUNT, total: '11.00' });
  });
  afterEach(() => house.stop());

  const until = (check: () => boolean, what: string) => house.slack.until(check, { what });
  const shown = (channel = BILLING) => JSON.stringify(house.slack.messages(TEAM, channel));
  const dms = () => house.slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text);

  async function looks(amount = 3): Promise<void> {
    for (let look = 0; look < amount; look += 1)
      await house.service.requests.next(({ path }) => path.endsWith('/account/invoices'));
  }

  it('tell each new invoice and each that became paid, once, and nothing of what was there', async () => {
    await begin(house);
    await looks();
    house.service.world.addInvoice({ account: ACCOUNT, number: 2001, total: '49.50', currency: 'eur' });
    house.service.world.addInvoice({ account: ACCOUNT, number: 2002, finalised: false });
    await until(() => lines(house).length > 0, 'the new one');
    house.service.world.payInvoice({ account: ACCOUNT, number: 1001 });
    await until(() => lines(house).length > 1, 'the paid one');
    await looks();
    expect(lines(house)).toEqual([
      ':page_facing_up: New invoice `2001` of `acme`: 49.50 EUR, unpaid',
      ':white_check_mark: Paid: invoice `1001` of `acme`, 11.00 USD',
    ]);
  });

  it('bring the PDF to the channel for who may see it, and to nobody else', async () => {
    await begin(house);
    house.service.world.addInvoice({ account: ACCOUNT, number: 2001 });
    await until(() => lines(house).length > 0, 'the new one');
    const ts = house.slack.messages(TEAM, BILLING).at(-1)?.ts ?? '';
    const press = (who: keyof typeof PEOPLE) =>
      house.as(who).click({ channel: BILLING, ts }, { actionId: 'invoices:pdf#2001' });
    expect(await answerTo(house, 'member', () => press('member'))).toContain('needs the role *billing*');
    expect(house.slack.files(TEAM)).toEqual([]);
    await press('admin');
    await until(() => house.slack.files(TEAM).length > 0, 'the file');
    expect(house.slack.files(TEAM)[0]?.shares).toMatchObject([{ channel: BILLING }]);
  });

  it('are for the billing role, say how they stand, and stop', async () => {
    expect(await ask(house, '/deckhand invoices notify here')).toContain('needs the role *billing*');
    expect(await ask(house, '/deckhand invoices notify', 'admin')).toContain('is told of no invoices');
    await begin(house, CHANNEL);
    const again = await ask(house, '/deckhand invoices notify here', 'admin');
    expect(again).toContain(`Set up by <@${PEOPLE.admin}>`);
    expect(again).toContain('Nothing was posted yet');
    await house.as('admin').command(CHANNEL, '/deckhand invoices notify off');
    await until(() => shown(CHANNEL).includes('stopped the invoice notices'), 'the end');
    house.service.world.addInvoice({ account: ACCOUNT, number: 2001 });
    await begin(house, BILLING);
    house.service.world.addInvoice({ account: ACCOUNT, number: 2002 });
    await until(() => shown().includes('`2002`'), 'the other channel');
    expect(shown(CHANNEL)).not.toContain('2001');
    expect(await ask(house, '/deckhand invoices notify off', 'admin')).toContain('is told of no invoices');
  });

  it('do not begin without a billing manager’s key, nor where Deckhand cannot speak', async () => {
    setBilling(house, false);
    expect(await ask(house, '/deckhand invoices notify here', 'admin')).toContain(
      'Invoices need a billing manager',
    );
    setBilling(house, true);
    house.slack.kick(TEAM, CHANNEL, 'bot');
    expect(await ask(house, '/deckhand invoices notify here', 'admin')).toContain('Invite me');
    expect(await ask(house, '/deckhand invoices notify', 'admin')).toContain('is told of no invoices');
  });

  it('pause with the reason where the service refuses, tell it once, and go on where they were', async () => {
    await begin(house);
    setBilling(house, false);
    await until(() => dms().length > 0, 'the message');
    expect(dms()[0]).toContain('invoices need a billing manager');
    expect(dms()[0]).toContain('/deckhand invoices notify here --account acme');
    house.service.world.addInvoice({ account: ACCOUNT, number: 2001 });
    setBilling(house, true);
    await begin(house, BILLING, 'invoices notify here --account acme');
    await until(() => shown().includes('`2001`'), 'what was missed');
    expect(dms()).toHaveLength(1);
  });

  it('pause where the channel is gone, and leave the others alone', async () => {
    await begin(house);
    await begin(house, CHANNEL);
    house.slack.archiveChannel(TEAM, CHANNEL);
    house.service.world.addInvoice({ account: ACCOUNT, number: 2001 });
    await until(() => dms().length > 0 && shown().includes('`2001`'), 'the message and the notice');
    expect(dms()[0]).toContain(
      `the invoice notices of \`acme\` in <#${CHANNEL}>, because the channel is archived`,
    );
    house.service.world.addInvoice({ account: ACCOUNT, number: 2002 });
    await until(() => shown().includes('`2002`'), 'the next notice');
    expect(dms()).toHaveLength(1);
  });

  it('of one account do not wait for another that fails', async () => {
    const apiKey = 'OtherKey00OtherKey00OtherKey00OtherKey00';
    house.service.world.addAccount({
      name: 'globex',
      users: [{ email: EMAIL, apiKey, role: 'admin', billing: true }],
    });
    const ann = house.as('admin');
    await ann.command(CHANNEL, '/deckhand connect');
    await until(() => ann.openView() !== undefined, 'the form');
    await ann.submit('connect', { account: 'globex', email: EMAIL, api_key: apiKey });
    await begin(house, BILLING, 'invoices notify here --account globex');
    await begin(house, BILLING, 'invoices notify here --account acme');
    house.service.faults.add({ path: '/globex/account/invoices', status: 500 });
    house.service.world.addInvoice({ account: ACCOUNT, number: 2001 });
    await until(() => shown().includes('`2001`'), 'the notice');
  });
});

describe('reminders of unpaid invoices', () => {
  let house: TestWorld;
  let time: ManualClock;
  beforeEach(async () => {
    time = createManualClock();
    house = await openTestWorld({ time });
    house.slack.invite(TEAM, BILLING, 'bot');
    await house.connect();
    setBilling(house, true);
  });
  afterEach(() => house.stop());

  /** Lets an hour after the other pass, each with its look, for so many days. */
  async function pass(days: number): Promise<void> {
    const end = time.now() + days * DAY;
    const asked = () => house.service.requests.all.filter(({ path }) => path.endsWith('/invoices')).length;
    while (time.now() < end) {
      const before = asked();
      while (asked() === before) {
        await time.advance(HOUR / 4);
        for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  it('come after 7 and after 14 days, each once, and not of what was paid', async () => {
    house.service.world.addInvoice({ account: ACCOUNT, number: 2001 });
    house.service.world.addInvoice({ account: ACCOUNT, number: 2002 });
    await begin(house);
    await pass(6.5);
    expect(lines(house)).toEqual([]);
    await pass(1);
    await house.slack.until(() => lines(house).length === 1);
    expect(lines(house)[0]?.match(/Still unpaid after 7 days: invoice `200[12]`/g)).toHaveLength(2);
    house.service.world.payInvoice({ account: ACCOUNT, number: 2002 });
    await pass(8);
    await house.slack.until(() => lines(house).length === 3);
    expect(lines(house)[1]).toContain('Paid: invoice `2002`');
    expect(lines(house)[2]).toContain('Still unpaid after 14 days: invoice `2001`');
    expect(lines(house)[2]).not.toContain('2002');
    await pass(3);
    expect(lines(house)).toHaveLength(3);
  });
});

function setBilling({ service }: TestWorld, billing: boolean): void {
  const user = service.world.state.accounts.get(ACCOUNT)?.users.find(({ email }) => email === EMAIL);
  Object.assign(user ?? {}, { billing });
}
