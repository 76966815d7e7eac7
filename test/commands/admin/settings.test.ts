import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sendForm } from '../../support/signed.ts';
import { CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';
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
    expect(me.told().at(-1)).toContain('Billing API (billing-api)');
    await me.open('settings');
    expect(me.block('project')).toMatchObject({ element: { initial_option: { value: 'billing-api' } } });
    expect(me.block('zone')).toMatchObject({ element: { initial_option: { value: 'Europe/Lisbon' } } });
  });

  it('leaves a field as it was if the form comes without it', async () => {
    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ layout: 'full', zone: 'UTC' }));
    await me.open('settings');
    const { id, hash, content } = me.view();
    const threads = { type: 'static_select', selected_option: { value: 'off' } };
    const state = { values: { threads: { threads }, zone: { zone: { type: 'external_select' } } } };
    await sendForm(world, 'settings', { ...content, id, hash, state });
    await expect.poll(stored).toEqual({ layout: 'full', threads: false });
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
    await world.slack.until(() => me.told().at(-1)?.includes('layout full') === true);
    expect(await stored()).toMatchObject({ project: { permalink: 'gone-since' } });
    await me.open('settings');
    await me.submit({ layout: 'compact', project: null, zone: null });
    await world.slack.until(() => me.told().at(-1)?.includes('no default project') === true);
    expect(await stored()).toEqual({ layout: 'compact' });
  });

  it('keeps what somebody else saved since it was opened, and asks about what both changed', async () => {
    const { slack, app } = world;
    const ben = world.as('member');
    await app.workspaces.open(TEAM).roles.give(PEOPLE.member, 'operator', PEOPLE.admin);
    const openBoth = async () => {
      await me.open('settings');
      await ben.command(CHANNEL, '/deckhand settings');
      await slack.until(() => ben.openView() !== undefined);
    };
    await openBoth();
    await me.submit({ layout: 'full' });
    await ben.submit('settings', { threads: 'off' });
    await expect.poll(stored).toEqual({ layout: 'full', threads: false });

    await openBoth();
    await look('project', 'store');
    await me.submit({ layout: 'compact', project: 'storefront' });
    await expect.poll(stored).toMatchObject({ layout: 'compact' });
    // Both changed the project; the zone is Ben's alone, the layout Ann's.
    await ben.suggest({ viewId: ben.openView()?.id ?? '' }, { actionId: 'project', query: 'bill' });
    await ben.suggest({ viewId: ben.openView()?.id ?? '' }, { actionId: 'zone', query: 'lisbon' });
    const asked = await ben.submit('settings', { project: 'billing-api', zone: 'Europe/Lisbon' });
    expect(asked.body).toContain(`<@${PEOPLE.admin}> changed this while the form was open`);
    expect(asked.body).toContain('You chose: billing-api');
    expect(await stored()).toMatchObject({ project: { permalink: 'storefront' } });
    const shown = () => ben.openView()?.values;
    expect(shown()).toMatchObject({
      'project:1': { project: { selected_option: { value: 'storefront' } } },
      'layout:1': { layout: { selected_option: { value: 'compact' } } },
      'zone:1': { zone: { selected_option: { value: 'Europe/Lisbon' } } },
    });
    // Once more, between the question and its answer.
    await me.open('settings');
    await me.submit({ project: null });
    await expect.poll(async () => (await stored()).project).toBeUndefined();
    await ben.submit('settings');
    await expect.poll(stored).toEqual({ layout: 'compact', threads: false, zone: 'Europe/Lisbon' });
  });

  it('finds a time zone by a former name or a typed city, shows its present name, and stores that', async () => {
    const zone = 'America/Sao_Paulo';
    await me.open('settings');
    expect((await look('zone', 'Europe/Kiev')).options[0]).toMatchObject({ value: 'Europe/Kyiv' });
    const [first] = (await look('zone', 'São Paulo')).options;
    expect(first).toMatchObject({ value: zone, text: { text: 'America/Sao Paulo' } });
    await me.submit({ zone });
    await world.slack.until(() => me.told().at(-1)?.includes(zone) === true);
    expect(await stored()).toMatchObject({ zone });
  });

  it('offers the person’s own zone first, and the cities of an abbreviation, and refuses what is no zone', async () => {
    await me.open('settings');
    const all = await look('zone', '');
    expect(all.options).toHaveLength(100);
    expect(all.options[0]?.value).toBe('Europe/Lisbon');
    expect((await look('zone', 'BST')).options.map(({ value }) => value)).toEqual([
      'Europe/London',
      'Asia/Dhaka',
    ]);
    const zone = { text: { type: 'plain_text', text: 'Mars' }, value: 'Mars/Olympus' };
    expect((await me.submit({ zone })).errors?.zone).toContain('no time zone');
  });
});
