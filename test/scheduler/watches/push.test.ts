import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { ask } from '../../support/asking.ts';
import { openBrowser } from '../../support/installing.ts';
import { ACCOUNT, CHANNEL, CREDENTIALS, openTestWorld, PEOPLE, TEAM } from '../../support/test-world.ts';
import { test as base, deploy, OTHER, press, say, shown, untilShown } from '../channel.ts';
import { type DigestWorld, openDigestWorld } from '../digests/digest-world.ts';
import {
  BASE,
  BY_OUTLINE,
  call,
  flags,
  hearWithinSeconds,
  hook,
  integrations,
  latest,
  OFF,
  ON,
  PORT,
  PUBLIC_URL,
  PUSHED,
  project,
  reads,
  watchPushed,
} from './pushing.ts';

const test = base.extend('worldOptions', () => ({ env: BY_OUTLINE }));

/** Nothing listens there. */
const NOBODY = 'http://127.0.0.1:9/nobody';

/** Sends a body of so many bytes, whole or in chunks. Returns the status. */
function send(url: string, bytes: number, isChunked: boolean): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const headers = isChunked ? {} : { 'content-length': bytes };
  const sent = request(url, { method: 'POST', headers }, (answer) => resolve(answer.resume().statusCode));
  // The server may close the connection before it has read all. The answer came first.
  sent.on('error', reject);
  for (let left = bytes; left > 0; left -= 100_000) sent.write('x'.repeat(Math.min(left, 100_000)));
  sent.end();
  return promise;
}

describe('hear within seconds', () => {
  test('is offered for one project, asks first, says why it is refused, and has the service call Deckhand', async ({
    world,
  }) => {
    expect(await say(world, 'watch all failures')).not.toContain('Hear within seconds');
    await say(world, 'watch storefront all');
    const path = `/${ACCOUNT}/projects/*/integrations`;
    const body = { url: ['is not reachable'] };
    const refusal = world.service.faults.add({ method: 'POST', path, status: 422, body });
    const { answer } = await hearWithinSeconds(world);
    const form = JSON.stringify(world.as('admin').openView()?.content);
    expect(`${answer.body}${form}`).toContain('is not reachable');
    refusal.remove();
    const { question } = await hearWithinSeconds(world);
    expect(question).toContain('named *Deckhand*');
    expect(question).toContain('the integration is switched off');
    await world.slack.until(() => latest(world).includes(PUSHED));
    expect(latest(world)).not.toContain('watch:push');
    expect(integrations(world)).toMatchObject([{ hookType: 'http_req', name: 'Deckhand' }]);
    expect(flags(world)).toEqual(ON);
    expect(hook(world)).toMatch(new RegExp(`^${PUBLIC_URL}/hooks/[\\w-]{43}$`));
    deploy(world, 'pushed1');
    await untilShown(world, 'pushed1');
    expect(world.service.world.state.notifications).toMatchObject([{ status: 204 }]);
    expect(await ask(world, '/deckhand watch list')).toContain(PUSHED);
  });

  test('is switched off with the last watch of the project, and on again by “Undo” or later', async ({
    world,
  }) => {
    await watchPushed(world);
    const first = hook(world);
    await say(world, 'watch storefront failures', OTHER);
    await say(world, 'unwatch storefront');
    expect((await call(first)).status).toBe(204);
    expect(flags(world)).toEqual(ON);
    await press(world, 'watch:undo');
    await untilShown(world, 'restored the watch');
    await say(world, 'unwatch', OTHER);

    await say(world, 'unwatch storefront');
    expect((await call(first)).status).toBe(404);
    await expect.poll(() => flags(world)).toEqual(OFF);
    await press(world, 'watch:undo');
    await expect.poll(() => flags(world)).toEqual(ON);
    expect(hook(world)).not.toBe(first);
    expect((await call(first)).status).toBe(404);
    expect((await call(hook(world))).status).toBe(204);

    await say(world, 'unwatch storefront');
    await expect.poll(() => flags(world)).toEqual(OFF);
    // Somebody deletes it at the service.
    project(world).integrations.length = 0;
    await watchPushed(world);
    expect(flags(world)).toEqual(ON);
    expect((await call(hook(world))).status).toBe(204);
  });

  test('says that the service calls an old address after `PUBLIC_URL` changed, and sets it up again', async ({
    world,
  }) => {
    await watchPushed(world);
    Object.assign(world.app.parts.config, { PUBLIC_URL: `${PUBLIC_URL}/new` });
    const first = hook(world);
    expect(await ask(world, '/deckhand doctor')).toContain('go to an old address');
    expect(await ask(world, '/deckhand watch list', 'admin')).toContain('an old address');
    await hearWithinSeconds(world);
    await expect.poll(() => hook(world)).toContain(`${PUBLIC_URL}/new/hooks/`);
    await world.slack.until(() => latest(world).includes(PUSHED), { what: 'the changed list' });
    expect((await call(first)).status).toBe(404);
    expect(integrations(world)).toHaveLength(1);
  });

  test('is switched off before the account is disconnected', async ({ world }) => {
    await watchPushed(world);
    const ann = world.as('admin');
    await ask(world, `/deckhand disconnect ${ACCOUNT}`, 'admin');
    const ts = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
    await ann.click({ channel: CHANNEL, ts }, { actionId: 'disconnect:confirm' });
    await expect.poll(() => flags(world)).toEqual(OFF);
    expect((await call(hook(world))).status).toBe(404);
  });
});

