import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mentionedProjects } from '../../../src/commands/projects/mentioned-projects.ts';
import {
  ACCOUNT,
  API_KEY,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';

let house: TestWorld;
beforeEach(async () => {
  house = await openTestWorld();
});
afterEach(() => house.stop());

const roots = (channel = CHANNEL) => house.slack.messages(TEAM, channel).filter(({ bot_id: bot }) => bot);
const formOf = (who: keyof typeof PEOPLE, id: string) =>
  house.slack.until(() => {
    const view = house.as(who).openView();
    return view?.content.callback_id === id ? view : undefined;
  });
const privately = (words: string) =>
  house.slack.until(
    () => house.slack.ephemerals(TEAM, PEOPLE.member).find(({ text }) => text.includes(words)),
    { what: `"${words}" for the person alone` },
  );

describe('the shortcut "Run test access"', () => {
  it('asks in a form and shows the run in the channel that was chosen', async () => {
    await house.connect();
    const ben = house.as('member');
    await ben.shortcut('test_access');
    const view = await formOf('member', 'test');
    await ben.suggest({ viewId: view.id }, { actionId: 'project', query: 'store' });
    await ben.click({ viewId: view.id }, { actionId: 'project', selected: 'storefront' });
    await house.slack.until(() =>
      ben.openView()?.content.private_metadata?.toString().includes('storefront'),
    );
    const servers = await ben.suggest({ viewId: view.id }, { actionId: 'server', query: '' });
    const web = servers.options.find((option) => JSON.stringify(option.text).includes('web-2'));
    const server = String(web?.value);
    const answer = await ben.submit('test', { channel: 'C0BILLING', server });
    expect(answer.outcome).toBe('ok');
    await house.slack.until(() => roots('C0BILLING').at(-1)?.text.includes('1 of 1 reachable'));
    expect(ben.openView()).toBeUndefined();
  });

  it('says under the channel that it is not in it, and starts nothing', async () => {
    await house.connect();
    house.slack.kick(TEAM, 'C0BILLING', 'bot');
    const ben = house.as('member');
    await ben.shortcut('test_access');
    const view = await formOf('member', 'test');
    await ben.suggest({ viewId: view.id }, { actionId: 'project', query: '' });
    const answer = await ben.submit('test', { project: 'storefront', channel: 'C0BILLING' });
    expect(answer.errors?.channel).toContain('/invite');
    const again = await ben.submit('test', { project: 'storefront', channel: CHANNEL });
    expect(again.outcome).toBe('ok');
    await house.slack.until(() => roots().at(-1)?.text.includes('2 of 2 reachable'));
  });

  it('tells in a modal that nothing is connected yet', async () => {
    await house.as('member').shortcut('test_access');
    const view = await formOf('member', 'notice');
    expect(JSON.stringify(view.content.blocks)).toContain('No account is connected');
  });

  it('says where a run of the same goes on already', async () => {
    await house.connect();
    house.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 60_000 });
    await house.as('admin').command(CHANNEL, '/deckhand test storefront');
    await house.slack.until(() => roots().at(-1)?.text.includes('running'));
    const ben = house.as('member');
    await ben.shortcut('test_access');
    const view = await formOf('member', 'test');
    await ben.suggest({ viewId: view.id }, { actionId: 'project', query: '' });
    await ben.submit('test', { project: 'storefront', channel: 'C0BILLING' });
    const notice = await formOf('member', 'notice');
    expect(JSON.stringify(notice.content.blocks)).toContain('running already');
    expect(roots('C0BILLING')).toHaveLength(0);
  });
});

describe('the shortcut "Connect account"', () => {
  it('opens the form for an admin, and refuses anybody else in a modal', async () => {
    await house.as('admin').shortcut('connect_account');
    await formOf('admin', 'connect');
    const answer = await house
      .as('admin')
      .submit('connect', { account: ACCOUNT, email: EMAIL, api_key: API_KEY });
    expect(answer.outcome).toBe('ok');
    await house.slack.until(() => house.slack.dms(TEAM, PEOPLE.admin).at(-1)?.text.includes('Connected'));
    await house.as('member').shortcut('connect_account');
    const view = await formOf('member', 'notice');
    expect(JSON.stringify(view.content.blocks)).toContain('needs the role *admin*');
  });
});

describe('the shortcut on a message', () => {
  beforeEach(() => house.connect());

  async function on(text: string): Promise<void> {
    const { ts } = await house.as('admin').postMessage(CHANNEL, text);
    const { outcome } = await house.as('member').shortcut('test_from_message', { channel: CHANNEL, ts });
    expect(outcome).toBe('ok');
  }

  it.each([
    ['its permalink', 'is storefront down?'],
    ['its name', 'The STOREFRONT, again!'],
    [
      'a link to it',
      () => `see <${house.service.baseUrl.replace('{account}', ACCOUNT)}/projects/storefront>`,
    ],
  ])('tests the project that is named by %s', async (_, text) => {
    await on(typeof text === 'string' ? text : text());
    await house.slack.until(() => roots().at(-1)?.text.includes('2 of 2 reachable'));
    expect(roots()).toHaveLength(1);
  });

  it('asks which, where several are named, and goes on with the choice', async () => {
    await on('storefront and billing-api are both slow');
    const menu = await privately('Which project');
    await house
      .as('member')
      .click({ channel: CHANNEL, ts: menu.ts }, { actionId: 'projects:choose', selected: 'billing-api' });
    await house.slack.until(() => roots().at(-1)?.text.includes('1 of 1 reachable'));
  });

  it('opens the form where none is named, with this channel in it', async () => {
    await on('good morning');
    const view = await formOf('member', 'test');
    expect(view.values.channel?.channel).toMatchObject({ selected_conversation: CHANNEL });
  });

  it('tells the person alone where it may not post', async () => {
    const { ts } = await house.as('admin').postMessage(CHANNEL, 'storefront');
    house.slack.kick(TEAM, CHANNEL, 'bot');
    await house.as('member').shortcut('test_from_message', { channel: CHANNEL, ts });
    await privately('cannot post in this channel');
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
  it.each([
    ['shop is down', ['shop']],
    ['shop-api is down', ['shop-api']],
    ['SHOP API and the shop', ['shop', 'shop-api']],
    ['workshop, shops, shop_2', []],
    ['a day', []],
    ['twin', ['twin-1', 'twin-2']],
    ['id-shop', ['shop']],
    ['au café!', ['café']],
    ['', []],
  ])('in %j', (text, expected) => {
    expect(mentionedProjects(text, projects).map(({ permalink }) => permalink)).toEqual(expected);
  });
});
