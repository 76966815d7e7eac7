import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { APPLY } from '../../../src/cli/apply.ts';
import { EXPORT } from '../../../src/cli/configuration.ts';
import { callProgram } from '../../../src/cli/program.ts';
import { SCHEDULES_LOCK } from '../../../src/records/schedules.ts';
import { endUnwatched, planSettling } from '../../../src/scheduler/watches/switch-push.ts';
import { ask } from '../../support/asking.ts';
import { callsToEnd } from '../../support/calls-under-way.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { MIN_ENV } from '../../support/run-deckhand.ts';
import { openSurroundings } from '../../support/surroundings.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import {
  ACCOUNT,
  CHANNEL,
  connectAccount,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';
import { test as base, deploy, dms, OTHER, say, shown, untilShown } from '../channel.ts';
import {
  BY_OUTLINE,
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
  project,
  reads,
  watchPushed,
} from './pushing.ts';

const test = base.extend('worldOptions', () => ({ env: BY_OUTLINE }));

const INTEGRATIONS = `/${ACCOUNT}/projects/*/integrations`;
const ENCRYPTION_KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
const TO_REMOVE = 'The integration Deckhand of Storefront';

/** Resolves when the service has the request for an integration, and has not answered it yet. */
const asked = ({ service }: TestWorld, method: 'POST' | 'PATCH') =>
  service.requests.nextArrival((one) => one.method === method && one.path.includes('/integrations'));

async function unwatch(world: TestWorld): Promise<void> {
  await say(world, 'unwatch storefront');
}

async function disconnect(world: TestWorld): Promise<void> {
  await ask(world, `/deckhand disconnect ${ACCOUNT}`, 'admin');
  const ts = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
  await world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'disconnect:confirm' });
}

/** Has a file give the watch another project, as an operator does beside a running Deckhand. */
async function moveByFile(world: TestWorld): Promise<void> {
  const { STORE_URL, SERVICE_BASE_URL } = world.config;
  const { out } = await callProgram(EXPORT, [], { STORE_URL });
  const file = parse(out);
  for (const watch of Object.values<Record<string, unknown>>(file.watches))
    watch.project = { permalink: 'billing-api', name: 'Billing API' };
  const path = join(await temporaryFolder(), 'deckhand.yml');
  await writeFile(path, stringify(file));
  const env = { ...MIN_ENV, ENCRYPTION_KEYS, STORE_URL, SERVICE_BASE_URL };
  expect(await callProgram(APPLY, [path], env)).toMatchObject({ code: 0, err: '' });
}

describe('on two replicas', () => {
  let world: TestWorld;
  beforeEach(async () => {
    world = await openTestWorld({ env: { ...BY_OUTLINE, STORE_URL: await freshDatabase() } });
    onTestFinished(() => world.stop());
    await world.connect();
    for (const channel of [CHANNEL, OTHER]) world.slack.invite(TEAM, channel, 'bot');
  });

  /** Slack sends what follows to another replica. */
  async function switchToReplica(port?: number): Promise<number> {
    const other = port ?? (await openReplica(world)).port;
    world.slack.deliverTo(`http://127.0.0.1:${other}/slack/events`);
    return other;
  }

  it.each([
    { act: 'unwatch', isOther: false },
    { act: 'unwatch', isOther: true },
    { act: 'disconnect', isOther: false },
    { act: 'disconnect', isOther: true },
    { act: 'move by a file', isOther: true },
  ])(
    'an integration that is being made is off in the end after $act, by another replica: $isOther',
    async ({ act, isOther }) => {
      const acts: Record<string, typeof unwatch> = { unwatch, disconnect, 'move by a file': moveByFile };
      await say(world, 'watch storefront all');
      world.service.faults.add({ method: 'POST', path: INTEGRATIONS, delayMs: 1_500, times: 1 });
      const isAsked = asked(world, 'POST');
      const hearing = hearWithinSeconds(world);
      await isAsked;
      if (isOther) await switchToReplica();
      await acts[act]?.(world);
      await hearing;
      await expect.poll(() => flags(world)).toEqual(OFF);
      expect((await call(hook(world))).status).toBe(404);
      expect(dms(world).filter((text) => text.includes(TO_REMOVE))).toEqual([]);
    },
  );

  it('an integration is one, if two people ask for it at the same time', async () => {
    await say(world, 'watch storefront all');
    // Opened before, because the first integration is made within a second.
    const { port: replica } = await openReplica(world);
    world.service.faults.add({ method: 'POST', path: INTEGRATIONS, delayMs: 1_000, times: 1 });
    const isAsked = asked(world, 'POST');
    const hearing = hearWithinSeconds(world);
    await isAsked;
    const first = hook(world);
    await switchToReplica(replica);
    await hearWithinSeconds(world);
    await hearing;
    await expect.poll(() => hook(world) !== first && hook(world) !== '').toBe(true);
    await expect.poll(async () => (await call(hook(world))).status).toBe(204);
    expect(flags(world)).toEqual(ON);
  });

  it('an account is read every two seconds by both together, and what comes in between is read at their end', async () => {
    await watchPushed(world);
    const url = hook(world);
    const port = await switchToReplica();
    const both = [url, url.replace(`:${PORT}/`, `:${port}/`)];
    world.service.requests.clear();
    const arrivals: number[] = [];
    const count = async (): Promise<void> => {
      await world.service.requests.nextArrival(({ path }) => path.endsWith('/activity'));
      arrivals.push(performance.now());
    };
    for (let read = 0; read < 3; read += 1) {
      const isRead = count();
      await Promise.all([...both, ...both].map((each) => call(each)));
      await isRead;
    }
    deploy(world, 'between');
    await untilShown(world, 'between');
    const gaps = arrivals.slice(1).map((at, index) => at - (arrivals[index] ?? 0));
    // The calls take a little, the one more than the other.
    for (const gap of gaps) expect(gap).toBeGreaterThan(1_500);
    expect(reads(world)).toBeLessThanOrEqual(arrivals.length + 1);
  });
});