describe('a call of the service', () => {
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
    await untilShown(world, 'among01');
    // One at once, one for what came later, and one poll.
    const most = 3 + (performance.now() - begun) / 2_000;
    expect(reads(world) - before).toBeLessThanOrEqual(most);
  });

  test.for([
    { bytes: 4_900_000, isChunked: false, status: 204 },
    { bytes: 4_900_000, isChunked: true, status: 204 },
    { bytes: 6_000_000, isChunked: false, status: 413 },
    { bytes: 6_000_000, isChunked: true, status: 413 },
  ])(
    'of $bytes bytes is answered $status, chunked: $isChunked',
    async ({ bytes, isChunked, status }, { world }) => {
      await watchPushed(world);
      const before = reads(world);
      const url = hook(world);
      // At once, and to a token that nobody has.
      const answers = await Promise.all([url, url, `${url}x`].map((each) => send(each, bytes, isChunked)));
      expect(answers).toEqual([status, status, status === 204 ? 404 : status]);
      if (status === 204) await expect.poll(() => reads(world)).toBeGreaterThan(before);
      else expect(reads(world)).toBe(before);
      expect((await call(url)).status).toBe(204);
    },
  );

  test('is answered below both paths, and a browser gets nothing', async ({ world }) => {
    await watchPushed(world);
    expect(await (await fetch(hook(world))).text()).toBe('not found');
    expect((await call(`${hook(world)}/`)).status).toBe(204);
    expect((await call(hook(world).replace(BASE, ''))).status).toBe(204);
  });

  it('finds nothing after an uninstall, and goes on in another workspace', async () => {
    const env = { PUBLIC_URL: `http://127.0.0.1:${PORT}`, PORT };
    const world = await openTestWorld({ byOauth: true, env });
    onTestFinished(() => world.stop());
    world.slack.addWorkspace({
      id: 'T0OTHER',
      name: 'Other',
      installed: false,
      users: [{ id: PEOPLE.admin, name: 'ann', is_admin: true }],
      channels: [{ id: CHANNEL, name: 'deploys', members: [PEOPLE.admin] }],
    });
    const teams = [TEAM, 'T0OTHER'];
    const issued: string[] = [];
    for (const team of teams) {
      await openBrowser(world).install(team, PEOPLE.admin);
      const { slack } = world;
      const ann = slack.as(team, PEOPLE.admin);
      slack.invite(team, CHANNEL, 'bot');
      await ann.command(CHANNEL, '/deckhand connect');
      await slack.until(() => ann.openView()?.content.callback_id === 'connect');
      await ann.submit('connect', CREDENTIALS);
      await slack.until(() => slack.ephemerals(team, PEOPLE.admin).length > 0);
      await ann.command(CHANNEL, '/deckhand watch storefront all');
      const offer = () => {
        const answer = slack.ephemerals(team, PEOPLE.admin).at(-1);
        const [actionId] = /watch:push#\w+/.exec(JSON.stringify(answer?.blocks)) ?? [];
        return answer && actionId && { ts: answer.ts, actionId };
      };
      const { ts, actionId } = await slack.until(offer);
      await ann.click({ channel: CHANNEL, ts }, { actionId });
      await slack.until(() => ann.openView()?.content.callback_id === 'watch.push');
      await ann.submit('watch.push', {});
      await expect.poll(() => integrations(world).length).toBe(issued.length + 1);
      issued.push(integrations(world).at(-1)?.properties.url ?? '');
    }
    const statuses = () => Promise.all(issued.map(async (url) => (await call(url)).status));
    expect(await statuses()).toEqual([204, 204]);
    world.slack.uninstall(TEAM);
    await world.logged('"event":"uninstalled"');
    expect(await statuses()).toEqual([404, 204]);
    const tokens = await world.app.parts.store.of('-').collection('hook-tokens', z.unknown()).list();
    expect(tokens.map(({ doc }) => doc)).toMatchObject([{ workspace: 'T0OTHER' }]);
  });

  test('during a read has the feed read once more', async ({ world }) => {
    await watchPushed(world);
    world.service.faults.add({ path: `/${ACCOUNT}/activity`, delayMs: 500, times: 1 });
    const before = reads(world);
    await call(hook(world));
    await expect.poll(() => reads(world)).toBe(before + 1);
    // The answer under way was made before this one.
    deploy(world, 'within1');
    await untilShown(world, 'within1');
  });
});

