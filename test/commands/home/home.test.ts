import { describe, expect } from 'vitest';
import { episodeRecords, subjectKey } from '../../../src/records/episodes.ts';
import { withOutcomes } from '../../../src/records/outcomes.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { fastClock } from '../../support/faults.ts';
import { test as base } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const test = base.extend('worldOptions', () => ({
  clock: fastClock(10),
  serviceTimeoutMs: 600_000,
  env: { POLL_INTERVAL_MS: '400' },
}));

/** App Home, with the names of projects and servers in place of the links to their pages. */
const shown = (world: TestWorld, who: keyof typeof PEOPLE = 'member') =>
  JSON.stringify(world.slack.home(TEAM, PEOPLE[who])?.content.blocks ?? []).replace(
    /<http[^|>]+\|(\*[^*]+\*)>/g,
    '$1',
  );
const shows = (world: TestWorld, words: string, who: keyof typeof PEOPLE = 'member') =>
  world.slack.until(() => shown(world, who).includes(words), { what: `"${words}" on App Home` });
/** The menus of the schedules, as an admin sees them. */
const menus = (world: TestWorld) => {
  const { content } = world.slack.home(TEAM, PEOPLE.admin) ?? {};
  const blocks = (content?.blocks ?? []) as Array<{ accessory?: { type: string } }>;
  const found = blocks.filter(({ accessory }) => accessory?.type === 'overflow');
  return found.map(({ accessory }) => accessory as unknown as Menu);
};
interface Menu {
  action_id: string;
  options: Array<{ text: { text: string }; value: string }>;
}
const choose = (world: TestWorld, label: string) => {
  const [menu] = menus(world);
  const selected = menu?.options.find(({ text }) => text.text === label)?.value ?? '';
  const viewId = world.slack.home(TEAM, PEOPLE.admin)?.id ?? '';
  return world.as('admin').click({ viewId }, { actionId: menu?.action_id ?? '', selected });
};
/** The direct messages of a person with Deckhand. */
const directChannel = (world: TestWorld, who: keyof typeof PEOPLE) =>
  world.app.workspaces.open(TEAM).slack.openDirect(PEOPLE[who]);
const published = (world: TestWorld) => world.slack.calls.filter(({ method }) => method === 'views.publish');

describe('App Home before an account is connected', () => {
  test('tells the first steps where nothing is connected, and changes by itself once something is', async ({
    world,
  }) => {
    await world.as('member').openHome();
    await shows(world, 'Ask an admin to connect');
    await world.as('admin').openHome();
    await shows(world, 'connect:open', 'admin');
    await world.connect();
    await shows(world, '*acme*');
    await shows(world, 'works', 'admin');
    await shows(world, 'Connect accounts and give roles', 'admin');
  });

  test('takes the newer view where Slack shows another version than it knows', async ({ world }) => {
    await world.as('member').openHome();
    await shows(world, 'Welcome aboard');
    world.slack.fault({ method: 'views.publish', error: 'hash_conflict', times: 1 });
    await world.connect();
    await shows(world, '*acme*');
    const [refused, taken] = published(world).slice(-2);
    expect(refused?.args.hash).toEqual(expect.any(String));
    expect(taken?.args.hash).toBeUndefined();
  });

  test('leaves those alone who look at the messages tab, and gives up where Slack shows no home', async ({
    world,
  }) => {
    const event = { type: 'app_home_opened', user: PEOPLE.member, channel: 'D1' };
    await world.slack.sendEvent(TEAM, { ...event, tab: 'messages' });
    world.slack.fault({ method: 'views.publish', error: 'not_enabled', times: 1 });
    await world.slack.sendEvent(TEAM, { ...event, tab: 'home' });
    await world.logged('home_refused');
    expect(published(world)).toHaveLength(1);
  });
});

