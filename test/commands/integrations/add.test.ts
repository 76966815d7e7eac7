import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';
import { ann } from './support.ts';

/** Each type with its version, where it has one, and what a person fills in; the keys are those of spec 4.8. */
const TYPES: ReadonlyArray<[type: string, version: string | undefined, properties: Record<string, string>]> =
  [
    ['http_req', undefined, { url: 'https://hooks.example.com/deploys' }],
    [
      'error_tracker_c',
      'cloud',
      { project: 'shop', environment: 'production', token: 'CANARYc', organization_slug: 'acme' },
    ],
    [
      'error_tracker_c',
      'on_premise',
      { project: 'shop', environment: 'production', token: 'CANARYd', url: 'https://errors.example.com' },
    ],
    ['chat_d', undefined, { bot_token: 'CANARYbot', chat_id: '-1001234567890' }],
  ];

const HIDDEN = /key|token/;

describe('integration add', () => {
  let world: TestWorld;
  let me: ReturnType<typeof ann>;
  beforeAll(async () => {
    world = await openTestWorld({ connected: true });
  });
  afterAll(() => world.stop());
  beforeEach(async () => {
    world.service.faults.clear();
    world.service.requests.clear();
    world.service.world.updateAccount({ account: ACCOUNT, integrationRules: 'usual' });
    me = ann(world);
    for (const view of me.actor.openViews()) await me.actor.close(view.id);
  });

  it.each(TYPES)(
    'sets up %s (%s) with exactly what is filled in, also before its type, and asks for no more than its version',
    async (type, version, properties) => {
      const draw = async () => {
        await me.open('integration add storefront');
        me.actor.fill(undefined, { name: 'Watch', flags: ['send_on_start'] });
        await me.choose('hook_type', type);
        expect(me.block('name')).toMatchObject({ element: { initial_value: 'Watch' } });
        expect(JSON.stringify(me.block('flags'))).toContain('initial_options');
        if (version !== undefined) await me.choose('properties.hook_version', version);
      };
      const sent = (name: string, given: object) => ({
        integration: {
          hook_type: type,
          name,
          send_on_start: false,
          send_on_completion: false,
          send_on_failure: true,
          ...(Object.keys(given).length === 0 ? {} : { properties: given }),
        },
      });
      const versions = version === undefined ? {} : { hook_version: version };
      const named = Object.entries(properties).map(([key, value]) => [`properties.${key}`, value] as const);
      await draw();
      const fields = [...Object.keys(versions), ...Object.keys(properties)].map((key) => `properties.${key}`);
      expect(me.fields()).toEqual(['hook_type', 'name', ...fields, 'flags']);
      for (const [field] of named) expect(me.block(field)).toMatchObject({ optional: true });
      await me.submit({ name: `My ${type}`, ...Object.fromEntries(named) });
      expect(me.kept().at(-1)?.properties).toEqual({ ...properties, ...versions });
      const hidden = Object.entries({ ...properties, ...versions }).map(([key, value]) => [
        key,
        HIDDEN.test(key) ? '[hidden]' : value,
      ]);
      world.service.world.updateAccount({ account: ACCOUNT, integrationRules: 'documented' });
      await draw();
      expect(await me.submit({ name: 'Bare' })).toMatchObject({ outcome: 'ok' });
      expect(me.sent('POST')).toEqual([
        sent(`My ${type}`, Object.fromEntries(hidden)),
        sent('Bare', versions),
      ]);
    },
  );

  it('gives the asker alone a button to authorise one that needs it', async () => {
    await me.open('integration add storefront');
    await me.choose('hook_type', 'chat_b');
    await me.submit({ name: 'Team room' });
    await world.slack.until(() => me.told().at(-1)?.includes('authorise it') === true);
    const message = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
    expect(JSON.stringify(message)).toContain(`${world.service.origin}/integrations/authorise/`);
    expect(message?.text).toContain('It works once you authorise it in your browser');
    expect(message?.text).toContain('asks for its identifier');
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
  });

  it('opens no authorisation page but over https', async () => {
    world.service.faults.add({
      method: 'POST',
      path: `/${ACCOUNT}/projects/storefront/integrations`,
      status: 200,
      body: { auth_required: true, auth_url: 'http://evil.example.com/' },
      times: 1,
    });
    await me.open('integration add storefront');
    await me.choose('hook_type', 'chat_b');
    await me.submit({ name: 'Team room' });
    await world.slack.until(() => me.told().at(-1)?.includes('not safe to open') === true);
    expect(JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1))).not.toContain('evil.example');
  });

  it('asks before it sets up one that never notifies, with everything still filled in', async () => {
    await me.open('integration add storefront');
    await me.choose('hook_type', 'chat_d');
    const values = { name: 'Quiet', 'properties.bot_token': 'CANARYquiet', 'properties.chat_id': '@ops' };
    const malformed = await me.actor.submit(undefined, { ...values, 'properties.chat_id': 'ops' });
    expect(Object.keys(malformed.errors ?? {})).toEqual(['properties.chat_id']);
    const asked = await me.actor.submit(undefined, values);
    expect(asked.errors).toEqual({ flags: expect.stringContaining('never notifies') });
    expect(me.sent('POST')).toEqual([]);
    expect((await me.actor.submit()).errors).toBeUndefined();
    expect(me.sent('POST')).toHaveLength(1);
    await world.slack.until(() => me.told().some((text) => text.includes('It never notifies')));
    expect(JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1))).toContain('integration:edit');
  });

  it.each([
    [{ url: ['is not reachable'] }, { 'properties.url': 'is not reachable' }],
    [{ integration: { properties: { url: ['is odd'] } } }, { 'properties.url': 'is odd' }],
    [{ send_on_start: ['is not yours'], send_on_failure: ['nor this'] }, { flags: 'is not yours; nor this' }],
  ])('shows a fault of the service under its field: %j', async (body, errors) => {
    world.service.faults.add({ method: 'POST', path: '/**', status: 422, body });
    await me.open('integration add storefront');
    await me.choose('hook_type', 'http_req');
    const answer = await me.submit({ name: 'x', 'properties.url': 'https://hooks.example.com' });
    expect(answer.errors).toEqual(errors);
  });

  it('leaves no secret in the store, the log or any message', async () => {
    const files = await readdir(world.folder);
    const bytes = await Promise.all(files.map((file) => readFile(`${world.folder}/${file}`, 'latin1')));
    const seen = [...bytes, ...world.logs, JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.admin))];
    expect(seen.filter((text) => text.includes('CANARY'))).toEqual([]);
  });
});

describe('integration add while the service hangs', () => {
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ connected: true });
  });
  afterAll(() => world.stop());

  it('opens at once with all its fields, takes the project as typed, and sends it when the service is back', async () => {
    const me = ann(world);
    const hanging = world.service.faults.add({ path: '/**', delayMs: 4_000, times: 1 });
    await me.open('integration add storefront');
    expect(me.fields()).toEqual(['project', 'hook_type', 'name', 'flags']);
    expect(me.block('project')).toMatchObject({ element: { initial_option: { value: 'storefront' } } });
    await me.choose('hook_type', 'chat_a_oauth');

    const place = { viewId: me.view().id };
    const menu = await me.actor.suggest(place, { actionId: 'project', query: 'billing-api' });
    expect(menu.options.map((option) => option.value)).toEqual(['billing-api']);
    expect(hanging.hits()).toBe(1);
    await me.submit({ name: 'Room', project: 'billing-api' });
    await world.slack.until(() => me.kept('billing-api').length === 1);
  });
});