describe('an integration that Deckhand cannot switch off', () => {
  const told = (world: TestWorld) => dms(world).filter((text) => text.includes(TO_REMOVE));
  const untilTold = (world: TestWorld) =>
    world.slack.until(() => told(world).length > 0, { what: 'the person to be told' });

  test.for([
    { why: 'the service refuses', status: 403, words: 'refuses to switch it off' },
    { why: 'the key was revoked', status: 401, words: 'refuses to switch it off' },
  ])('is named to the person who asked for it once, if $why', async ({ status, words }, { world }) => {
    await watchPushed(world);
    world.service.faults.add({ method: 'PATCH', path: `${INTEGRATIONS}/*`, status });
    await unwatch(world);
    await untilTold(world);
    expect(told(world)).toHaveLength(1);
    expect(told(world)[0]).toContain(words);
    expect(told(world)[0]).toContain(ACCOUNT);
    expect((await call(hook(world))).status).toBe(404);
  });

  test('is named in the channel, if that person has left', async ({ world }) => {
    await watchPushed(world);
    world.service.faults.add({ method: 'PATCH', path: `${INTEGRATIONS}/*`, status: 403 });
    world.slack.changePerson(TEAM, PEOPLE.billing, { is_admin: true });
    world.slack.changePerson(TEAM, PEOPLE.admin, { deleted: true });
    await world.as('billing').command(CHANNEL, '/deckhand unwatch storefront');
    await untilShown(world, TO_REMOVE);
    expect(told(world)).toEqual([]);
  });

  test('is named, if the service does not answer before the account is disconnected', async ({ world }) => {
    await watchPushed(world);
    world.service.faults.add({ method: 'PATCH', path: `${INTEGRATIONS}/*`, status: 500 });
    await disconnect(world);
    await untilTold(world);
    expect(told(world)[0]).toContain('disconnected');
  });

  test('is not named, if somebody has deleted it there', async ({ world }) => {
    await watchPushed(world);
    project(world).integrations.length = 0;
    await unwatch(world);
    const pushes = () => world.app.workspaces.open(TEAM).pushes.list();
    await expect.poll(async () => (await pushes()).map(({ state }) => state)).toEqual(['off']);
    expect(told(world)).toEqual([]);
  });
});

