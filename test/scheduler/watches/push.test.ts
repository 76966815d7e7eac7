import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ask, shareList } from '../../support/asking.ts';
import { test as base } from '../../support/fixtures.ts';
import { freePort } from '../../support/free-port.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const BASE = '/bots/deckhand';
const PORT = String(await freePort());
const PUBLIC_URL = `http://127.0.0.1:${PORT}${BASE}`;

const test = base
  .extend('worldOptions', () => ({ env: { PUBLIC_URL, PORT } }))
  .extend('connected', () => true);

/** Nothing listens there. */
const NOBODY = 'http://127.0.0.1:9/nobody';

const cards = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);
const shown = (world: TestWorld) => JSON.stringify(cards(world).map(({ text, blocks }) => [text, blocks]));
const latest = (world: TestWorld) => JSON.stringify(cards(world).at(-1)?.blocks);
/** Sooner than the next poll. */
const until = (world: TestWorld, check: () => boolean, what: string) =>
  world.slack.until(check, { what, timeoutMs: 30_000 });
const project = (world: TestWorld) => {
  const [storefront] = world.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
  if (storefront === undefined) throw new Error('no project');
  return storefront;
};
const integrations = (world: TestWorld) => project(world).integrations;
const hook = (world: TestWorld) => integrations(world)[0]?.properties.url ?? '';
const flags = (world: TestWorld) =>
  integrations(world).map(({ sendOnStart, sendOnCompletion, sendOnFailure }) => [
    sendOnStart,
    sendOnCompletion,
    sendOnFailure,
  ]);
const reads = (world: TestWorld) =>
  world.service.requests.all.filter(({ path }) => path.endsWith('/activity')).length;
const call = (url: string, body = '') => fetch(url, { method: 'POST', body });

async function say(world: TestWorld, line: string): Promise<void> {
  const before = cards(world).length;
  await world.as('admin').command(CHANNEL, `/deckhand ${line}`);
  await until(world, () => cards(world).length > before, `an answer to ${line}`);
}

function deploy(world: TestWorld, endRef: string, permalink = 'storefront'): void {
  world.service.world.addDeployment({ account: ACCOUNT, project: permalink, endRef });
}

/** Presses the button of the latest message, and says yes to the question. */
async function hearWithinSeconds(world: TestWorld) {
  const ann = world.as('admin');
  const ts = cards(world).at(-1)?.ts ?? '';
  const [actionId = ''] = /watch:push#\w+/.exec(latest(world)) ?? [];
  await ann.click({ channel: CHANNEL, ts }, { actionId });
  await until(world, () => ann.openView()?.content.callback_id === 'watch.push', 'the question');
  const question = JSON.stringify(ann.openView()?.content);
  const answer = await ann.submit('watch.push', {});
  return { question, answer };
}

async function watchPushed(world: TestWorld, permalink = 'storefront'): Promise<void> {
  await say(world, `watch ${permalink} all`);
  await hearWithinSeconds(world);
  await until(world, () => latest(world).includes('tells of deployments within seconds'), 'the changed card');
}

