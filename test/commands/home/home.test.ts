import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

let house: TestWorld;
beforeEach(async () => {
  house = await openTestWorld();
});
afterEach(() => house.stop());

const shown = (who: keyof typeof PEOPLE = 'member') =>
  JSON.stringify(house.slack.home(TEAM, PEOPLE[who])?.content.blocks ?? []);
const shows = (words: string, who: keyof typeof PEOPLE = 'member') =>
  house.slack.until(() => shown(who).includes(words), { what: `"${words}" on App Home`, timeoutMs: 20_000 });
const published = () => house.slack.calls.filter(({ method }) => method === 'views.publish');

describe('App Home', () => {
  it('tells the first steps where nothing is connected, and changes by itself once something is', async () => {
    await house.as('member').openHome();
    await shows('Ask an admin to connect');
    await house.as('admin').openHome();
    await shows('connect:open', 'admin');
    await house.connect();
    await shows('*acme*');
    await shows('works', 'admin');
    await shows('Connect accounts and give roles', 'admin');
  });

  it('shows the week’s figures after what is known at once, however slow the service is', async () => {
    await house.connect();
    house.service.faults.add({ path: `/${ACCOUNT}/activity`, delayMs: 1_500, times: 1 });
    await house.as('member').openHome();
    await shows('figures are on their way');
    await shows('*Success rate*');
    const hashes = published().map(({ args }) => args.hash);
    expect(hashes[0]).toBeUndefined();
    expect(hashes[1]).toEqual(expect.any(String));
  });

  it('says why figures are missing, and shows a connection that broke', async () => {
    await house.connect();
    house.service.faults.add({ path: `/${ACCOUNT}/activity`, status: 401 });
    await house.as('admin').openHome();
    await shows('was revoked or rotated', 'admin');
    await shows('Connect again', 'admin');
  });

  it('follows test runs: running, then ended, with a link to the message', async () => {
    await house.connect();
    house.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 60_000 });
    await house.as('member').openHome();
    await shows('Nothing was tested yet');
    await house.as('member').command(CHANNEL, '/deckhand test storefront');
    await shows('running since');
    await shows('2 of 2 reachable');
    expect(shown()).toMatch(/<https?:[^|]+\|show>/);
  });

  it('pauses and resumes a digest', async () => {
    await house.connect();
    await house.as('admin').command(CHANNEL, '/deckhand digest add daily 09:00 UTC');
    await house.as('admin').openHome();
    await shows('digest:pause', 'admin');
    const click = (actionId: string) => {
      const viewId = house.slack.home(TEAM, PEOPLE.admin)?.id ?? '';
      return house.as('admin').click({ viewId }, { actionId });
    };
    await click('digest:pause');
    await shows('digest:resume', 'admin');
    await click('digest:resume');
    await shows('digest:pause', 'admin');
  });

  it('pauses and resumes invoice notices, which the channel is told again from there', async () => {
    const users = house.service.world.state.accounts.get(ACCOUNT)?.users ?? [];
    for (const user of users) user.billing = true;
    await house.connect();
    house.slack.invite(TEAM, CHANNEL, 'bot');
    await house.as('admin').command(CHANNEL, '/deckhand invoices notify here');
    await house.as('admin').openHome();
    await shows('invoices:pause', 'admin');
    const click = (actionId: string) => {
      const viewId = house.slack.home(TEAM, PEOPLE.admin)?.id ?? '';
      return house.as('admin').click({ viewId }, { actionId });
    };
    await click('invoices:pause');
    await shows('paused, because somebody paused it', 'admin');
    await shows('invoices:resume', 'admin');
    await click('invoices:resume');
    await shows('invoices:pause', 'admin');
    const said = () => house.slack.messages(TEAM, CHANNEL).map(({ text }) => text);
    expect(said().filter((text) => text.includes('is told again of invoices'))).toHaveLength(1);
  });

  it('opens the test form from its button', async () => {
    await house.connect();
    await house.as('member').openHome();
    await shows('test:open');
    const viewId = house.slack.home(TEAM, PEOPLE.member)?.id ?? '';
    await house.as('member').click({ viewId }, { actionId: 'test:open' });
    await house.slack.until(() => house.as('member').openView()?.content.callback_id === 'test');
  });

  it('takes the newer view where Slack shows another version than it knows', async () => {
    await house.as('member').openHome();
    await shows('Welcome aboard');
    house.slack.fault({ method: 'views.publish', error: 'hash_conflict', times: 1 });
    await house.connect();
    await shows('*acme*');
    const [refused, taken] = published().slice(-2);
    expect(refused?.args.hash).toEqual(expect.any(String));
    expect(taken?.args.hash).toBeUndefined();
  });

  it('is published a few times only, however much happens at once', async () => {
    await house.connect();
    await house.as('member').openHome();
    await shows('*Success rate*');
    const before = published().length;
    const { home } = house.app.workspaces.open(TEAM);
    await Promise.all(Array.from({ length: 50 }, () => home.refresh()));
    await house.slack.until(() => published().length > before, { timeoutMs: 20_000 });
    expect(published().length).toBe(before + 1);
  });

  it('leaves those alone who look at the messages tab, and gives up where Slack shows no home', async () => {
    const event = { type: 'app_home_opened', user: PEOPLE.member, channel: 'D1' };
    await house.slack.sendEvent(TEAM, { ...event, tab: 'messages' });
    house.slack.fault({ method: 'views.publish', error: 'not_enabled', times: 1 });
    await house.slack.sendEvent(TEAM, { ...event, tab: 'home' });
    await house.logged('home_refused');
    expect(published()).toHaveLength(1);
  });
});
