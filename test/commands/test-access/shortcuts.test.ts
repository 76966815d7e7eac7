import { describe, expect } from 'vitest';
import { filterMentioned } from '../../../src/commands/test-access/test.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, API_KEY, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const roots = (world: TestWorld, channel = CHANNEL) =>
  world.slack.messages(TEAM, channel).filter(({ bot_id: bot }) => bot);
const formOf = (world: TestWorld, who: keyof typeof PEOPLE, id: string) =>
  world.slack.until(() => {
    const view = world.as(who).openView();
    return view?.content.callback_id === id ? view : undefined;
  });
const privately = (world: TestWorld, words: string) =>
  world.slack.until(
    () => world.slack.ephemerals(TEAM, PEOPLE.member).find(({ text }) => text.includes(words)),
    { what: `"${words}" for the person alone` },
  );

describe('the shortcut "Test access"', () => {
  test.override({ connected: true });

  test('asks in a form, which says where Deckhand has to be invited, and shows the run in the channel that was chosen', async ({
    world,
  }) => {
    world.slack.kick(TEAM, 'C0BILLING', 'bot');
    world.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 60_000 });
    const ben = world.as('member');
    const open = async () => {
      await ben.shortcut('test_access');
      const view = await formOf(world, 'member', 'test');
      await ben.suggest({ viewId: view.id }, { actionId: 'project', query: 'store' });
      await ben.click({ viewId: view.id }, { actionId: 'project', selected: 'storefront' });
      await world.slack.until(() =>
        ben.openView()?.content.private_metadata?.toString().includes('storefront'),
      );
      return view;
    };
    const view = await open();
    const servers = await ben.suggest({ viewId: view.id }, { actionId: 'server', query: '' });
    const web = servers.options.find((option) => JSON.stringify(option.text).includes('web-2'));
    const values = { channel: 'C0BILLING', server: String(web?.value) };
    expect((await ben.submit('test', values)).errors?.channel).toContain('/invite');
    world.slack.invite(TEAM, 'C0BILLING', 'bot');
    expect((await ben.submit('test', values)).outcome).toBe('ok');
    await world.slack.until(() =>
      roots(world, 'C0BILLING').at(-1)?.text.includes('Testing access to web-2 in Storefront'),
    );
    expect(ben.openView()).toBeUndefined();
    const { id } = await open();
    await ben.suggest({ viewId: id }, { actionId: 'server', query: '' });
    await ben.submit('test', { ...values, channel: CHANNEL });
    const notice = await formOf(world, 'member', 'notice');
    expect(JSON.stringify(notice.content.blocks)).toContain('running already');
    expect(roots(world)).toEqual([]);
  });
});

describe('the shortcut "Connect account"', () => {
  test('opens the form for an admin, and for a key of one’s own once there is an account', async ({
    world,
  }) => {
    await world.as('member').shortcut('connect_account');
    const view = await formOf(world, 'member', 'notice');
    expect(JSON.stringify(view.content.blocks)).toContain('Only admins can use');
    await world.as('admin').shortcut('connect_account');
    await formOf(world, 'admin', 'connect');
    const answer = await world
      .as('admin')
      .submit('connect', { account: ACCOUNT, email: EMAIL, api_key: API_KEY });
    expect(answer.outcome).toBe('ok');
    await world.slack.until(() => world.slack.dms(TEAM, PEOPLE.admin).at(-1)?.text.includes('Connected'));
    await world.as('member').shortcut('connect_account');
    await formOf(world, 'member', 'connect');
  });
});

describe('the shortcut on a message', () => {
  test.override({ connected: true });

  async function on(world: TestWorld, text: string): Promise<void> {
    const { ts } = await world.as('admin').postMessage(CHANNEL, text);
    const { outcome } = await world.as('member').shortcut('test_from_message', { channel: CHANNEL, ts });
    expect(outcome).toBe('ok');
  }

  test('tests the project that a link leads to, asks which of several named ones, and else opens the form', async ({
    world,
  }) => {
    await on(world, `see <${world.service.baseUrl.replace('{account}', ACCOUNT)}/projects/storefront>`);
    await world.slack.until(() => roots(world).at(-1)?.text.includes('both servers are reachable'));
    await on(world, 'storefront and billing-api are both slow');
    const menu = await privately(world, 'Which project');
    await world
      .as('member')
      .click({ channel: CHANNEL, ts: menu.ts }, { actionId: 'projects:choose', selected: 'billing-api' });
    await world.slack.until(() => roots(world).at(-1)?.text.includes('the server is reachable'));
    await on(world, 'good morning');
    const view = await formOf(world, 'member', 'test');
    expect(view.values.channel?.channel).toMatchObject({ selected_conversation: CHANNEL });
  });
});

describe('the projects that a text speaks of', () => {
  const project = (permalink: string, name = permalink, identifier = `id-${permalink}`) => ({
    name,
    permalink,
    identifier,
    last_deployed_at: null,
    starred: false,
  });
  const projects = [
    project('shop', 'The Shop'),
    project('shop-api', 'Shop API'),
    project('a', 'A'),
    project('twin-1', 'Twin'),
    project('twin-2', 'Twin'),
    project('café', 'Café'),
  ];
  test.each([
    ['SHOP API and the shop', ['shop', 'shop-api']],
    ['workshop, shops, shop_2', []],
    ['twin', ['twin-1', 'twin-2']],
    ['id-shop', ['shop']],
    ['au café!', ['café']],
  ])('in %j', async (text, expected) => {
    const mentioned = await filterMentioned(text, projects);
    expect(mentioned.map(({ permalink }) => permalink)).toEqual(expected);
  });
});
