import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const HOUR = 3_600_000;

describe('activity', () => {
  let house: TestWorld;
  beforeEach(async () => {
    house = await openTestWorld();
    await house.connect();
    const { world } = house.service;
    const now = house.service.clock.now();
    for (let at = 0; at < 14; at += 1)
      world.addDeployment({
        account: ACCOUNT,
        project: 'storefront',
        endedAt: now - at * HOUR,
        user: `Kim ${at}`,
      });
    world.addDeployment({
      account: ACCOUNT,
      project: 'billing-api',
      succeeded: false,
      endedAt: now - 40 * 24 * HOUR,
    });
    world.addDeployment({
      account: ACCOUNT,
      project: 'billing-api',
      succeeded: false,
      endedAt: now - 8 * 24 * HOUR,
    });
  });
  afterEach(() => house.stop());

  const lastSeen = () => house.slack.ephemerals(TEAM, PEOPLE.member).at(-1);
  const click = (actionId: string) =>
    house.as('member').click({ channel: CHANNEL, ts: lastSeen()?.ts ?? '' }, { actionId });

  it('asks for the last seven days, and shows them to the asker alone, in their own zone', async () => {
    const shown = await ask(house, '/deckhand activity');
    expect(shown).toContain('Activity of `acme`, the last 7 days: 14 events');
    expect(shown).toContain('Days in America/New_York');
    expect(shown).toContain(':white_check_mark:');
    expect(house.slack.messages(TEAM, CHANNEL)).toEqual([]);
    expect(house.service.requests.all.at(-1)?.query).toEqual({ range: 'last_7_days' });
  });

  it('takes a range, figures and a project in any order', async () => {
    const shown = await ask(house, '/deckhand activity billing-api stats 30d');
    expect(shown).toContain('the last 30 days: 1 event');
    expect(shown).toContain(':x:');
    expect(shown).toContain('▲ ▼ compare with the 30 days before');
    expect(shown).toContain('*Deployments*\\n15  ▲ 14');
  });

  it('names the nearest project where there is none of that name', async () => {
    expect(await ask(house, '/deckhand activity storefrnt')).toContain('Did you mean `storefront`?');
  });

  it('turns pages in place', async () => {
    expect(await ask(house, '/deckhand activity 7d')).toContain('page 1 of 2');
    await click('activity:page#older');
    await house.slack.until(() => JSON.stringify(lastSeen()?.blocks).includes('page 2 of 2'));
    expect(JSON.stringify(lastSeen()?.blocks)).toContain('Kim 13');
    expect(house.slack.ephemerals(TEAM, PEOPLE.member)).toHaveLength(1);
  });

  it('is shared with the channel once, without its buttons', async () => {
    house.slack.invite(TEAM, CHANNEL, 'bot');
    await ask(house, '/deckhand activity today stats');
    const shared = () =>
      house.slack.messages(TEAM, CHANNEL).filter(({ text }) => text.includes('Activity of'));
    await Promise.all([click('activity:share'), click('activity:share')]);
    const read = () => JSON.stringify(house.slack.ephemerals(TEAM, PEOPLE.member));
    await house.slack.until(() => read().includes('shared with this channel'));
    await house.slack.until(() => read().includes('used already'));
    expect(shared()).toHaveLength(1);
    expect(JSON.stringify(shared()[0]?.blocks)).toContain(`shared by <@${PEOPLE.member}>`);
    expect(JSON.stringify(shared()[0]?.blocks)).not.toContain('activity:');
    const [picture] = house.slack.files(TEAM);
    expect(picture).toMatchObject({ mimetype: 'image/png', shares: [{ thread_ts: shared()[0]?.ts }] });
    expect(picture?.altText).toContain('Chart of deployments per day, acme, today.');
  });

  it('can be shared again after Slack refused', async () => {
    house.slack.kick(TEAM, CHANNEL, 'bot');
    await ask(house, '/deckhand activity');
    const card = lastSeen()?.ts ?? '';
    const press = () =>
      house.as('member').click({ channel: CHANNEL, ts: card }, { actionId: 'activity:share' });
    expect(await answerTo(house, 'member', press)).toContain('Invite me');
    house.slack.invite(TEAM, CHANNEL, 'bot');
    await press();
    await house.slack.until(() =>
      house.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('Activity of')),
    );
  });

  it.each([
    ['an older shape', { events: [], stats: { deployments: 3 } }],
    ['a list where figures were asked for', []],
    ['figures of another kind', { events: [], stats: 'many' }],
  ])('shows %s without a fault', async (_what, body) => {
    house.service.faults.add({ path: '/*/activity', status: 200, body });
    expect(await ask(house, '/deckhand activity stats')).toContain('no figures that I know how to read');
  });
});