describe('a set-up that fails', () => {
  test.for([
    { status: 422, isSecond: false },
    { status: 422, isSecond: true },
  ])(
    'with $status leaves no token of its own, and the earlier one: $isSecond',
    async ({ status, isSecond }, { world }) => {
      if (isSecond) {
        await watchPushed(world);
        Object.assign(world.app.parts.config, { PUBLIC_URL: `${PUBLIC_URL}/new` });
        await ask(world, '/deckhand watch list', 'admin');
      } else await say(world, 'watch storefront all');
      const first = integrations(world)[0]?.properties.url;
      world.service.faults.add({ path: `${INTEGRATIONS}/**`, status });
      world.service.faults.add({ path: INTEGRATIONS, status });
      const isAsked = asked(world, isSecond ? 'PATCH' : 'POST');
      await hearWithinSeconds(world);
      const url = JSON.stringify((await isAsked).body).match(/https?:[^"]+/)?.[0] ?? '';
      expect(url).toContain('/hooks/');
      expect((await call(url.replace('/new/', '/'))).status).toBe(404);
      if (first !== undefined) expect((await call(first)).status).toBe(204);
    },
  );

  test('after the service has carried it out ends with its flags off', async ({ world }) => {
    await watchPushed(world);
    await unwatch(world);
    await expect.poll(() => flags(world)).toEqual(OFF);
    await say(world, 'watch storefront all');
    world.service.faults.add({
      method: 'PATCH',
      path: `${INTEGRATIONS}/*`,
      status: 502,
      afterHandling: true,
      times: 1,
    });
    const isAsked = asked(world, 'PATCH');
    const { answer } = await hearWithinSeconds(world);
    await isAsked;
    const form = () => JSON.stringify(world.as('admin').openView()?.content);
    expect(`${answer.body}${form()}`).toContain('Deckhand switches it off');
    await expect.poll(() => flags(world)).toEqual(OFF);
  });
});

test('a push that ended with its account stays off, though the watch goes on and others are removed', async ({
  world,
}) => {
  await watchPushed(world);
  await disconnect(world);
  await expect.poll(() => flags(world)).toEqual(OFF);
  await world.connect();
  await say(world, 'watch storefront failures');
  await say(world, 'watch all failures', OTHER);
  await say(world, 'unwatch', OTHER);
  await world.app.parts.engine.stop(5_000);
  expect(flags(world)).toEqual(OFF);
});

test('a push is switched off also where the removal of its watch takes long', async ({ world }) => {
  await watchPushed(world);
  const workspace = world.app.workspaces.open(TEAM);
  const { schedules, store } = workspace;
  await store.exclusive(SCHEDULES_LOCK, async () => {
    await planSettling(workspace);
    await callsToEnd();
    for (const one of await schedules.all()) await schedules.remove(one);
    await endUnwatched(workspace);
  });
  await expect.poll(() => flags(world)).toEqual(OFF);
});

test('a push that is set up again while another one is switched off stays on', async ({ world }) => {
  const [storefront, billing] = world.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
  const path = `/${ACCOUNT}/projects`;
  await watchPushed(world);
  await watchPushed(world, 'billing-api');
  await say(world, 'watch all failures', OTHER);
  // It waits for another attempt.
  world.service.faults.add({
    method: 'PATCH',
    path: `${path}/${billing?.permalink}/**`,
    status: 500,
    times: 2,
  });
  const isRefused = asked(world, 'PATCH');
  await say(world, 'unwatch billing-api');
  await isRefused;
  world.service.faults.add({
    method: 'PATCH',
    path: `${path}/${storefront?.permalink}/**`,
    delayMs: 1_000,
    times: 1,
  });
  const isAsked = asked(world, 'PATCH');
  await say(world, 'unwatch storefront');
  await isAsked;
  await say(world, 'watch billing-api all');
  const hearing = hearWithinSeconds(world);
  await world.slack.until(() => world.as('admin').openView()?.content.callback_id === 'watch.push');
  await say(world, 'unwatch', OTHER);
  await hearing;
  const on = () =>
    [storefront, billing].flatMap((one) => one?.integrations.map((each) => each.sendOnFailure));
  await expect.poll(on).toEqual([false, true]);
  await world.app.parts.engine.stop(5_000);
  expect(on()).toEqual([false, true]);
});

it('a kill before the answer is stored has a person told which integration to remove', async () => {
  const around = await openSurroundings({ channels: [CHANNEL] });
  const product = around.createProduct({ PUBLIC_URL, PORT });
  onTestFinished(async () => {
    await product.stop();
    await around.close();
  });
  await around.start(product);
  await connectAccount(around.slack);
  const world = { ...around, as: (who: keyof typeof PEOPLE) => around.slack.as(TEAM, PEOPLE[who]) };
  const some = world as unknown as TestWorld;
  await say(some, 'watch storefront all');
  around.service.faults.add({ method: 'POST', path: INTEGRATIONS, delayMs: 1_000, times: 1 });
  const isAsked = asked(some, 'POST');
  const hearing = hearWithinSeconds(some).catch(() => undefined);
  await isAsked;
  await product.kill();
  await hearing;
  // The service carries it out all the same.
  await expect.poll(() => flags(some)).toEqual(ON);
  await around.start(product);
  await around.slack.until(() => dms(some).join().includes(TO_REMOVE), { what: 'the person to be told' });
  expect(dms(some).join()).toContain('never got');
  expect((await call(hook(some))).status).toBe(404);
  expect(shown(some)).not.toContain('tells of deployments');
});
