import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectAccount, EMAIL } from '../../support/test-world.ts';
import {
  ACCOUNT,
  CHANNEL,
  DAY,
  type DigestHouse,
  HOUR,
  openDigestHouse,
  PEOPLE,
  TEAM,
} from '../digests/digest-house.ts';

const OTHER_KEY = 'OtherKey00OtherKey00OtherKey00OtherKey00';

describe('the schedules of an account', () => {
  let house: DigestHouse;
  beforeEach(async () => {
    house = await openDigestHouse();
  });
  afterEach(() => house.stop());

  const dms = () => house.slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text);
  const states = async () =>
    (await house.app.workspaces.open(TEAM).digests.list())
      .map(({ state }) => state.kind)
      .toSorted()
      .join(' ');
  const untilStates = async (expected: string) => house.passUntil(async () => (await states()) === expected);

  async function connectOther(): Promise<void> {
    house.service.world.addAccount({
      name: 'beacon',
      users: [{ email: EMAIL, apiKey: OTHER_KEY, role: 'admin' }],
      projects: [{ name: 'Lighthouse', permalink: 'lighthouse' }],
    });
    const ann = house.as('admin');
    await ann.command(CHANNEL, '/deckhand connect');
    await house.slack.until(() => ann.openView() !== undefined);
    await ann.submit('connect', { account: 'beacon', email: EMAIL, api_key: OTHER_KEY });
  }

  it('all pause with one message when its key is revoked, and go on when it is connected again', async () => {
    for (const line of ['daily 09:00 UTC', 'daily 09:00 UTC today', 'daily 10:00 UTC'])
      await house.say(`digest add ${line}`);
    house.service.world.revokeKey({ account: ACCOUNT, email: EMAIL });
    await house.time.advance(HOUR);
    await house.slack.until(() => dms().length > 0);
    await untilStates('paused paused paused');
    await house.time.advance(2 * DAY);
    expect(dms()).toHaveLength(1);
    expect(dms()[0]).toContain('the key of the account `acme` was revoked or rotated');
    expect(dms()[0]).toContain('/deckhand connect acme');
    for (const { id } of await house.app.workspaces.open(TEAM).digests.list())
      expect(dms()[0]).toContain(`\`${id}\``);
    expect(house.posted()).toEqual([]);

    const { users } = house.service.world.state.accounts.get(ACCOUNT) ?? { users: [] };
    for (const user of users) user.apiKey = 'HouseKey00HouseKey00HouseKey00HouseKey00';
    await connectAccount(house.slack);
    await untilStates('active active active');
    await house.time.advance(DAY);
    await house.untilPosted(3);
    expect(dms()).toHaveLength(1);
  });

  it('stay paused where a person paused them', async () => {
    await house.say('digest add daily 09:00 UTC');
    await house.say('digest pause');
    await connectAccount(house.slack);
    await house.passUntil(
      async () => (await house.app.parts.engine.stats()).queues['settle-accounts']?.waiting === 0,
    );
    expect(await states()).toBe('paused');
  });

  it('end with it when it is disconnected, and come back with it', async () => {
    await house.say('digest add daily 09:00 UTC');
    const ann = house.as('admin');
    const asked = () => house.slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
    await ann.command(CHANNEL, '/deckhand disconnect acme');
    await house.slack.until(() => asked()?.text.includes('Disconnect') === true);
    await ann.click({ channel: CHANNEL, ts: asked()?.ts ?? '' }, { actionId: 'disconnect:confirm' });
    await house.slack.until(() => dms().length > 0);
    expect(dms()[0]).toContain('no account is connected any more');
    await house.time.advance(2 * DAY);
    expect(house.posted()).toEqual([]);
    await connectAccount(house.slack);
    await untilStates('active');
  });

  it('go on with the accounts that answer: one that does not shows why', async () => {
    await connectOther();
    await house.say('digest add daily 09:00 UTC');
    await house.say('digest add daily 10:00 UTC --account acme');
    house.service.world.revokeKey({ account: ACCOUNT, email: EMAIL });
    await house.time.advance(HOUR);
    await house.untilPosted(1);
    const shown = JSON.stringify(house.posted()[0]?.blocks);
    expect(shown).toContain('`acme`  :warning: The key of the account `acme` was revoked or rotated');
    expect(shown).toContain('`beacon`');
    expect(shown).toContain('*Success rate*');
    await house.slack.until(() => dms().length > 0);
    await untilStates('active paused');
    expect(dms()).toHaveLength(1);
  });

  it('are told of in their channel where the person has left', async () => {
    await house.say('digest add daily 09:00 UTC');
    house.service.world.revokeKey({ account: ACCOUNT, email: EMAIL });
    house.slack.changePerson(TEAM, PEOPLE.admin, { deleted: true });
    await house.time.advance(HOUR);
    await house.slack.until(() =>
      house.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('I paused the digest')),
    );
    expect(dms()).toEqual([]);
  });
});
