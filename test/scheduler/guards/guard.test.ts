import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../../support/asking.ts';
import { breakServer as breakAt, dms as dmsOf, roots as messagesOf, thread } from '../channel.ts';
import {
  ACCOUNT,
  CHANNEL,
  type DigestWorld,
  HOUR,
  MINUTE,
  openDigestWorld,
  PEOPLE,
  TEAM,
} from '../digests/digest-world.ts';

const STOREFRONT = { account: ACCOUNT, project: 'storefront' };
/** The first time that a test's guard is due: an hour after the world begins, if nothing else is said. */
const START = Date.parse('2026-03-02T09:00:00Z');

describe('a guard', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
  });
  afterEach(() => world.stop());

  const workspace = () => world.app.workspaces.open(TEAM);
  const guards = () => workspace().schedules.list('guard');
  const messages = () => messagesOf(world);
  const roots = () => messages().filter(({ text }) => /unreachable since|recovered/.test(text));
  const dms = () => dmsOf(world);
  /** The tests since the guards were set up. */
  const started = () => allStarted().slice(atFirst);
  const allStarted = () =>
    world.service.requests.all.filter(
      ({ method, path }) => method === 'POST' && path.endsWith('/test_access'),
    );
  let atFirst = 0;

  /** Sets one up, and waits for the run that begins at once. */
  async function add(words: string): Promise<void> {
    await world.say(`guard add ${words}`);
    await pass(async () => (await guards()).every(({ last }) => last !== undefined), 'the first run');
    atFirst = allStarted().length;
  }

  /** Lets time pass in long steps between tests, and in short ones while one goes on. */
  async function pass(until: () => boolean | Promise<boolean>, what: string): Promise<void> {
    for (let steps = 0; !(await until()); steps += 1) {
      if (steps > 3_000) throw new Error(`waited in vain for ${what}`);
      const isTesting = (await workspace().runs.newest(100)).some(({ status }) => status === 'running');
      await world.time.advance(isTesting ? 1_000 : 10_000);
    }
  }

  /** Waits for the end of the occurrence of that hour, counted from the first. */
  async function untilRun(hour: number): Promise<string | undefined> {
    const due = START + hour * HOUR;
    if (world.time.now() < due) await world.time.advance(due - world.time.now());
    const last = async () => (await guards())[0]?.last;
    await pass(async () => (await last())?.scheduledAt === due, `the run at ${new Date(due).toISOString()}`);
    return (await last())?.outcome;
  }

  async function outcomesOf(from: number, to: number): Promise<string> {
    const outcomes = new Set<string | undefined>();
    for (let hour = from; hour < to; hour += 1) outcomes.add(await untilRun(hour));
    return [...outcomes].join();
  }

  const breakServer = (server = 'web-2', status: 'ok' | 'error' = 'error') => breakAt(world, server, status);
  const newest = async () => (await workspace().runs.newest(1))[0];

  it('makes one message of an outage in 12 runs: it begins, is edited, and is over', async () => {
    await add('storefront hourly');
    const before = messages().length;
    expect(await outcomesOf(0, 3)).toBe('reachable');
    expect(messages()).toHaveLength(before);
    breakServer();
    expect(await untilRun(3)).toBe('unreachable');
    expect(roots()[0]?.text).toMatch(/^Storefront: web-2 is unreachable since /);
    const shown = JSON.stringify(roots()[0]?.blocks);
    expect(shown).toContain('"title":"web-2","status":"error"');
    expect(shown).not.toContain('web-1');
    expect(shown).toContain('episode:claim');
    expect(shown).toContain('"text":"Test again"');
    expect(shown).toContain(`<http://127.0.0.1:`);
    expect(await outcomesOf(4, 6)).toBe('unreachable');
    expect(roots()[0]?.text).toContain('Storefront: web-2 is unreachable since');
    breakServer('web-2', 'ok');
    expect(await outcomesOf(6, 12)).toBe('reachable');
    expect(roots()).toHaveLength(1);
    expect(messages()).toHaveLength(before + 1);
    expect(roots()[0]?.text).toBe('Storefront recovered. web-2 was unreachable for 3 h: Connection refused.');
    expect(JSON.stringify(roots()[0]?.blocks)).not.toMatch(/(?:is|are) unreachable/);
    // One more each for the confirmation of the first failure alone.
    expect(started()).toHaveLength(13);
    expect(await ask(world, '/deckhand guard list', 'admin')).toContain('both servers are reachable');
  });

  const test = async (words: string, until: () => boolean | Promise<boolean>) => {
    await world.as('member').command(CHANNEL, `/deckhand test ${words}`);
    await pass(until, `the end of test ${words}`);
  };
  const isShown = (words: string) => roots()[0]?.text.includes(words) === true;

  it('tells since its first test what is unreachable, what a newer test found of each server, and is over once a person’s test passed', async () => {
    breakServer();
    breakServer('web-1');
    const began = world.time.now();
    await world.say('guard add storefront daily 23:00 UTC');
    await pass(() => roots().length === 1, 'the message');
    expect(allStarted(), 'the first test, and another two minutes later').toHaveLength(2);
    const since = Number(/<!date\^(\d+)/.exec(roots()[0]?.text ?? '')?.[1]) * 1_000;
    expect(since - began).toBeLessThan(MINUTE);
    expect(world.time.now() - began).toBeGreaterThanOrEqual(2 * MINUTE);
    expect(roots()[0]?.text).toContain('Storefront: web-1 and web-2 are unreachable since');
    breakServer('web-1', 'ok');
    await test('storefront web-1', () => isShown('Storefront: web-2 is unreachable since'));
    breakServer('web-2', 'ok');
    breakServer('web-1');
    await test('storefront', () => isShown('Storefront: web-1 is unreachable since'));
    breakServer('web-1', 'ok');
    await test('storefront web-1', () => isShown('Storefront recovered'));
    expect(roots()[0]?.text).toMatch(
      /recovered\. web-1 and web-2 were unreachable for \d+ min: Connection refused\.$/,
    );
    expect(JSON.stringify(roots()[0]?.blocks)).not.toContain('Test again');
    await pass(() => thread(world, roots()[0]?.ts).length > 0, 'the reply');
    expect(thread(world, roots()[0]?.ts)).toEqual([expect.stringContaining('Recovered')]);
  });

  it('says nothing of two flickers of one run each', async () => {
    await add('storefront hourly');
    const before = messages().length;
    for (const hour of [0, 1]) {
      breakServer();
      await world.time.advance(START + hour * HOUR - world.time.now());
      await pass(() => started().length === hour * 2 + 1, 'the first test');
      await pass(async () => (await newest())?.status === 'completed', 'its end');
      breakServer('web-2', 'ok');
      expect(await untilRun(hour)).toBe('reachable');
      expect(started()).toHaveLength(hour * 2 + 2);
    }
    expect(messages()).toHaveLength(before);
  });

  it('runs each hour within five minutes of its time, over a change of the clocks too', async () => {
    await world.time.advance(Date.parse('2026-03-28T22:30:00Z') - world.time.now());
    await add('storefront hourly Europe/Lisbon');
    await add('billing-api hourly Europe/Lisbon');
    const first = Date.parse('2026-03-28T23:00:00Z');
    const seen: number[] = [];
    for (let hour = 0; hour < 6; hour += 1) {
      const due = first + hour * HOUR;
      await world.time.advance(due - world.time.now());
      await pass(async () => (await guards()).every(({ last }) => last?.scheduledAt === due), 'both runs');
      seen.push(...(await guards()).map(({ last }) => (last?.at ?? 0) - due));
    }
    expect(started()).toHaveLength(12);
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(0);
    // A run and its steps take less than a minute of the clock.
    expect(Math.max(...seen)).toBeLessThan(6 * MINUTE);
    // Each comes after the same delay each time.
    for (const [at, ms] of seen.entries())
      expect(Math.abs(ms - (seen[at % 2] ?? 0)), `run ${at}`).toBeLessThan(MINUTE);
  });

  it('tests again two minutes later also where the clocks change in between', async () => {
    await world.time.advance(Date.parse('2026-03-29T00:30:00Z') - world.time.now());
    await add('storefront cron:"59 * * * *" Europe/Lisbon');
    breakServer();
    const due = Date.parse('2026-03-29T00:59:00Z');
    await world.time.advance(due - world.time.now());
    await pass(async () => (await guards())[0]?.last?.outcome === 'unreachable', 'the second test');
    expect((await guards())[0]?.last?.scheduledAt).toBe(due);
    expect(roots()).toHaveLength(1);
    expect(started()).toHaveLength(2);
  });

  it('takes the result of a test that goes on, and a test asked for meanwhile is posted when its own ends', async () => {
    await add('storefront hourly');
    world.service.world.setRunOutcome({ ...STOREFRONT, durationMs: 20_000 });
    await world.time.advance(HOUR);
    await pass(() => started().length === 1, 'the guard’s test');
    const said = await ask(world, '/deckhand test storefront');
    expect(said).toContain('A guard started it');
    expect(said).toContain('The outcome will be posted here.');
    const posted = () => messages().filter(({ text }) => text.includes('both servers are reachable'));
    await pass(() => posted().length === 1, 'the outcome');
    expect(JSON.stringify(posted()[0]?.blocks)).toContain(`asked by <@${PEOPLE.member}>`);
    expect(started()).toHaveLength(1);

    await world.time.advance(START + HOUR - world.time.now());
    world.service.world.setRunOutcome({ ...STOREFRONT, durationMs: 10 * MINUTE });
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    expect(await untilRun(1)).toBe('reachable');
    expect(started()).toHaveLength(2);
  });

  it('tests by itself where the test that it waited for was given up', async () => {
    await add('storefront hourly');
    world.service.world.setRunOutcome({ ...STOREFRONT, durationMs: 10 * MINUTE });
    // Before the guard is due, at whatever second of its five minutes.
    await world.time.advance(START - MINUTE - world.time.now());
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await pass(() => started().length === 1, 'the person’s test');
    await pass(async () => (await newest())?.guards?.length === 1, 'the guard that waits');
    world.service.world.setRunOutcome({ ...STOREFRONT, durationMs: 1_000 });
    // The message that showed it is gone.
    world.slack.fault({ method: 'chat.update', error: 'message_not_found' });
    expect(await untilRun(0)).toBe('reachable');
    expect(started()).toHaveLength(2);
  });

  it.each([
    [404, 'record_not_found', 3, 'the guard of Storefront in acme (every hour)'],
    [403, 'api_access_restricted', 1, 'because the plan of the account acme has no API access'],
  ])(
    'pauses where the service answers %i %s %i times, and tells its owner once',
    async (status, word, times, words) => {
      const body = { error_code: word };
      await add('storefront hourly');
      world.service.faults.add({ path: '/acme/projects/*/test_access', status, body });
      await world.time.advance(HOUR);
      await pass(() => dms().length === 1, 'the notice');
      expect(dms()[0]).toContain(words);
      expect(JSON.stringify(world.slack.dms(TEAM, PEOPLE.admin)[0]?.blocks)).toContain('"text":"Resume"');
      await world.time.advance(3 * HOUR);
      expect(dms()).toHaveLength(1);
      expect(started()).toHaveLength(times);
      expect(await guards()).toMatchObject([{ state: { kind: 'paused', cause: 'service' } }]);
      expect(roots()).toEqual([]);
    },
  );
});