describe('hear within seconds', () => {
  test.beforeEach(({ world }) => world.slack.invite(TEAM, CHANNEL, 'bot'));
  test('is offered for one project, asks first, and has the service call Deckhand', async ({ world }) => {
    await say(world, 'watch all failures');
    expect(shown(world)).not.toContain('Hear within seconds');
    await say(world, 'watch storefront all');
    const { question } = await hearWithinSeconds(world);
    expect(question).toContain('named *Deckhand*');
    await until(
      world,
      () => shown(world).includes('tells of deployments within seconds'),
      'the changed card',
    );
    expect(shown(world)).not.toContain('watch:push');
    expect(integrations(world)).toMatchObject([{ hookType: 'http_req', name: 'Deckhand' }]);
    expect(flags(world)).toEqual([[true, true, true]]);
    expect(hook(world)).toMatch(new RegExp(`^${PUBLIC_URL}/hooks/[\\w-]{43}$`));
    deploy(world, 'pushed1');
    await until(world, () => shown(world).includes('pushed1'), 'the event');
    expect(world.service.world.state.notifications).toMatchObject([{ status: 204 }]);
    expect(await ask(world, '/deckhand watch list')).toContain('tells of deployments within seconds');
  });

  test('is switched off with the last watch of the project, and on again by “Undo” or later', async ({
    world,
  }) => {
    const undo = (ts: string | undefined) =>
      world.as('admin').click({ channel: CHANNEL, ts: ts ?? '' }, { actionId: 'watch:undo' });
    const OTHER = 'C0BILLING';
    await watchPushed(world);
    const first = hook(world);
    world.slack.invite(TEAM, OTHER, 'bot');
    await world.as('admin').command(OTHER, '/deckhand watch storefront failures');
    await until(world, () => world.slack.messages(TEAM, OTHER).length === 1, 'the other watch');
    await say(world, 'unwatch storefront');
    expect((await call(first)).status).toBe(204);
    expect(flags(world)).toEqual([[true, true, true]]);
    await undo(cards(world).at(-1)?.ts);
    await until(world, () => shown(world).includes('restored the watch'), 'the watch');
    await world.as('admin').command(OTHER, '/deckhand unwatch');
    await until(world, () => world.slack.messages(TEAM, OTHER).length === 2, 'its end');

    await say(world, 'unwatch storefront');
    expect((await call(first)).status).toBe(404);
    await expect.poll(() => flags(world)).toEqual([[false, false, false]]);
    await undo(cards(world).at(-1)?.ts);
    await expect.poll(() => flags(world)).toEqual([[true, true, true]]);
    expect(hook(world)).not.toBe(first);
    expect((await call(first)).status).toBe(404);
    expect((await call(hook(world))).status).toBe(204);

    await say(world, 'unwatch storefront');
    await expect.poll(() => flags(world)).toEqual([[false, false, false]]);
    // Somebody deletes it at the service.
    project(world).integrations.length = 0;
    await watchPushed(world);
    expect(flags(world)).toEqual([[true, true, true]]);
    expect((await call(hook(world))).status).toBe(204);
  });

  test('says that the service calls an old address after `PUBLIC_URL` changed, and sets it up again', async ({
    world,
  }) => {
    await watchPushed(world);
    Object.assign(world.app.parts.config, { PUBLIC_URL: `${PUBLIC_URL}/new` });
    const first = hook(world);
    const shared = await shareList(world, 'watch list');
    expect(JSON.stringify(shared.blocks)).toContain('an old address');
    expect(await ask(world, '/deckhand doctor')).toContain('go to an old address');
    await hearWithinSeconds(world);
    await expect.poll(() => hook(world)).toContain(`${PUBLIC_URL}/new/hooks/`);
    await until(world, () => latest(world).includes('tells of deployments'), 'the changed list');
    expect((await call(first)).status).toBe(404);
    expect(integrations(world)).toHaveLength(1);
  });

  test('is switched off before the account is disconnected', async ({ world }) => {
    await watchPushed(world);
    const ann = world.as('admin');
    await ask(world, `/deckhand disconnect ${ACCOUNT}`, 'admin');
    const ts = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
    await ann.click({ channel: CHANNEL, ts }, { actionId: 'disconnect:confirm' });
    await expect.poll(() => flags(world)).toEqual([[false, false, false]]);
    expect((await call(hook(world))).status).toBe(404);
  });

  test('says why the service refuses it', async ({ world }) => {
    await say(world, 'watch storefront all');
    const path = `/${ACCOUNT}/projects/*/integrations`;
    world.service.faults.add({ method: 'POST', path, status: 422, body: { url: ['is not reachable'] } });
    const { answer } = await hearWithinSeconds(world);
    const form = JSON.stringify(world.as('admin').openView()?.content);
    expect(`${answer.body}${form}`).toContain('is not reachable');
    expect(shown(world)).toContain('watch:push');
  });
});

describe('a call of the service', () => {
  test.beforeEach(({ world }) => world.slack.invite(TEAM, CHANNEL, 'bot'));
  test('has the feed read at once, and again two seconds later for all that came meanwhile', async ({
    world,
  }) => {
    await watchPushed(world);
    const [begun, before] = [performance.now(), reads(world)];
    const url = hook(world);
    const wrong = url.slice(0, -43) + randomBytes(32).toString('base64url');
    const calls = Array.from({ length: 200 }, (_, at) => call(at % 2 === 0 ? url : wrong));
    const answers = await Promise.all(calls);
    expect(answers.map(({ status }) => status)).toEqual(calls.map((_, at) => (at % 2 === 0 ? 204 : 404)));
    deploy(world, 'among01');
    await until(world, () => shown(world).includes('among01'), 'the event');
    // One at once, one for what came later, and one poll.
    const most = 3 + (performance.now() - begun) / 2_000;
    expect(reads(world) - before).toBeLessThanOrEqual(most);
  });

  test('is refused if its body is too large, and closes no other', async ({ world }) => {
    await watchPushed(world);
    const before = reads(world);
    const large = 'x'.repeat(1_000_000);
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(hook(world), large)));
    expect(new Set(answers)).toEqual(new Set([413]));
    expect((await call(hook(world), large)).status).toBe(413);
    expect(reads(world)).toBe(before);
    expect((await call(hook(world), 'x'.repeat(60_000))).status).toBe(204);
    expect(await (await fetch(hook(world))).text()).toBe('not found');
    expect((await call(`${hook(world)}/`)).status).toBe(204);
    expect((await call(hook(world).replace(BASE, ''))).status).toBe(204);
  });

  test('finds nothing after an uninstall', async ({ world }) => {
    await watchPushed(world);
    const url = hook(world);
    let isOver = false;
    const calling = (async () => {
      const seen = new Set<number>();
      while (!isOver) seen.add((await call(url)).status);
      return seen;
    })();
    world.slack.uninstall(TEAM);
    await world.logged('"event":"uninstalled"');
    expect((await call(url)).status).toBe(404);
    isOver = true;
    expect([...(await calling)].filter((status) => status !== 204 && status !== 404)).toEqual([]);
    expect(await world.app.parts.store.of('-').collection('hook-tokens', z.unknown()).list()).toEqual([]);
  });

  test('during a read has the feed read once more', async ({ world }) => {
    await watchPushed(world);
    world.service.faults.add({ path: `/${ACCOUNT}/activity`, delayMs: 500, times: 1 });
    const before = reads(world);
    await call(hook(world));
    await expect.poll(() => reads(world)).toBe(before + 1);
    // The answer under way was made before this one.
    deploy(world, 'within1');
    await until(world, () => shown(world).includes('within1'), 'the event');
  });
});

