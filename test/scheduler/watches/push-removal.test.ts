import { describe, expect, it, onTestFinished } from 'vitest';
import { ask } from '../../support/asking.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { openSurroundings } from '../../support/surroundings.ts';
import {
  ACCOUNT,
  CHANNEL,
  connectAccount,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';
import { test as base, deploy, dms, press, say, untilShown } from '../channel.ts';
import {
  call,
  flags,
  hearWithinSeconds,
  hook,
  integrations,
  OFF,
  ON,
  openReplica,
  PORT,
  PUBLIC_URL,
  watchPushed,
} from './pushing.ts';

const env = { PUBLIC_URL, PORT };
const test = base.extend('worldOptions', () => ({ env }));

const ONE = `/${ACCOUNT}/projects/*/integrations/*`;

const removals = ({ service }: TestWorld) =>
  service.requests.all.filter(({ method }) => method === 'DELETE').length;
const untilRemoved = (world: TestWorld) => expect.poll(() => integrations(world)).toEqual([]);
const states = async ({ app }: TestWorld) =>
  (await app.workspaces.open(TEAM).pushes.list()).map(({ state }) => state);

describe('if the service describes removals, an integration for calls', () => {
  test('is removed with the last watch of the project, and made again by “Undo” or later', async ({
    world,
  }) => {
    await watchPushed(world);
    const [first] = integrations(world);
    await say(world, 'unwatch storefront');
    await untilRemoved(world);
    expect((await call(first?.properties.url ?? '')).status).toBe(404);
    await press(world, 'watch:undo');
    await expect.poll(() => flags(world)).toEqual(ON);
    expect(integrations(world)[0]?.identifier).not.toBe(first?.identifier);
    await expect.poll(async () => (await call(hook(world))).status).toBe(204);
    deploy(world, 'again1');
    await untilShown(world, 'again1');

    await say(world, 'unwatch storefront');
    await untilRemoved(world);
    await watchPushed(world);
    expect(flags(world)).toEqual(ON);
    expect(dms(world)).toEqual([]);
  });

  test('is announced as one that Deckhand removes', async ({ world }) => {
    await say(world, 'watch storefront all');
    const { question } = await hearWithinSeconds(world);
    expect(question).toContain('When its last watch is removed, Deckhand removes the integration.');
    expect(question).not.toContain('switched off');
  });

  test('is removed before the account is disconnected', async ({ world }) => {
    await watchPushed(world);
    await ask(world, `/deckhand disconnect ${ACCOUNT}`, 'admin');
    const ts = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
    await world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'disconnect:confirm' });
    await untilRemoved(world);
  });

  test('is removed once, with two replicas', async () => {
    const world = await openTestWorld({ env: { ...env, STORE_URL: await freshDatabase() } });
    onTestFinished(() => world.stop());
    await world.connect();
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await watchPushed(world);
    await openReplica(world);
    world.service.faults.add({ method: 'DELETE', path: ONE, delayMs: 500, times: 1 });
    await say(world, 'unwatch storefront');
    await untilRemoved(world);
    await expect.poll(() => states(world)).toEqual(['off']);
    expect(removals(world)).toBe(1);
  });

  test.for([
    ['403', { status: 403 }],
    ['a 404 for the call', { status: 404, body: { error_code: 'invalid_api_method' } }],
  ] as const)(
    'is switched off after %s, and the removal is not tried again',
    async ([, fault], { world }) => {
      world.service.faults.add({ method: 'DELETE', path: ONE, ...fault });
      await watchPushed(world);
      for (const end of ['unwatch storefront', 'unwatch storefront']) {
        await say(world, end);
        await expect.poll(() => flags(world)).toEqual(OFF);
        await press(world, 'watch:undo');
        await expect.poll(() => flags(world)).toEqual(ON);
      }
      expect(integrations(world)).toHaveLength(1);
      expect(removals(world)).toBe(1);
      expect(dms(world)).toEqual([]);
    },
  );

  test('that somebody has deleted there is named to nobody', async ({ world }) => {
    await watchPushed(world);
    integrations(world).length = 0;
    await say(world, 'unwatch storefront');
    await expect.poll(() => states(world)).toEqual(['off']);
    expect(dms(world)).toEqual([]);
  });

  test('is tried again after an outage', async ({ world }) => {
    await watchPushed(world);
    world.service.faults.add({ method: 'DELETE', path: ONE, status: 500, times: 1 });
    await say(world, 'unwatch storefront');
    await expect.poll(() => integrations(world)).toEqual([]);
    expect(removals(world)).toBe(2);
  });
});

test('if the service describes lists alone, an integration for calls is switched off', async ({ world }) => {
  const paths = { '/projects/{p}/integrations': { get: {} } };
  world.service.faults.add({ path: '/docs.json', status: 200, body: { paths } });
  await watchPushed(world);
  await say(world, 'unwatch storefront');
  await expect.poll(() => flags(world)).toEqual(OFF);
  expect(removals(world)).toBe(0);
});

it('a kill between the removal and its record leaves nothing, and tells nobody', async () => {
  const around = await openSurroundings({ channels: [CHANNEL] });
  const product = around.createProduct({ ...env, SERVICE_SIGNUP_URL: around.service.signupUrl });
  onTestFinished(async () => {
    await product.stop();
    await around.close();
  });
  await around.start(product);
  await connectAccount(around.slack);
  const as = (who: keyof typeof PEOPLE) => around.slack.as(TEAM, PEOPLE[who]);
  const world = { ...around, as } as unknown as TestWorld;
  await watchPushed(world);
  around.service.faults.add({ method: 'DELETE', path: ONE, delayMs: 1_000, times: 1 });
  const isAsked = around.service.requests.nextArrival(({ method }) => method === 'DELETE');
  await say(world, 'unwatch storefront');
  await isAsked;
  await product.kill();
  await untilRemoved(world);
  const isRepeated = around.service.requests.nextArrival(({ method }) => method === 'DELETE');
  await around.start(product);
  await isRepeated;
  await watchPushed(world);
  await expect.poll(() => flags(world)).toEqual(ON);
  expect(dms(world)).toEqual([]);
});
