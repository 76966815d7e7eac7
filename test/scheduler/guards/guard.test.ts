import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
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
  const guards = () => workspace().guards.list();
  const messages = () => world.slack.messages(TEAM, CHANNEL);
  const roots = () => messages().filter(({ text }) => /is failing|recovered/.test(text));
  const dms = () => world.slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text);
  const started = () =>
    world.service.requests.all.filter(
      ({ method, path }) => method === 'POST' && path.endsWith('/test_access'),
    );

  /** Lets time pass in long steps between tests, and in short ones while one goes on. */
  async function pass(until: () => boolean | Promise<boolean>, what: string): Promise<void> {
    for (let steps = 0; !(await until()); steps += 1) {
      if (steps > 3_000) throw new Error(`waited in vain for ${what}`);
      const isTesting = (await workspace().runs.newest(100)).some(({ status }) => status === 'running');
      await world.time.advance(isTesting ? 1_000 : 10_000);
      for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
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

  async function outcomesOf(from: number, to: number): Promise<Set<string | undefined>> {
    const outcomes = new Set<string | undefined>();
    for (let hour = from; hour < to; hour += 1) outcomes.add(await untilRun(hour));
    return outcomes;
  }

  function breakServer(server = 'web-2', status: 'ok' | 'error' = 'error'): void {
    world.service.world.setOutcome({ ...STOREFRONT, server, status, message: 'Connection refused' });
  }

  it('makes one message of an outage in 12 runs: it begins, is edited, and is over', async () => {
    await world.say('guard add storefront hourly');
    const before = messages().length;
    expect(await outcomesOf(0, 3)).toEqual(new Set(['reachable']));
    expect(messages()).toHaveLength(before);
    breakServer();
    expect(await untilRun(3)).toBe('unreachable');
    expect(roots()[0]?.text).toContain('Storefront is failing since');
    const shown = JSON.stringify(roots()[0]?.blocks);
    expect(shown).toContain('1 of 2 servers is unreachable');
    expect(shown).toContain('"title":"web-2","status":"error"');
    expect(shown).not.toContain('web-1');
    expect(shown).toContain('episode:claim');
    expect(await outcomesOf(4, 6)).toEqual(new Set(['unreachable']));
    expect(roots()[0]?.text).toContain('is failing, 3 failures');
    breakServer('web-2', 'ok');
    expect(await outcomesOf(6, 12)).toEqual(new Set(['reachable']));
    expect(roots()).toHaveLength(1);
    expect(messages()).toHaveLength(before + 1);
    expect(roots()[0]?.text).toContain('Storefront recovered after');
    // One more each for the confirmation of the first failure alone.
    expect(started()).toHaveLength(13);
  });

  it('says nothing of two flickers of one run each', async () => {
    await world.say('guard add storefront hourly');
    const before = messages().length;
    for (const hour of [0, 1]) {
      breakServer();
      await world.time.advance(START + hour * HOUR - world.time.now());
      await pass(() => started().length === hour * 2 + 1, 'the first test');
      await pass(async () => (await workspace().runs.newest(100))[0]?.status === 'completed', 'its end');
      breakServer('web-2', 'ok');
      expect(await untilRun(hour)).toBe('reachable');
      expect(started()).toHaveLength(hour * 2 + 2);
    }
    expect(messages()).toHaveLength(before);
  });

  it('runs each hour within five minutes of its time, over a change of the clocks too', async () => {
    await world.time.advance(Date.parse('2026-03-28T22:30:00Z') - world.time.now());
    await world.say('guard add storefront hourly Europe/Lisbon');
    await world.say('guard add billing-api hourly Europe/Lisbon');
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
    expect(Math.max(...seen)).toBeLessThan(5 * MINUTE + 30_000);
    // Each comes after the same delay each time.
    for (const [at, ms] of seen.entries())
      expect(Math.abs(ms - (seen[at % 2] ?? 0)), `run ${at}`).toBeLessThan(30_000);
  });

  it('tests again two minutes later also where the clocks change in between', async () => {
    await world.time.advance(Date.parse('2026-03-29T00:30:00Z') - world.time.now());
    breakServer();
    await world.say('guard add storefront cron:"59 * * * *" Europe/Lisbon');
    const due = Date.parse('2026-03-29T00:59:00Z');
    await world.time.advance(due - world.time.now());
    await pass(async () => (await guards())[0]?.last?.outcome === 'unreachable', 'the second test');
    expect((await guards())[0]?.last?.scheduledAt).toBe(due);
    expect(roots()).toHaveLength(1);
    expect(started()).toHaveLength(2);
  });

  it('takes the result of a test that goes on, and a test asked for meanwhile is posted when its own ends', async () => {
    await world.say('guard add storefront hourly');
    world.service.world.setRunOutcome({ ...STOREFRONT, durationMs: 20_000 });
    await world.time.advance(HOUR);
    await pass(() => started().length === 1, 'the guard’s test');
    const said = await answerTo(world, 'member', () =>
      world.as('member').command(CHANNEL, '/deckhand test storefront'),
    );
    expect(said).toContain('A guard started it');
    expect(said).toContain('Its outcome is posted here when it ends.');
    const posted = () => messages().filter(({ text }) => text.includes('all 2 servers are reachable'));
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
    await world.say('guard add storefront hourly');
    world.service.world.setRunOutcome({ ...STOREFRONT, durationMs: 10 * MINUTE });
    await world.time.advance(HOUR);
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await pass(() => started().length === 1, 'the person’s test');
    await pass(
      async () => (await workspace().runs.newest(100))[0]?.guards?.length === 1,
      'the guard that waits',
    );
    world.service.world.setRunOutcome({ ...STOREFRONT, durationMs: 1_000 });
    // The message that showed it is gone.
    world.slack.fault({ method: 'chat.update', error: 'message_not_found' });
    expect(await untilRun(0)).toBe('reachable');
    expect(started()).toHaveLength(2);
  });

  it('pauses where its project is gone, after three tests that did not find it', async () => {
    await world.say('guard add storefront hourly');
    world.service.faults.add({
      path: '/acme/projects/storefront/test_access',
      status: 404,
      body: { error_code: 'record_not_found' },
    });
    await world.time.advance(HOUR);
    await pass(() => dms().length === 1, 'the notice');
    expect(dms()[0]).toContain(`Deckhand paused the guard \`Storefront\` in <#${CHANNEL}>`);
    expect(started()).toHaveLength(3);
    expect(await guards()).toMatchObject([{ state: { kind: 'paused', cause: 'service' } }]);
    expect(messages().at(-1)?.text).not.toContain('failing');
  });

  it('pauses where the service refuses, and tells its owner once', async () => {
    await world.say('guard add storefront hourly');
    world.service.faults.add({
      path: '/acme/projects/*/test_access',
      status: 403,
      body: { error_code: 'api_access_restricted' },
    });
    await world.time.advance(HOUR);
    await pass(() => dms().length === 1, 'the notice');
    expect(dms()[0]).toContain('because the plan of the account `acme` has no API access');
    expect(dms()[0]).toContain('/deckhand guard resume');
    await world.time.advance(3 * HOUR);
    expect(dms()).toHaveLength(1);
    expect(started()).toHaveLength(1);
  });

  it('pauses with its account where the key was revoked', async () => {
    await world.say('guard add storefront hourly');
    world.service.world.revokeKey({ account: ACCOUNT, email: 'ann@example.com' });
    await world.time.advance(HOUR);
    await pass(() => dms().length === 1, 'the notice');
    expect(dms()[0]).toContain('the key of the account `acme` was revoked or rotated');
    expect(await guards()).toMatchObject([{ state: { kind: 'paused', cause: 'account' } }]);
  });

  it('goes on where the service does not answer for a while, and says so in its list', async () => {
    await world.say('guard add storefront hourly');
    world.service.faults.add({ method: 'POST', path: '/acme/projects/*/test_access', status: 500, times: 1 });
    expect(await untilRun(0)).toBe('failed');
    expect(await ask(world, '/deckhand guard list', 'admin')).toContain('failed: ');
    expect(await untilRun(1)).toBe('reachable');
  });

  it('pauses where its channel is archived once there is something to say', async () => {
    await world.say('guard add storefront hourly');
    expect(await untilRun(0)).toBe('reachable');
    world.slack.archiveChannel(TEAM, CHANNEL);
    breakServer();
    await world.time.advance(START + HOUR - world.time.now());
    await pass(() => dms().length === 1, 'the notice');
    expect(dms()[0]).toContain('because the channel is archived');
    expect(await guards()).toMatchObject([{ state: { kind: 'paused', cause: 'slack' } }]);
  });

  it('says nothing where Deckhand was uninstalled between the two tests', async () => {
    await world.say('guard add storefront hourly');
    breakServer();
    await world.time.advance(HOUR);
    await pass(() => started().length === 1, 'the first test');
    await pass(async () => (await workspace().runs.newest(100))[0]?.status === 'completed', 'its end');
    world.slack.uninstall(TEAM);
    await world.logged('"event":"uninstalled"');
    for (let minute = 0; minute < 20; minute += 1) await world.time.advance(MINUTE);
    expect(started()).toHaveLength(1);
    expect(roots()).toEqual([]);
    expect(world.logs.filter((line) => line.includes('"level":50'))).toEqual([]);
  });
});
