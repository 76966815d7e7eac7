import { afterEach, describe, expect, it } from 'vitest';
import { answerTo, ask } from '../support/asking.ts';
import { HASTY } from '../support/faults.ts';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const MANY = Array.from({ length: 130 }, (_, at) => ({
  name: `Shop ${at}`,
  permalink: `shop-${at}`,
  servers: [],
}));

describe('menus in place of identifiers', () => {
  let world: TestWorld;
  afterEach(() => world.stop());

  async function enter(options: Parameters<typeof openTestWorld>[0] = {}): Promise<void> {
    world = await openTestWorld({ connected: true, ...options });
  }

  /** The latest message that only this person sees. */
  function latest(who: keyof typeof PEOPLE) {
    const message = world.slack
      .ephemerals(TEAM, PEOPLE[who])
      .findLast(({ text }) => !text.includes('Connected *'));
    if (message === undefined) throw new Error('nothing was said');
    return { channel: message.channel, ts: message.ts };
  }

  const look = (who: keyof typeof PEOPLE, actionId: string, query: string) =>
    world.as(who).suggest(latest(who), { actionId, query });

  it('searches the projects where there are more than a plain menu holds, and runs what was typed', async () => {
    await enter({ projects: MANY });
    await ask(world, '/deckhand test');
    const menu = await look('member', 'projects:choose', 'shop 12');
    const others = Array.from({ length: 10 }, (_, at) => `shop-12${at}`);
    expect(menu.options.map(({ value }) => value)).toEqual(['shop-12', ...others]);
    await world.as('member').click(latest('member'), { actionId: 'projects:choose', selected: 'shop-12' });
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length > 0);
    expect(world.slack.messages(TEAM, CHANNEL)[0]?.text).toContain('Shop 12');
  });

  it('shows all projects, a page at a time', async () => {
    await enter({ projects: MANY });
    expect(await ask(world, '/deckhand projects')).toContain('1 to 20 of');
    const seen = () => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.member).at(-1)?.blocks);
    await world.as('member').click(latest('member'), { actionId: 'projects:page#1' });
    await world.slack.until(() => seen().includes('21 to 40 of'), { what: 'the second page' });
    expect(seen()).toContain('Previous');
    const last = Math.ceil(MANY.length / 20);
    for (let page = 2; page < last; page += 1) {
      await world.as('member').click(latest('member'), { actionId: `projects:page#${page}` });
      await world.slack.until(() => seen().includes(`${page * 20 + 1} to`), { what: `page ${page}` });
    }
    expect(seen()).not.toContain('Next');
  });

  it('asks the service once while a person types', async () => {
    await enter({ projects: MANY });
    await ask(world, '/deckhand test');
    world.service.requests.clear();
    for (const query of ['s', 'sh', 'sho', 'shop']) await look('member', 'projects:choose', query);
    expect(world.service.requests.all).toEqual([]);
  });

  it('asks which server is to be shown, and shows the one chosen', async () => {
    await enter();
    expect(await ask(world, '/deckhand server show')).toContain('Which project');
    const asked = await answerTo(world, 'member', () =>
      world.as('member').click(latest('member'), { actionId: 'projects:choose', selected: 'storefront' }),
    );
    expect(asked).toContain('Which server do you mean?');
    const isAsked = (question: string) =>
      world.slack.ephemerals(TEAM, PEOPLE.member).some(({ text }) => text.includes(question));
    await world.slack.until(() => !isAsked('Which project'), { what: 'the end of the first question' });
    const menu = await look('member', 'server', 'web-2');
    expect(menu.options.map(({ text }) => text)).toEqual([expect.objectContaining({ text: 'web-2' })]);
    const value = String(menu.options[0]?.value);
    const shown = await answerTo(world, 'member', () =>
      world.as('member').click(latest('member'), { actionId: 'server', selected: value }),
    );
    expect(shown).toContain('*web-2*');
    await world.slack.until(() => !isAsked('Which server'), { what: 'the end of the second question' });
  });

  it('keeps the question of which project where the choice could not be carried out', async () => {
    await enter();
    await ask(world, '/deckhand test');
    const place = latest('member');
    world.slack.kick(TEAM, CHANNEL, 'bot');
    await world.as('member').click(place, { actionId: 'projects:choose', selected: 'storefront' });
    const texts = () => world.slack.ephemerals(TEAM, PEOPLE.member).map(({ text }) => text);
    await world.slack.until(() => texts().some((text) => text.includes('Invite it')));
    expect(texts().join()).toContain('Which project');
  });

  it('offers the servers of the project where a test names one that is not there', async () => {
    await enter();
    expect(await ask(world, '/deckhand test storefront wbe-1')).toContain('There is no server `wbe-1`');
    const menu = await look('member', 'server', '');
    expect(menu.options).toHaveLength(2);
    const value = String(menu.options[0]?.value);
    await world.as('member').click(latest('member'), { actionId: 'server', selected: value });
    const { slack } = world;
    await slack.until(() => slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('reachable')));
    expect(slack.messages(TEAM, CHANNEL)[0]?.text).toContain('web-1 in Storefront');
  });

  it('takes what is typed where the service lists no servers', async () => {
    await enter();
    world.service.faults.add({ path: `/${ACCOUNT}/projects/storefront/servers`, status: 404 });
    await ask(world, '/deckhand server show --account acme');
    await answerTo(world, 'member', () =>
      world.as('member').click(latest('member'), { actionId: 'projects:choose', selected: 'storefront' }),
    );
    const menu = await look('member', 'server', 'web-2');
    expect(menu.options).toEqual([expect.objectContaining({ value: 'web-2' })]);
  });

  it('offers every invoice to those who keep the books, and to nobody else', async () => {
    await enter();
    const owner = world.service.world.state.accounts.get(ACCOUNT)?.users[0];
    if (owner !== undefined) owner.billing = true;
    for (let at = 0; at < 20; at += 1)
      world.service.world.addInvoice({ account: ACCOUNT, number: 2000 + at });
    await ask(world, '/deckhand invoices', 'admin');
    const menu = await look('admin', 'invoice', '2003');
    expect(menu.options.map(({ value }) => value)).toEqual(['2003']);
    const sent = await answerTo(world, 'admin', () =>
      world.as('admin').click(latest('admin'), { actionId: 'invoice', selected: '2003' }),
    );
    expect(sent).toContain('Invoice `2003` of `acme` was sent to you');
    const list = await ask(world, '/deckhand invoices', 'admin');
    expect(list).toContain('20 invoices');
    await world.app.workspaces.open(TEAM).roles.set({
      admin: [PEOPLE.billing],
      operator: [],
      billing: [],
      changedBy: PEOPLE.billing,
      changedAt: 0,
    });
    expect((await look('admin', 'invoice', '2003')).options).toEqual([]);
  });

  it('logs a failure of the service, and offers what was typed', async () => {
    await enter(HASTY);
    world.service.faults.add({ path: '/**', status: 500, body: { error_code: 'internal_error' } });
    await world.as('admin').command(CHANNEL, '/deckhand settings');
    await world.slack.until(() => world.as('admin').openView() !== undefined);
    const viewId = world.as('admin').openView()?.id ?? '';
    const menu = await world.as('admin').suggest({ viewId }, { actionId: 'project', query: 'storefront' });
    expect(menu.options).toEqual([expect.objectContaining({ value: 'storefront' })]);
    const unheard = await world.as('admin').suggest({ viewId }, { actionId: 'project', query: '' });
    expect(unheard.options).toEqual([]);
  });
});
