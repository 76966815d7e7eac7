import { describe, expect } from 'vitest';
import { answerTo } from '../../support/asking.ts';
import { fastClock } from '../../support/faults.ts';
import { ACCOUNT, CHANNEL, TEAM, type TestWorld } from '../../support/test-world.ts';
import { test as base, roots, thread } from '../channel.ts';

/** As fast as the service is. */
const test = base.extend('worldOptions', () => ({
  clock: fastClock(20),
  serviceTimeoutMs: 600_000,
  env: { POLL_INTERVAL_MS: '2500' },
}));
/** No run takes so long by itself, at any speed of the machine. */
const LONG_MS = 24 * 3_600_000;
const STOREFRONT = { account: ACCOUNT, project: 'storefront' };

const root = (world: TestWorld) => roots(world).at(-1);
const run = (world: TestWorld, project = 'storefront') =>
  world.as('member').command(CHANNEL, `/deckhand test ${project}`);
const untilOver = (world: TestWorld) =>
  world.slack.until(() => thread(world)[0]?.includes('The test took'), { what: 'the end of the run' });

/** A run that goes on until its root message has shown `times` times how long it takes; it says that it took `tookMs`. */
async function runShown(world: TestWorld, tookMs: number, times: number): Promise<string[]> {
  const { service, slack } = world;
  service.world.setRunOutcome({ ...STOREFRONT, durationMs: LONG_MS, tookMs });
  const before = roots(world).length;
  await run(world);
  await slack.until(() => roots(world).length > before);
  /** The times that it has shown in its edits, in their order. */
  const shown = () => [
    ...new Set(
      slack.calls
        .filter(({ method, args }) => method === 'chat.update' && args.ts === root(world)?.ts)
        .map(({ args }) => JSON.stringify(args.blocks))
        .filter((text) => /running for /.test(text)),
    ),
  ];
  await slack.until(() => shown().length >= times, { what: `${times} edits` });
  const [first] = slack.thread(TEAM, CHANNEL, root(world)?.ts ?? '');
  expect(slack.calls.filter(({ args }) => args.ts === first?.ts)).toEqual([]);
  const seen = shown();
  service.clock.advance(LONG_MS);
  await untilOver(world);
  return seen;
}

describe('the thread of a test run', () => {
  test('the root message shows how long it takes, and at the end its first reply too how long it took', async ({
    world,
  }) => {
    await runShown(world, 44_000, 2);
    expect(thread(world)).toEqual(['Both servers are reachable. The test took 44 s.']);
    expect(JSON.stringify(root(world)?.blocks)).toMatch(/took 44 s/);
  });

  test('says how long the project’s runs usually take, also after a restart', async ({ world }) => {
    for (const ms of [34_000, 33_000, 35_000]) {
      await runShown(world, ms, 1);
      expect(thread(world)[0]).not.toContain('usually');
    }
    await world.restart(async () => undefined);
    const seen = await runShown(world, 36_000, 1);
    expect(thread(world)[0]).toMatch(/took 36 s, usually 34 s/);
    for (const shown of seen) expect(shown).toMatch(/running( for .+)?, usually 34 s/);
  });

  test('has a reply for each item where the channel’s layout is `full`', async ({ world }) => {
    const ann = world.as('admin');
    await ann.command(CHANNEL, '/deckhand settings');
    await world.slack.until(() => ann.openView());
    await answerTo(world, 'admin', () => ann.submit('settings', { layout: 'full' }));
    await run(world);
    await untilOver(world);
    expect(thread(world).slice(1)).toEqual([
      'Repository is reachable',
      'web-1 is reachable',
      'web-2 is reachable',
    ]);
    const replies = world.slack.thread(TEAM, CHANNEL, root(world)?.ts ?? '');
    expect(JSON.stringify(replies)).toMatch(
      /\/projects\/storefront\/servers\/[^|]+\|\*web-1\*> is reachable/,
    );
    expect(JSON.stringify(root(world)?.blocks)).toContain('/projects/storefront|Storefront>: both servers');
  });

  test.for([
    [{ status: 500, body: {} }, true],
    [{ status: 200, body: 'a page' }, true],
    [{ status: 422, body: { base: ['is busy'] } }, false],
  ] as const)(
    'a start that was answered with %o says whether the service may be running it: %s',
    async ([answer, mayRun], { world }) => {
      world.service.faults.add({ method: 'POST', path: '/acme/projects/storefront/test_access', ...answer });
      await run(world);
      await world.slack.until(() => root(world)?.text.includes('stopped'));
      const blocks = JSON.stringify(root(world)?.blocks);
      expect(blocks.includes('may be running there')).toBe(mayRun);
    },
  );

  test('says why a run stopped, and nothing there goes on', async ({ world }) => {
    world.service.world.setRunOutcome({ ...STOREFRONT, durationMs: LONG_MS });
    await run(world);
    await world.slack.until(() => thread(world)[0]?.includes('The test started'));
    world.service.faults.add({ path: '/acme/projects/*/test_access/*', status: 403, body: {} });
    await world.slack.until(() => root(world)?.text.includes('stopped'));
    await world.slack.until(() => /^The test stopped after .+\.$/.test(thread(world)[0] ?? ''));
    expect(thread(world)).toHaveLength(1);
  });
});

describe('the cost of a test run', () => {
  // Slow enough that a busy machine makes no run of 10 s of it.
  test.override({
    worldOptions: {
      clock: fastClock(4),
      serviceTimeoutMs: 600_000,
      speed: 4,
      env: { POLL_INTERVAL_MS: '2500' },
    },
  });

  test('which is green, of 7 servers and under 10 s: at most 6 calls of Slack, with 6 kB', async ({
    world,
  }) => {
    const servers = Array.from({ length: 7 }, (_, at) => ({ name: `web-${at + 1}` }));
    world.service.world.addProject({ account: ACCOUNT, name: 'Seven', servers });
    world.service.world.setRunOutcome({ account: ACCOUNT, project: 'seven', durationMs: 7_000 });
    await run(world, 'seven');
    await untilOver(world);
    await world.slack.until(() => root(world)?.text.startsWith('Seven: all 7 servers are reachable'));
    const calls = world.slack.calls.filter(({ args }) => args.channel === CHANNEL);
    // Of a run that no workflow waits for nobody needs the address.
    expect(calls.map(({ method }) => method)).not.toContain('chat.getPermalink');
    expect(calls.length).toBeLessThanOrEqual(6);
    const bytes = calls.map(({ args }) => Buffer.byteLength(JSON.stringify(args)));
    expect(bytes.reduce((sum, some) => sum + some, 0)).toBeLessThanOrEqual(6_000);
  });
});