describe('by the clock', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld(undefined, { env: { PUBLIC_URL, PORT } });
    await watchPushed(world);
    world.service.requests.clear();
  });
  afterEach(() => world.stop());

  async function secondsUntilRead(): Promise<number> {
    const [from, before] = [world.time.now(), reads(world)];
    await world.passUntil(() => reads(world) > before);
    return (world.time.now() - from) / 1000;
  }

  /** A call has the feed read within two seconds of the read before. */
  async function deployHeard(endRef: string): Promise<void> {
    deploy(world, endRef);
    const { notifications } = world.service.world.state;
    const isHeard = () => notifications.every(({ url, status }) => status === 204 || url === NOBODY);
    await expect.poll(isHeard).toBe(true);
    await world.pass(2_000);
    await untilShown(world, endRef);
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
    await world.pass(40_000);
    await secondsUntilRead();
    await deployUnheard('silent1');
    await secondsUntilRead();
    await untilShown(world, 'silent1');
    expect(await secondsUntilRead()).toBeLessThan(35);
    expect(await ask(world, '/deckhand watch list')).toContain('Calls of the service do not arrive');
    expect(await ask(world, '/deckhand doctor')).toContain('do not arrive, so it is polled every minute');
    expect(await world.app.parts.metrics.text()).toContain('deckhand_pushes_total{outcome="missing"} 1');
    await secondsUntilRead();
    expect(await secondsUntilRead()).toBeLessThan(70);
    await deployHeard('pushed2');
    expect(await ask(world, '/deckhand watch list')).not.toContain('do not arrive');
  });

  it('calls to which the service is busy are heard, and followed by a read within a minute', async () => {
    await secondsUntilRead();
    await deployHeard('pushed1');
    await secondsUntilRead();
    const busy = { path: `/${ACCOUNT}/activity`, status: 429, times: 1 };
    world.service.faults.add({ ...busy, retryAfter: '1' });
    deploy(world, 'busy001');
    await secondsUntilRead();
    await secondsUntilRead();
    await world.pass(40_000);
    expect(await ask(world, '/deckhand watch list')).not.toContain('do not arrive');
    world.service.faults.add({ ...busy, retryAfter: '45' });
    deploy(world, 'busy002');
    await secondsUntilRead();
    deploy(world, 'busy003');
    const seconds = await secondsUntilRead();
    expect(seconds).toBeGreaterThan(40);
    expect(seconds).toBeLessThan(70);
    await untilShown(world, 'busy003');
  });

  it('calls about two projects at once are both heard', async () => {
    await watchPushed(world, 'billing-api');
    await secondsUntilRead();
    await world.pass(40_000);
    deploy(world, 'first01');
    deploy(world, 'other01', { project: 'billing-api' });
    await deployHeard('third01');
    expect(shown(world)).toContain('other01');
    await world.pass(400_000);
    expect(await ask(world, '/deckhand watch list')).not.toContain('do not arrive');
    // A call about one, to which the service is busy, says nothing of the other.
    world.service.faults.add({ path: `/${ACCOUNT}/activity`, status: 429, retryAfter: '1', times: 1 });
    deploy(world, 'busy001');
    await secondsUntilRead();
    await world.pass(400_000);
    expect(shown(world)).toContain('busy001');
    expect(await ask(world, '/deckhand watch list')).not.toContain('do not arrive');
  });

  it('a poll that is due right after a call does not read the account again', async () => {
    await secondsUntilRead();
    await world.pass(59_000);
    await deployHeard('between');
    expect(await secondsUntilRead()).toBeGreaterThan(20);
  });

  it('a slow call is cut after ten seconds', async () => {
    let status: number | undefined;
    request(hook(world), { method: 'POST' }, ({ statusCode }) => {
      status = statusCode;
    }).write('x');
    const from = world.time.now();
    await world.passUntil(() => status !== undefined);
    expect(status).toBe(408);
    expect(world.time.now() - from).toBeGreaterThanOrEqual(10_000);
  });
});
