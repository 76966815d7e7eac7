import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FieldValues } from '../../../sandbox/slack/people.ts';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';
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
    const saved = await remembered(name);
    if (saved?.identifier === undefined) throw new Error(`${name} is not remembered`);
    return { id: saved.id, identifier: saved.identifier };
  }

  /** Changes the form that is open, and waits until that was told. */
  async function change(values: FieldValues): Promise<unknown[]> {
    const before = me.told().length;
    world.service.requests.clear();
    await me.submit(values);
    await world.slack.until(() => me.told().length > before);
    return me.sent('PATCH');
  }
  const remembered = (named: string) => world.app.workspaces.open(TEAM).integrations.find(named);

  it('sends a new name alone, and each flag that was changed, and remembers them', async () => {
    const { id } = await setUp('Before', 'http_req', { url: 'https://a.example.com' });
    await me.open(`integration edit ${id}`);
    expect(me.fields()).toEqual(['name', 'properties.url', 'clear', 'flags']);
    expect(me.block('name')).toMatchObject({ element: { initial_value: 'Before' } });
    expect(await change({ name: 'After' })).toEqual([{ integration: { name: 'After' } }]);
    expect(me.told().at(-1)).toContain('changed its name');
    await me.open(`integration edit ${id}`);
    expect(await change({ flags: ['send_on_start'] })).toEqual([
      { integration: { send_on_start: true, send_on_failure: false } },
    ]);
    expect(await remembered(id)).toMatchObject({ name: 'After', flags: ['send_on_start'] });
  });

  it('keeps what somebody else changed since it was opened, and asks about what both changed', async () => {
    const { slack, app } = world;
    const ben = world.as('member');
    await app.workspaces.open(TEAM).roles.give(PEOPLE.member, 'operator', PEOPLE.admin);
    const { id, identifier } = await setUp('Shared', 'perf_monitor', { application_id: '1', api_key: 'k' });
    const openBoth = async () => {
      await ben.command(CHANNEL, `/deckhand integration edit ${id}`);
      await slack.until(() => ben.openView() !== undefined);
      await me.open(`integration edit ${id}`);
    };
    await openBoth();
    await change({ flags: ['send_on_start'] });
    // The service answers without the fields that were not sent.
    world.service.faults.add({ method: 'PATCH', path: '/**', status: 200, body: { identifier } });
    await ben.submit('integration.edit', { name: 'Ours' });
    await expect.poll(() => remembered(id)).toMatchObject({ name: 'Ours', flags: ['send_on_start'] });
    world.service.faults.clear();

    await openBoth();
    await change({ name: 'Ann’s' });
    const mine = { name: 'Ben’s', 'properties.application_id': '99', 'properties.api_key': 'CANARYben' };
    const asked = await ben.submit('integration.edit', mine);
    expect(asked.body).toContain(`<@${PEOPLE.admin}> changed this while the form was open`);
    expect(asked.body).toContain('You chose: Ben’s');
    expect(asked.body).not.toContain('CANARYben');
    expect(ben.openView()?.values).toMatchObject({
      'name:1': { name: { value: 'Ann’s' } },
      'properties.application_id:1': { 'properties.application_id': { value: '99' } },
      'properties.api_key': { 'properties.api_key': { value: 'CANARYben' } },
    });
    world.service.requests.clear();
    await ben.submit('integration.edit');
    await expect
      .poll(() => me.kept().at(-1)?.properties)
      .toEqual({ application_id: '99', api_key: 'CANARYben' });
    expect(me.kept().at(-1)?.name).toBe('Ann’s');
    for (const view of ben.openViews()) await ben.close(view.id);
  });

  it('leaves keys alone that were left empty, sends what was filled in, and what is ticked under "Clear" as null', async () => {
    const hub = { account: 'acme', project: 'shop', repository: 'web', username: 'ann' };
    const { id } = await setUp('Hub', 'codehost', { ...hub, api_key: 'CANARYhub' });
    await me.open(`integration edit ${id}`);
    expect(JSON.stringify(me.view().content)).not.toContain('CANARYhub');
    expect(await change({ 'properties.repository': 'website' })).toEqual([
      { integration: { properties: { repository: 'website' } } },
    ]);
    expect(me.kept().at(-1)?.properties).toMatchObject({ repository: 'website', api_key: 'CANARYhub' });
    const cache = await setUp('Cache', 'cdn_cache', { zone_id: 'zone-1', path_prefix: '/assets' });
    await me.open(`integration edit ${cache.id}`);
    expect(await change({ clear: ['path_prefix'] })).toEqual([
      { integration: { properties: { path_prefix: null } } },
    ]);
    expect(me.kept().at(-1)?.properties).toEqual({ zone_id: 'zone-1' });
    expect(me.told().at(-1)).toContain('(cleared)');
  });

  it('shows under its field what is both filled in and cleared, and what the service will not have cleared', async () => {
    const { id } = await setUp('Both', 'cdn_cache', { zone_id: 'zone-1' });
    await me.open(`integration edit ${id}`);
    const both = await me.submit({ 'properties.zone_id': 'zone-2', clear: ['zone_id'] });
    expect(Object.keys(both.errors ?? {})).toEqual(['properties.zone_id']);
    expect(me.sent('PATCH')).toEqual([]);
    const needed = await me.submit({ 'properties.zone_id': '', clear: ['zone_id'] });
    expect(needed.errors).toEqual({ 'properties.zone_id': expect.stringContaining('blank') });
  });

  it('puts what was typed back after a late answer, but no secret', async () => {
    const { id } = await setUp('Late', 'perf_monitor', { application_id: '1', api_key: 'k' });
    const body = { application_id: ['is unknown'] };
    world.service.faults.add({ method: 'PATCH', path: '/**', delayMs: 2_300, status: 422, body });
    await me.open(`integration edit ${id}`);
    await me.submit({ 'properties.application_id': '99', 'properties.api_key': 'CANARYlate' });
    await world.slack.until(() => JSON.stringify(me.view().content).includes('is unknown'));
    expect(me.block('properties.application_id')).toMatchObject({ element: { initial_value: '99' } });
    expect(JSON.stringify(me.view().content)).not.toContain('CANARYlate');
  });

  it('sends nothing when nothing is changed, and asks before it unticks the last box', async () => {
    const { id } = await setUp('Quieter', 'http_req', { url: 'https://a.example.com' });
    await me.open(`integration edit ${id}`);
    await me.submit({});
    expect(JSON.stringify(me.view().content.blocks[0])).toContain('Nothing is different yet');
    const asked = await me.submit({ flags: [] });
    expect(asked.errors).toEqual({ flags: expect.stringContaining('never notifies') });
    expect(me.sent('PATCH')).toEqual([]);
    expect(await change({ flags: [] })).toEqual([{ integration: { send_on_failure: false } }]);
    expect(me.told().at(-1)).toContain('It never notifies');
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
    expect(await change({ 'properties.url': 'https://c.example.com' })).toEqual([
      { integration: { properties: { url: 'https://c.example.com' } } },
    ]);
    expect(world.service.requests.all.at(-1)?.path).toContain(other.identifier);
  });

  it('edits one that was made elsewhere by its identifier: the type first, then what is filled in', async () => {
    const { identifier } = world.service.world.addIntegration({ ...PROJECT, ...HOOK });
    world.service.requests.clear();
    await me.open(`integration edit ${identifier} storefront`);
    expect(me.fields()).toEqual(['integration', 'hook_type', 'name', 'flags', 'flags_off']);
    await me.choose('hook_type', 'http_req');
    const properties = { url: 'https://b.example.com' };
    const flags = { flags: ['send_on_start'], flags_off: ['send_on_failure'] };
    expect(await change({ 'properties.url': properties.url, ...flags })).toEqual([
      { integration: { send_on_start: true, send_on_failure: false, properties } },
    ]);
    expect(await remembered(identifier)).toMatchObject({ name: HOOK.name, flags: ['send_on_start'] });
  });

  const project = { permalink: 'storefront', name: 'Storefront' };
  const room = {
    hookType: 'chat_a_oauth',
    account: ACCOUNT,
    project,
    flags: ['send_on_start' as const],
    savedAt: 0,
  };

  it('gives the button to authorise anew, and remembers what was sent', async () => {
    const made = { ...PROJECT, hookType: room.hookType, name: 'Room', active: false };
    const { identifier } = world.service.world.addIntegration(made);
    await world.app.workspaces.open(TEAM).integrations.remember({ ...room, identifier, name: 'Room' });
    await me.open(`integration edit ${identifier}`);
    expect(await change({ name: 'Big room', 'properties.channel': '#releases' })).toEqual([
      { integration: { name: 'Big room', properties: { channel: '#releases' } } },
    ]);
    const message = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
    expect(message?.text).toContain('once you authorise it again');
    expect(JSON.stringify(message)).toContain('/integrations/authorise/');
    expect(await remembered(identifier)).toMatchObject({ name: 'Big room', flags: ['send_on_start'] });
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
    expect(me.fields()).toContain('identifier');
    expect(me.block('flags')).toMatchObject({ element: { initial_options: [{ value: 'send_on_failure' }] } });

    expect(await change({ identifier: ` ${made.identifier} `, name: 'Big release room' })).toEqual([
      { integration: { name: 'Big release room' } },
    ]);
    expect(world.service.requests.all.at(-1)?.path).toMatch(new RegExp(`/integrations/${made.identifier}$`));
    expect(await remembered(made.identifier)).toMatchObject({ id, name: 'Big release room' });
    await me.open(`integration edit ${id}`);
    expect(me.fields()).not.toContain('identifier');
  });

  it('does not mistake a second OAuth one of the same name for the first', async () => {
    const { integrations } = world.app.workspaces.open(TEAM);
    const twin = { ...room, name: 'Twins' };
    const first = await integrations.remember(twin);
    await integrations.remember({ ...twin, identifier: 'int-one' }, first.id);
    expect((await integrations.remember(twin)).id).not.toBe(first.id);
    expect(await integrations.find('int-one')).toMatchObject({ id: first.id });
  });
});
