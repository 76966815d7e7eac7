import { describe, expect } from 'vitest';
import { answerTo, ask } from '../support/asking.ts';
import { test } from '../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const MANY = Array.from({ length: 130 }, (_, at) => ({
  name: `Shop ${at}`,
  permalink: `shop-${at}`,
  servers: [],
}));

type Who = keyof typeof PEOPLE;

/** The latest message that only this person sees. */
function latest({ slack }: TestWorld, who: Who) {
  const { channel = '', ts = '' } =
    slack.ephemerals(TEAM, PEOPLE[who]).findLast(({ text }) => !/^Connected .+ with /.test(text)) ?? {};
  return { channel, ts };
}
const look = (world: TestWorld, who: Who, actionId: string, query: string) =>
  world.as(who).suggest(latest(world, who), { actionId, query });
const choose = (world: TestWorld, who: Who, actionId: string, selected: string) =>
  world.as(who).click(latest(world, who), { actionId, selected });
const texts = ({ slack }: TestWorld) => slack.ephemerals(TEAM, PEOPLE.member).map(({ text }) => text);

describe('menus of many projects', () => {
  test.override({ connected: true, worldOptions: { projects: MANY } });

  test('are searched, for one request of the service, and run what was typed', async ({ world }) => {
    await ask(world, '/deckhand test');
    world.service.requests.clear();
    for (const query of ['s', 'sh', 'sho', 'shop']) await look(world, 'member', 'projects:choose', query);
    expect(world.service.requests.all).toEqual([]);
    const menu = await look(world, 'member', 'projects:choose', 'shop 12');
    const others = Array.from({ length: 10 }, (_, at) => `shop-12${at}`);
    expect(menu.options.map(({ value }) => value)).toEqual(['shop-12', ...others]);
    await choose(world, 'member', 'projects:choose', 'shop-12');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length > 0);
    expect(world.slack.messages(TEAM, CHANNEL)[0]?.text).toContain('Shop 12');
  });

  test('are lists of pages', async ({ world }) => {
    expect(await ask(world, '/deckhand projects')).toContain('1 to 20 of');
    const seen = () => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.member).at(-1)?.blocks);
    const last = Math.ceil(MANY.length / 20);
    for (let page = 1; page < last; page += 1) {
      await world.as('member').click(latest(world, 'member'), { actionId: `projects:page#${page}` });
      await world.slack.until(() => seen().includes(`${page * 20 + 1} to`), { what: `page ${page}` });
    }
    expect(seen()).toContain('Previous');
    expect(seen()).not.toContain('Next');
  });
});

describe('menus in place of identifiers', () => {
  test.override({ connected: true });

  test('ask which project and which server is to be shown, and go away once it is', async ({ world }) => {
    expect(await ask(world, '/deckhand server show')).toContain('Which project');
    const asked = await answerTo(world, 'member', () =>
      choose(world, 'member', 'projects:choose', 'storefront'),
    );
    expect(asked).toContain('Which server do you mean?');
    const isGone = (question: string) => !texts(world).join().includes(question);
    await world.slack.until(() => isGone('Which project'), { what: 'the end of the first question' });
    const menu = await look(world, 'member', 'server', 'web-2');
    expect(menu.options.map(({ text }) => text)).toEqual([expect.objectContaining({ text: 'web-2' })]);
    const value = String(menu.options[0]?.value);
    const shown = await answerTo(world, 'member', () => choose(world, 'member', 'server', value));
    expect(shown).toContain('*web-2*');
    await world.slack.until(() => isGone('Which server'), { what: 'the end of the second question' });
  });

  test('stay where the choice could not be carried out', async ({ world }) => {
    await ask(world, '/deckhand test');
    world.slack.kick(TEAM, CHANNEL, 'bot');
    await choose(world, 'member', 'projects:choose', 'storefront');
    await world.slack.until(() => texts(world).some((text) => text.includes('Invite it')));
    expect(texts(world).join()).toContain('Which project');
  });

  test('offer every invoice to those who keep the books', async ({ world }) => {
    const owner = world.service.world.state.accounts.get(ACCOUNT)?.users[0];
    Object.assign(owner ?? {}, { billing: true });
    for (let at = 0; at < 20; at += 1)
      world.service.world.addInvoice({ account: ACCOUNT, number: 2000 + at });
    expect(await ask(world, '/deckhand invoices', 'admin')).toContain('20 invoices');
    const menu = await look(world, 'admin', 'invoice', '2003');
    expect(menu.options.map(({ value }) => value)).toEqual(['2003']);
    const sent = await answerTo(world, 'admin', () => choose(world, 'admin', 'invoice', '2003'));
    expect(sent).toContain('Invoice `2003` of `acme` was sent to you');
  });
});