/** Sends no `content-length`. */
function post(url: string, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: { 'transfer-encoding': 'chunked' } }, (answer) => {
      resolve(answer.statusCode);
      answer.resume();
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('by the clock', () => {
  let time: ManualClock;
  let world: TestWorld;
  beforeEach(async () => {
    time = createManualClock();
    world = await openTestWorld({ time, env: { PUBLIC_URL, PORT } });
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await world.connect();
    await watchPushed(world);
    world.service.requests.clear();
  });
  afterEach(() => world.stop());

  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      await time.advance(Math.min(1_000, left));
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function secondsUntilRead(): Promise<number> {
    const [from, before] = [time.now(), reads(world)];
    while (reads(world) === before) await pass(1_000);
    return (time.now() - from) / 1000;
  }

  /** A call has the feed read within two seconds of the read before. */
  async function deployHeard(endRef: string): Promise<void> {
    deploy(world, endRef);
    const { notifications } = world.service.world.state;
    const isHeard = () => notifications.every(({ url, status }) => status === 204 || url === NOBODY);
    await expect.poll(isHeard).toBe(true);
    await pass(2_000);
    await until(world, () => shown(world).includes(endRef), endRef);
  }

  async function deployUnheard(endRef: string): Promise<void> {
    const url = hook(world);
    for (const { properties } of integrations(world)) properties.url = NOBODY;
    deploy(world, endRef);
    for (const { properties } of integrations(world)) properties.url = url;
  }

  it('an account is polled five times as seldom while calls arrive, and its other watches are told by calls too', async () => {
    await secondsUntilRead();
    await deployHeard('pushed1');
    await secondsUntilRead();
    expect(await secondsUntilRead()).toBeGreaterThan(280);
    await say(world, 'watch all failures');
    await secondsUntilRead();
    expect(await secondsUntilRead()).toBeLessThan(70);
  });

  it('a call that does not come is noticed, and said, until calls arrive again', async () => {
    await secondsUntilRead();
    await deployHeard('pushed1');
    await pass(40_000);
    await secondsUntilRead();
    await deployUnheard('silent1');
    await secondsUntilRead();
    await until(world, () => shown(world).includes('silent1'), 'the event, by a poll');
    expect(await secondsUntilRead()).toBeLessThan(35);
    expect(await ask(world, '/deckhand watch list')).toContain('Calls of the service do not arrive');
    expect(await ask(world, '/deckhand doctor')).toContain('do not arrive, so it is polled every minute');
    expect(await world.app.parts.metrics.text()).toContain('deckhand_pushes_total{outcome="missing"} 1');
    await secondsUntilRead();
    expect(await secondsUntilRead()).toBeLessThan(70);
    await deployHeard('pushed2');
    expect(await ask(world, '/deckhand watch list')).not.toContain('do not arrive');
  });

  it('calls about two projects at once are both heard', async () => {
    await watchPushed(world, 'billing-api');
    await secondsUntilRead();
    await pass(40_000);
    deploy(world, 'first01');
    deploy(world, 'other01', 'billing-api');
    await deployHeard('third01');
    expect(shown(world)).toContain('other01');
    await pass(400_000);
    expect(await ask(world, '/deckhand watch list')).not.toContain('do not arrive');
  });

  it('a slow call is cut after ten seconds', async () => {
    let status: number | undefined;
    request(hook(world), { method: 'POST' }, ({ statusCode }) => {
      status = statusCode;
    }).write('x');
    const from = time.now();
    while (status === undefined) await pass(1_000);
    expect(status).toBe(408);
    expect(time.now() - from).toBeGreaterThanOrEqual(10_000);
  });
});
