import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { DAY_MS, systemClock } from '../../../src/core/time/clock.ts';
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
    await readDescription(world);
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
          send_on_check_failed: false,
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
    const values = {
      name: 'Quiet',
      flags: [],
      'properties.bot_token': 'CANARYquiet',
      'properties.chat_id': '@ops',
    };
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
    [{ send_on_start: ['is not yours'], send_on_failure: ['nor this'] }, { flags: 'is not yours. nor this' }],
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

/** Before a form is opened, which waits only a moment for it. */
function readDescription({ app }: TestWorld): Promise<unknown> {
  return app.workspaces.open(TEAM).health.description();
}

/** Answers of the service for its description that lists the flag for failed checks in none or one of the calls. */
const FLAGLESS: ReadonlyArray<[description: string, answer: object]> = [
  ['no description', { status: 404 }],
  ['a description that lists it for new ones only', { status: 200, body: describeFlag(['post']) }],
  ['a hostile description', { status: 200, body: describeFlag(['post', 'patch'], 'send_on_check_failed') }],
];

/** As OpenAPI 2 does: the body is a parameter. */
function describeFlagInParameters(): object {
  const integration = { properties: { send_on_check_failed: { type: 'boolean' } } };
  const parameters = [{ name: 'body', in: 'body', schema: { $ref: '#/definitions/Change' } }];
  const path = '/projects/{project}/integrations';
  return {
    swagger: '2.0',
    paths: { [path]: { post: { parameters } }, [`${path}/{id}`]: { parameters, patch: {} } },
    definitions: { Change: { properties: { integration } } },
  };
}

/** @param flag the schema of the flag */
function describeFlag(methods: readonly string[], flag: unknown = { type: 'boolean' }): object {
  const integration = { properties: { send_on_check_failed: flag } };
  const schema = { properties: { integration } };
  const operation = { requestBody: { content: { 'application/json': { schema } } } };
  const path = '/projects/{project}/integrations';
  const [post = {}, patch = {}] = ['post', 'patch'].map((method) =>
    methods.includes(method) ? operation : {},
  );
  return { paths: { [path]: { post }, [`${path}/{id}`]: { patch } } };
}

describe('the flag for failed checks', () => {
  let world: TestWorld;
  let me: ReturnType<typeof ann>;
  let passedMs = 0;
  beforeEach(async () => {
    const time = { ...systemClock, now: () => systemClock.now() + passedMs };
    world = await openTestWorld({ connected: true, time });
    onTestFinished(() => world.stop());
    me = ann(world);
  });

  const openForm = async () => {
    await readDescription(world);
    await me.open('integration add storefront');
    await me.choose('hook_type', 'http_req');
    return JSON.stringify(me.block('flags'));
  };
  const values = { name: 'Checks', 'properties.url': 'https://a.example.com' };

  it('is offered if the service describes it, sent, and enough to notify', async () => {
    expect(await openForm()).toContain('When a check after a deployment fails');
    await me.submit({ ...values, flags: ['send_on_check_failed'] });
    expect(me.kept().at(-1)).toMatchObject({ name: 'Checks', sendOnFailure: false, sendOnCheckFailed: true });
    await world.slack.until(() => me.told().at(-1)?.includes('is set up') === true);
    expect(me.told().at(-1)).not.toContain('never notifies');
    await me.open('integration edit checks');
    expect(JSON.stringify(me.block('flags'))).toContain('"initial_options":[{"text"');
    await me.submit({ flags: ['send_on_failure'] });
    expect(me.sent('PATCH')).toEqual([
      { integration: { send_on_failure: true, send_on_check_failed: false } },
    ]);
    await world.slack.until(() => me.told().at(-1)?.includes('the notice of a failed check') === true);
  });

  it('is offered if an OpenAPI 2 document describes it', async () => {
    world.service.faults.add({ path: '/docs.json', status: 200, body: describeFlagInParameters() });
    expect(await openForm()).toContain('When a check after a deployment fails');
  });

  it.each(FLAGLESS)('is neither shown nor sent with %s', async (_, answer) => {
    world.service.faults.add({ path: '/docs.json', ...answer });
    expect(await openForm()).not.toContain('When a check');
    await me.submit({ ...values, flags: ['send_on_start'] });
    expect(JSON.stringify(me.sent('POST'))).not.toContain('check');
    expect(me.kept().at(-1)).toMatchObject({ sendOnStart: true, sendOnFailure: false });
  });

  it('is left alone once the service no longer describes it', async () => {
    await openForm();
    await me.submit({ ...values, flags: ['send_on_check_failed'] });
    await world.slack.until(() => me.told().length > 0);
    world.service.faults.add({ path: '/docs.json', status: 404 });
    passedMs += DAY_MS;
    await readDescription(world);
    await me.open('integration edit checks');
    expect(JSON.stringify(me.block('flags'))).not.toContain('When a check');
    await me.submit({ name: 'Renamed' });
    expect(me.sent('PATCH')).toEqual([{ integration: { name: 'Renamed' } }]);
    expect(me.kept().at(-1)).toMatchObject({ name: 'Renamed', sendOnCheckFailed: true });
  });

  it('does not delay the form while the service is slow to describe itself', async () => {
    const slow = world.service.faults.add({ path: '/docs.json', delayMs: 20_000 });
    await me.open('integration add storefront');
    expect(slow.hits()).toBe(1);
    expect(JSON.stringify(me.block('flags'))).not.toContain('When a check');
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