describe('App Home', () => {
  test.override({ connected: true });

  test('shows figures after what is known at once, however slow the service is', async ({ world }) => {
    world.service.faults.add({ path: `/${ACCOUNT}/activity`, delayMs: 500, times: 1 });
    await world.as('member').openHome();
    await shows(world, 'Loading the figures of the last 7 days');
    await shows(world, '*Success rate*');
    const hashes = published(world).map(({ args }) => args.hash);
    expect(hashes[0]).toBeUndefined();
    expect(hashes[1]).toEqual(expect.any(String));
  });

  test('shows the newest result of each server', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    const server = { account: ACCOUNT, project: 'storefront', server: 'web-1' };
    const whole = '*Storefront* in `acme`: ';
    const direct = await directChannel(world, 'member');
    const outcome = (status: 'ok' | 'error') =>
      world.service.world.setOutcome({ ...server, status, message: 'Connection refused' });
    const run = (words: string, channel = CHANNEL) =>
      world.as('member').command(channel, `/deckhand test storefront${words}`);
    await world.as('member').openHome();
    await shows(world, 'No test runs yet');
    outcome('error');
    await run(' web-1');
    await shows(world, '*web-1* in *Storefront* in `acme`: :warning: unreachable');
    const blocks = JSON.stringify(world.slack.home(TEAM, PEOPLE.member)?.content.blocks);
    expect(blocks).toContain('/projects/storefront|*Storefront*> in `acme`: :warning: unreachable');
    expect(blocks).toMatch(/projects\/storefront\/servers\/[^|]+\|\*web-1\*> in/);
    await run('');
    await shows(world, `${whole}:warning: 1 of 2 servers is unreachable`);
    expect(shown(world)).not.toContain('*web-1* in');
    expect(shown(world)).toMatch(/<https?:[^|]+\|show>/);
    outcome('ok');
    // What a direct message tells is its own person's alone.
    await run(' web-1', direct);
    await shows(world, '*web-1* in *Storefront* in `acme`: :white_check_mark: reachable');
    expect(shown(world)).toContain(`${whole}:warning: 1 of 2 servers is unreachable`);
    await run(' web-1');
    await shows(world, `${whole}:white_check_mark: both servers are reachable`);
    world.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 60_000 });
    await run('');
    await shows(world, 'running since');
  });

  test('shows the week’s deployments as a chart, or in words where Slack refused it once', async ({
    world,
  }) => {
    world.service.world.addDeployment({
      account: ACCOUNT,
      project: 'storefront',
      succeeded: false,
      endedAt: world.service.clock.now(),
    });
    await world.as('billing').openHome();
    await shows(world, '"type":"data_visualization"', 'billing');
    expect(shown(world, 'billing')).toContain('"name":"Failed"');
    const allow = world.slack.policy(TEAM, { refusedBlocks: ['data_visualization'] });
    await world.as('member').openHome();
    await shows(world, '▇ 1 failed');
    allow();
    expect(await ask(world, '/deckhand activity 7d stats')).toContain('data_visualization');
    await world.as('admin').openHome();
    await shows(world, '▇ 1 failed', 'admin');
    expect(published(world).filter(({ error }) => error !== undefined)).toHaveLength(1);
  });

  test('edits, pauses, resumes and removes a digest by one menu, which its channel is told', async ({
    world,
  }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await world.as('admin').command(CHANNEL, '/deckhand digest add daily 09:00 UTC');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length > 0, { what: 'the digest' });
    await world.as('admin').openHome();
    await shows(world, '"Pause"', 'admin');
    const labels = menus(world).map(({ options }) => options.map(({ text }) => text.text));
    expect(labels).toEqual([['Pause', 'Edit', 'Preview', 'Remove']]);
    await choose(world, 'Pause');
    await shows(world, `Paused by <@${PEOPLE.admin}>.`, 'admin');
    await choose(world, 'Resume');
    await shows(world, '"Pause"', 'admin');
    const [card] = world.slack.messages(TEAM, CHANNEL);
    const lines = () => world.slack.thread(TEAM, CHANNEL, card?.ts ?? '').map(({ text }) => text);
    await world.slack.until(() => lines().filter((text) => text.includes('resumed the digest')).length === 1);
    await choose(world, 'Edit');
    await world.slack.until(() => world.as('admin').openView()?.content.callback_id === 'digest.edit');
    await choose(world, 'Remove');
    await world.slack.until(() => world.as('admin').openView()?.content.callback_id === 'digest.remove');
    await world.as('admin').submit('digest.remove');
    await shows(world, 'No schedules yet', 'admin');
    const own = () => JSON.stringify(world.slack.dms(TEAM, PEOPLE.admin).at(-1)?.blocks);
    await world.slack.until(() => own().includes('digest:undo'), { what: 'Undo in the direct message' });
    expect(world.slack.messages(TEAM, CHANNEL).map(({ ts }) => ts)).toEqual([card?.ts]);
  });

  test('shows what is in a direct message, and invoice notices, to those alone whom they concern', async ({
    world,
  }) => {
    const ann = { channel: await directChannel(world, 'admin') };
    for (const user of world.service.world.state.accounts.get(ACCOUNT)?.users ?? []) user.billing = true;
    world.slack.invite(TEAM, 'C0BILLING', 'bot');
    const admin = world.as('admin');
    await admin.command(ann.channel, '/deckhand test billing-api');
    await admin.command(ann.channel, '/deckhand watch storefront failures');
    await admin.command(ann.channel, '/deckhand digest add daily 09:00 UTC');
    for (const line of ['invoices notify here', 'digest add daily 10:00 UTC'])
      await answerTo(world, 'admin', () => admin.command('C0BILLING', `/deckhand ${line}`));
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await admin.openHome();
    for (const words of ['*Billing API*', '*Watch* of', '09:00', '10:00', '*Invoice notices*'])
      await shows(world, words, 'admin');
    expect(shown(world, 'admin')).toContain('by direct message');
    // By kind, and the oldest of a kind first.
    expect(shown(world, 'admin')).toMatch(/09:00.*10:00.*\*Watch\*.*\*Invoice notices\*/);

    await world.as('member').openHome();
    await shows(world, '*Storefront* in');
    await shows(world, '10:00');
    for (const words of ['Billing API', '*Watch*', '09:00', 'Invoice notices', ann.channel])
      expect(shown(world)).not.toContain(words);
    const listed = () => ask(world, '/deckhand digest list all', 'billing');
    await world.app.workspaces.open(TEAM).roles.give(PEOPLE.billing, 'operator', PEOPLE.admin);
    expect(await listed()).not.toContain('09:00');
    expect(await ask(world, '/deckhand digest list all', 'admin')).toContain('09:00');
  });

  test('begins with what fails now and who is on it, and says why figures are missing', async ({ world }) => {
    world.service.faults.add({ path: `/${ACCOUNT}/activity`, status: 403, body: {} });
    world.slack.invite(TEAM, CHANNEL, 'bot');
    const { store } = world.app.workspaces.open(TEAM);
    const subject = {
      kind: 'deployments',
      channel: CHANNEL,
      account: ACCOUNT,
      project: 'p',
      name: 'Shop',
    } as const;
    const failure = { kind: 'failure' as const, id: 'f1', at: Date.now(), lines: ['failed'] };
    const failing = withOutcomes({ subject, counted: [], episodes: [] }, [failure], Date.now());
    const episodes = failing.episodes.map((episode) => ({ ...episode, owner: PEOPLE.billing }));
    await episodeRecords(store).put(subjectKey(subject), { ...failing, episodes });
    await world.as('member').openHome();
    await shows(world, `<@${PEOPLE.billing}> is on it`);
    expect(shown(world)).toMatch(/^\[\{"type":"header","text":\{"type":"plain_text","text":"Failing now"/);
    await shows(world, 'lacks the permission');
  });

  test('opens the test form, and is published a few times only, however much happens', async ({ world }) => {
    await world.as('member').openHome();
    await shows(world, '*Success rate*');
    const viewId = world.slack.home(TEAM, PEOPLE.member)?.id ?? '';
    await world.as('member').click({ viewId }, { actionId: 'test:open' });
    await world.slack.until(() => world.as('member').openView()?.content.callback_id === 'test');
    const before = published(world).length;
    const { home } = world.app.workspaces.open(TEAM);
    const refreshes = async () => (await world.app.parts.engine.stats())['refresh-home'];
    await Promise.all(Array.from({ length: 50 }, () => home.refresh()));
    // Also one after the other.
    for (let change = 0; change < 10; change += 1) await home.refresh();
    await expect.poll(refreshes).toMatchObject({ waiting: 0, later: 0, running: 0 });
    expect(published(world).length).toBeGreaterThan(before);
    // A slow machine may take longer for the changes than until a refresh.
    expect(published(world).length).toBeLessThan(before + 6);
  });
});

describe('the last deployments on App Home', () => {
  test.override({ connected: true });

  test('are there after a week without any', async ({ world }) => {
    const endedAt = Date.now() - 20 * 86_400_000;
    const deployment = { account: ACCOUNT, project: 'storefront', user: 'Kim', endRef: 'abc1234', endedAt };
    world.service.world.addDeployment(deployment);
    await ask(world, '/deckhand activity 30d');
    await world.as('member').openHome();
    await shows(world, 'abc1234');
  });
});
