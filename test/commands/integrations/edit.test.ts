import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';
import { ann } from './support.ts';

const PROJECT = { account: ACCOUNT, project: 'storefront' };
const HOOK = { hookType: 'http_req', name: 'Made elsewhere', properties: { url: 'https://a.example.com' } };

describe('integration edit', () => {
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
  });

  /** Sets one up through Deckhand; answers with its short id and the service's identifier. */
  async function setUp(
    name: string,
    type: string,
    properties: Record<string, string>,
    version?: string,
  ): Promise<{ id: string; identifier: string }> {
    await me.open('integration add storefront');
    await me.choose('hook_type', type);
    if (version !== undefined) await me.choose('properties.hook_version', version);
    const fields = Object.entries(properties).map(([key, value]) => [`properties.${key}`, value]);
    await me.submit({ name, flags: ['send_on_failure'], ...Object.fromEntries(fields) });
    await world.slack.until(() => me.told().some((text) => text.includes(name)));
    world.service.requests.clear();
    const saved = await world.app.workspaces.open(TEAM).integrations.find(name);
    if (saved?.identifier === undefined) throw new Error(`${name} is not remembered`);
    return { id: saved.id, identifier: saved.identifier };
  }

  async function saved(): Promise<void> {
    const before = me.told().length;
    await world.slack.until(() => me.told().length > before);
  }

  it('sends a new name alone, and remembers it', async () => {
    const { id } = await setUp('Before', 'http_req', { url: 'https://a.example.com' });
    await me.open(`integration edit ${id}`);
    expect(me.fields()).toEqual(['name', 'properties.url', 'clear', 'flags']);
    expect(me.block('name')).toMatchObject({ element: { initial_value: 'Before' } });
    const told = saved();
    await me.submit({ name: 'After' });
    await told;
    expect(me.sent('PATCH')).toEqual([{ integration: { name: 'After' } }]);
    expect(await world.app.workspaces.open(TEAM).integrations.find(id)).toMatchObject({ name: 'After' });
    expect(me.told().at(-1)).toContain('changed its name');
  });

  it('sends each flag that was changed, on and off, and no other', async () => {
    const { id } = await setUp('Flags', 'http_req', { url: 'https://a.example.com' });
    await me.open(`integration edit ${id}`);
    const told = saved();
    await me.submit({ flags: ['send_on_start'] });
    await told;
    expect(me.sent('PATCH')).toEqual([{ integration: { send_on_start: true, send_on_failure: false } }]);
    expect(await world.app.workspaces.open(TEAM).integrations.find(id)).toMatchObject({
      flags: ['send_on_start'],
    });
  });

  it('changes the name of one that was set up elsewhere without asking for its type', async () => {
    const { identifier } = world.service.world.addIntegration({ ...PROJECT, ...HOOK });
    await me.open(`integration edit ${identifier} storefront`);
    const told = saved();
    world.service.requests.clear();
    await me.submit({ name: 'Named from here' });
    await told;
    expect(me.sent('PATCH')).toEqual([{ integration: { name: 'Named from here' } }]);
  });

  it('leaves keys alone that were left empty, and sends the property that was filled in', async () => {
    const { id } = await setUp('Hub', 'codehost', {
      account: 'acme',
      project: 'shop',
      repository: 'web',
      username: 'ann',
      api_key: 'CANARYhub',
    });
    await me.open(`integration edit ${id}`);
    expect(JSON.stringify(me.view().content)).not.toContain('CANARYhub');
    const told = saved();
    await me.submit({ 'properties.repository': 'website' });
    await told;
    expect(me.sent('PATCH')).toEqual([{ integration: { properties: { repository: 'website' } } }]);
    expect(me.kept().at(-1)?.properties).toMatchObject({ repository: 'website', api_key: 'CANARYhub' });
  });

  it('sends the properties that are ticked under "Clear" as null, and leaves the empty ones alone', async () => {
    const { id } = await setUp('Cache', 'cdn_cache', { zone_id: 'zone-1', path_prefix: '/assets' });
    await me.open(`integration edit ${id}`);
    expect(me.fields()).toEqual(['name', 'properties.zone_id', 'properties.path_prefix', 'clear', 'flags']);
    const told = saved();
    await me.submit({ clear: ['path_prefix'] });
    await told;
    expect(me.sent('PATCH')).toEqual([{ integration: { properties: { path_prefix: null } } }]);
    expect(me.kept().at(-1)?.properties).toEqual({ zone_id: 'zone-1' });
    expect(me.told().at(-1)).toContain('Path prefix (cleared)');
  });

  it('does not guess where a property is both filled in and ticked to be cleared', async () => {
    const { id } = await setUp('Both', 'cdn_cache', { zone_id: 'zone-1' });
    await me.open(`integration edit ${id}`);
    const answer = await me.submit({ 'properties.zone_id': 'zone-2', clear: ['zone_id'] });
    expect(Object.keys(answer.errors ?? {})).toEqual(['properties.zone_id']);
    expect(me.sent('PATCH')).toEqual([]);
  });

  it('shows what the service will not have cleared under its field', async () => {
    const { id } = await setUp('Needed', 'cdn_cache', { zone_id: 'zone-1' });
    await me.open(`integration edit ${id}`);
    const answer = await me.submit({ clear: ['zone_id'] });
    expect(answer.errors).toEqual({ 'properties.zone_id': expect.stringContaining('blank') });
  });

  it.each(['chat_a_oauth', 'chat_b'])('offers the channel of %s', async (hookType) => {
    const { identifier } = world.service.world.addIntegration({ ...PROJECT, hookType, name: 'Room' });
    world.service.requests.clear();
    await me.open(`integration edit ${identifier} storefront`);
    await me.choose('hook_type', hookType);
    expect(me.fields()).toContain('properties.channel');
    const told = saved();
    await me.submit({ 'properties.channel': '#releases' });
    await told;
    expect(me.sent('PATCH')).toEqual([{ integration: { properties: { channel: '#releases' } } }]);
  });

  it('draws the version’s own fields once it is chosen', async () => {
    const { id } = await setUp('Errors', 'error_tracker_d', { api_key: 'k' }, 'cloud');
    await me.open(`integration edit ${id}`);
    expect(me.fields()).toEqual(['name', 'properties.hook_version', 'properties.api_key', 'clear', 'flags']);
    await me.choose('properties.hook_version', 'on_premise');
    expect(me.fields()).toContain('properties.url');
    const told = saved();
    await me.submit({ 'properties.url': 'https://errors.example.com' });
    await told;
    expect(me.sent('PATCH')).toEqual([
      { integration: { properties: { hook_version: 'on_premise', url: 'https://errors.example.com' } } },
    ]);
  });

  it('sends nothing when nothing is changed, and says so', async () => {
    const { id } = await setUp('Same', 'http_req', { url: 'https://a.example.com' });
    await me.open(`integration edit ${id}`);
    await me.submit({});
    expect(JSON.stringify(me.view().content.blocks[0])).toContain('Nothing was changed');
    expect(me.sent('PATCH')).toEqual([]);
  });

  it('asks before it unticks the last box', async () => {
    const { id } = await setUp('Quieter', 'http_req', { url: 'https://a.example.com' });
    await me.open(`integration edit ${id}`);
    const asked = await me.submit({ flags: [] });
    expect(asked.errors).toEqual({ flags: expect.stringContaining('never notifies') });
    expect(me.sent('PATCH')).toEqual([]);
    await me.submit({ flags: [] });
    expect(me.sent('PATCH')).toEqual([{ integration: { send_on_failure: false } }]);
    await world.slack.until(() => me.told().some((text) => text.includes('It never notifies')));
  });

  it('offers what was set up here in a menu, found by what is typed', async () => {
    const { id } = await setUp('Needle', 'http_req', { url: 'https://a.example.com' });
    await me.open('integration edit');
    expect(me.fields()).toEqual(['integration']);
    const place = { viewId: me.view().id };
    const menu = await me.actor.suggest(place, { actionId: 'integration', query: 'needl' });
    expect(menu.options[0]).toMatchObject({ value: id, text: { text: 'Needle' } });
    expect(menu.options.at(-1)).toMatchObject({ value: 'needl', description: { text: 'As typed' } });
    await me.choose('integration', id);
    await world.slack.until(() => me.fields().includes('name'));
    const told = saved();
    await me.submit({ name: 'Thread' });
    await told;
    expect(me.sent('PATCH')).toEqual([{ integration: { name: 'Thread' } }]);
  });

  it('shows the one picked last as it is, and nothing of the one before', async () => {
    const one = await setUp('One', 'http_req', { url: 'https://a.example.com' });
    const other = await setUp('Other', 'chat_c', { url: 'https://b.example.com' });
    await me.open('integration edit');
    const place = { viewId: me.view().id };
    await me.actor.suggest(place, { actionId: 'integration', query: '' });
    await me.choose('integration', one.id);
    await world.slack.until(() => me.fields().includes('name'));
    me.actor.fill(undefined, { name: 'Half typed', flags: [] });
    await me.choose('integration', other.id);
    await world.slack.until(() => me.view().values.name?.name?.value === 'Other');
    const told = saved();
    await me.submit({ 'properties.url': 'https://c.example.com' });
    await told;
    expect(me.sent('PATCH')).toEqual([{ integration: { properties: { url: 'https://c.example.com' } } }]);
    expect(world.service.requests.all.at(-1)?.path).toContain(other.identifier);
  });

  it('edits one that was made elsewhere by its identifier: the type first, then what is filled in', async () => {
    const { identifier } = world.service.world.addIntegration({ ...PROJECT, ...HOOK });
    world.service.requests.clear();
    await me.open(`integration edit ${identifier} storefront`);
    expect(me.fields()).toEqual(['integration', 'hook_type', 'name', 'flags', 'flags_off']);
    await me.choose('hook_type', 'http_req');
    const told = saved();
    await me.submit({
      'properties.url': 'https://b.example.com',
      flags: ['send_on_start'],
      flags_off: ['send_on_failure'],
    });
    await told;
    expect(me.sent('PATCH')).toEqual([
      {
        integration: {
          send_on_start: true,
          send_on_failure: false,
          properties: { url: 'https://b.example.com' },
        },
      },
    ]);
    expect(await world.app.workspaces.open(TEAM).integrations.find(identifier)).toMatchObject({
      name: 'Made elsewhere',
      flags: ['send_on_start'],
    });
  });

  it('asks in the form for the project where the words and the channel name none', async () => {
    const { identifier } = world.service.world.addIntegration({ ...PROJECT, ...HOOK });
    world.service.requests.clear();
    await me.open(`integration edit ${identifier}`);
    expect(me.fields()).toContain('project');
    await me.choose('hook_type', 'http_req');
    const place = { viewId: me.view().id };
    await me.actor.suggest(place, { actionId: 'project', query: 'front' });
    const told = saved();
    await me.submit({ project: 'storefront', name: 'Renamed' });
    await told;
    expect(me.sent('PATCH')).toEqual([{ integration: { name: 'Renamed' } }]);
  });

  it('gives the button to authorise anew, and remembers what was sent', async () => {
    const { identifier } = world.service.world.addIntegration({
      ...PROJECT,
      hookType: 'chat_b',
      name: 'Room',
      active: false,
    });
    await world.app.workspaces.open(TEAM).integrations.remember({
      identifier,
      hookType: 'chat_b',
      name: 'Room',
      account: ACCOUNT,
      project: { permalink: 'storefront', name: 'Storefront' },
      flags: ['send_on_start'],
      savedAt: 0,
    });
    await me.open(`integration edit ${identifier}`);
    const told = saved();
    await me.submit({ name: 'Big room' });
    await told;
    const message = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
    expect(message?.text).toContain('once you authorise it again');
    expect(JSON.stringify(message)).toContain('/integrations/authorise/');
    const remembered = await world.app.workspaces.open(TEAM).integrations.find(identifier);
    expect(remembered).toMatchObject({ name: 'Big room', flags: ['send_on_start'] });
  });

  it('offers an OAuth one that was just added by its name, and asks for the identifier it lacks', async () => {
    await me.open('integration add storefront');
    await me.choose('hook_type', 'chat_b');
    await me.submit({ name: 'Release room', flags: ['send_on_failure'] });
    await world.slack.until(() => me.told().at(-1)?.includes('Release room') === true);
    const made = me.kept().at(-1);
    if (made === undefined) throw new Error('nothing was added');
    made.active = true;
    world.service.requests.clear();

    await me.open('integration edit');
    const place = { viewId: me.view().id };
    const menu = await me.actor.suggest(place, { actionId: 'integration', query: 'release r' });
    const id = String(menu.options[0]?.value);
    expect(menu.options[0]).toMatchObject({ text: { text: 'Release room' } });
    expect(me.told().at(-1)).toContain(`/deckhand integration edit ${id}`);
    await me.choose('integration', id);
    await world.slack.until(() => me.fields().includes('name'));
    expect(me.fields()).toEqual([
      'integration',
      'identifier',
      'name',
      'properties.channel',
      'clear',
      'flags',
    ]);
    expect(me.block('flags')).toMatchObject({ element: { initial_options: [{ value: 'send_on_failure' }] } });

    const told = saved();
    await me.submit({ identifier: ` ${made.identifier} `, name: 'Big release room' });
    await told;
    expect(me.sent('PATCH')).toEqual([{ integration: { name: 'Big release room' } }]);
    expect(world.service.requests.all.at(-1)?.path).toMatch(new RegExp(`/integrations/${made.identifier}$`));
    expect(await world.app.workspaces.open(TEAM).integrations.find(made.identifier)).toMatchObject({
      id,
      name: 'Big release room',
      hookType: 'chat_b',
    });
    await me.open(`integration edit ${id}`);
    expect(me.fields()).not.toContain('identifier');
  });

  it('does not mistake a second OAuth one of the same name for the first', async () => {
    const { integrations } = world.app.workspaces.open(TEAM);
    const room = {
      hookType: 'chat_a_oauth',
      name: 'Twins',
      account: ACCOUNT,
      project: { permalink: 'storefront', name: 'Storefront' },
      flags: [],
      savedAt: 0,
    };
    const first = await integrations.remember(room);
    await integrations.remember({ ...room, identifier: 'int-one' }, first.id);
    const second = await integrations.remember(room);
    expect(second.id).not.toBe(first.id);
    expect(await integrations.find('int-one')).toMatchObject({ id: first.id });
  });

  it('says what the service does not have, and keeps the form', async () => {
    await me.open('integration edit no-such-id storefront');
    await me.choose('hook_type', 'http_req');
    await me.submit({ name: 'Ghost' });
    const said = JSON.stringify(me.view().content.blocks[0]);
    expect(said).toContain('no integration `no-such-id` in `storefront`');
    expect(said).toContain('/deckhand integration edit');
  });

  it('opens at once for one that is remembered, though the service hangs', async () => {
    const { id } = await setUp('Quick', 'http_req', { url: 'https://a.example.com' });
    const hanging = world.service.faults.add({ path: '/**', delayMs: 60_000 });
    await me.open(`integration edit ${id}`);
    expect(me.fields()).toContain('properties.url');
    expect(hanging.hits()).toBe(0);
  });

  it('puts what was typed back after a late answer, but no secret', async () => {
    const { id } = await setUp('Late', 'perf_monitor', { application_id: '1', api_key: 'k' });
    world.service.faults.add({
      method: 'PATCH',
      path: '/**',
      delayMs: 2_300,
      status: 422,
      body: { application_id: ['is unknown'] },
    });
    await me.open(`integration edit ${id}`);
    const answer = me.submit({ 'properties.application_id': '99', 'properties.api_key': 'CANARYlate' });
    await answer;
    await world.slack.until(() => me.fields().includes('properties.application_id'));
    const shown = JSON.stringify(me.view().content);
    expect(shown).toContain('is unknown');
    expect(me.block('properties.application_id')).toMatchObject({ element: { initial_value: '99' } });
    expect(shown).not.toContain('CANARYlate');
  });

  it('tells a person without any what to do', async () => {
    const empty = await openTestWorld({ connected: true });
    await empty.as('admin').command('C0DEPLOYS', '/deckhand integration edit');
    await empty.slack.until(() => empty.slack.ephemerals(TEAM, PEOPLE.admin).length > 0);
    const said = JSON.stringify(empty.slack.ephemerals(TEAM, PEOPLE.admin));
    expect(said).toContain('No integration was added with Deckhand yet');
    expect(said).toContain('Add one');
    await empty.stop();
  });
});
