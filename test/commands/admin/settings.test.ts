import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CHANNEL, openTestWorld, TEAM, type TestWorld } from '../../support/test-world.ts';
import { ann } from '../integrations/support.ts';

describe('settings', () => {
  let world: TestWorld;
  let me: ReturnType<typeof ann>;
  beforeAll(async () => {
    world = await openTestWorld({ connected: true });
  });
  afterAll(() => world.stop());
  beforeEach(async () => {
    world.service.faults.clear();
    me = ann(world);
    for (const view of me.actor.openViews()) await me.actor.close(view.id);
    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({}));
  });

  const stored = () => world.app.workspaces.open(TEAM).channels.get(CHANNEL);
  const look = (actionId: string, query: string) =>
    me.actor.suggest({ viewId: me.view().id }, { actionId, query });

  it('shows what holds, stores what is chosen, tells the person, and shows them the next time', async () => {
    await me.open('settings');
    expect(me.fields()).toEqual(['threads', 'layout', 'diagnose', 'project', 'zone']);
    expect(me.block('threads')).toMatchObject({ element: { initial_option: { value: 'on' } } });
    expect(me.block('layout')).toMatchObject({ element: { initial_option: { value: 'compact' } } });
    await look('project', 'bill');
    const zones = await look('zone', 'lisbon');
    expect(zones.options.map((option) => option.value)).toEqual(['Europe/Lisbon']);
    await me.submit({ threads: 'off', layout: 'full', project: 'billing-api', zone: 'Europe/Lisbon' });
    await world.slack.until(() => me.told().at(-1)?.includes('settings') === true);
    expect(await stored()).toEqual({
      account: 'acme',
      project: { identifier: expect.any(String), permalink: 'billing-api', name: 'Billing API' },
      threads: false,
      layout: 'full',
      zone: 'Europe/Lisbon',
    });
    expect(me.told().at(-1)).toContain('*Billing API* (`billing-api`)');
    await me.open('settings');
    expect(me.block('project')).toMatchObject({ element: { initial_option: { value: 'billing-api' } } });
    expect(me.block('zone')).toMatchObject({ element: { initial_option: { value: 'Europe/Lisbon' } } });
  });

  it('makes the following of a test quiet: no thread, and the default project', async () => {
    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({
      account: 'acme',
      project: { permalink: 'storefront', name: 'Storefront' },
    }));
    await me.open('settings');
    await me.submit({ threads: 'off' });
    await world.as('member').command(CHANNEL, '/deckhand test');
    const { slack } = world;
    await slack.until(() => slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('reachable')));
    const root = slack.messages(TEAM, CHANNEL).at(-1);
    expect(root?.text).toContain('Storefront');
    expect(slack.thread(TEAM, CHANNEL, root?.ts ?? '')).toEqual([]);
  });

  it('keeps the project that stays, though the service is down, and forgets it where it is taken out', async () => {
    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({
      account: 'acme',
      project: { permalink: 'gone-since', name: 'Gone' },
      zone: 'UTC',
    }));
    world.service.faults.add({ path: '/**', drop: true });
    await me.open('settings');
    await me.submit({ layout: 'full' });
    await world.slack.until(() => me.told().at(-1)?.includes('layout *full*') === true);
    expect(await stored()).toMatchObject({ project: { permalink: 'gone-since' } });
    await me.open('settings');
    await me.submit({ layout: 'compact', project: null, zone: null });
    await world.slack.until(() => me.told().at(-1)?.includes('no default project') === true);
    expect(await stored()).toEqual({ threads: true, layout: 'compact' });
  });

  it.each([
    ['Europe/Kiev', 'Europe/Kyiv'],
    ['São Paulo', 'America/Sao_Paulo'],
  ])('finds the time zone of %s, shows it by its present name, and stores that', async (query, zone) => {
    await me.open('settings');
    const [first] = (await look('zone', query)).options;
    expect(first).toMatchObject({ value: zone, text: { text: zone.replaceAll('_', ' ') } });
    await me.submit({ zone });
    await world.slack.until(() => me.told().at(-1)?.includes(zone) === true);
    expect(await stored()).toMatchObject({ zone });
  });

  it('offers the person’s own zone first, and the cities of an abbreviation', async () => {
    await me.open('settings');
    const all = await look('zone', '');
    expect(all.options).toHaveLength(100);
    expect(all.options[0]?.value).toBe('Europe/Lisbon');
    expect((await look('zone', 'BST')).options.map(({ value }) => value)).toEqual([
      'Europe/London',
      'Asia/Dhaka',
    ]);
  });

  it('refuses what is no zone, under its field', async () => {
    await me.open('settings');
    const option = { text: { type: 'plain_text', text: 'Mars' }, value: 'Mars/Olympus' };
    const answer = await me.submit({ zone: option });
    expect(answer.errors?.zone).toContain('no time zone');
  });
});
