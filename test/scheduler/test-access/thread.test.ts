import { describe, expect } from 'vitest';
import { answerTo } from '../../support/asking.ts';
import { fastClock } from '../../support/faults.ts';
import { test as base } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, TEAM, type TestWorld } from '../../support/test-world.ts';

/** As fast as the service is. */
const test = base
  .extend('connected', true)
  .extend('worldOptions', () => ({ clock: fastClock(20), env: { POLL_INTERVAL_MS: '2500' } }));
const STOREFRONT = { account: ACCOUNT, project: 'storefront' };

const roots = ({ slack }: TestWorld) => slack.messages(TEAM, CHANNEL);
const root = (world: TestWorld) => roots(world).at(-1);
const thread = (world: TestWorld) =>
  world.slack.thread(TEAM, CHANNEL, root(world)?.ts ?? '').map(({ text }) => text);
/** Everything that a message has said in its edits, in their order. */
const edits = ({ slack }: TestWorld, ts: string | undefined) =>
  slack.calls
    .filter(({ method, args }) => method === 'chat.update' && args.ts === ts)
    .map(({ args }) => JSON.stringify(args.blocks));

async function runToEnd(world: TestWorld, words: string, line = 'test storefront'): Promise<void> {
  const before = roots(world).length;
  await world.as('member').command(CHANNEL, `/deckhand ${line}`);
  await world.slack.until(() => roots(world).length > before && thread(world).at(-1)?.includes(words), {
    what: `"${words}" at the end of the thread`,
  });
}

describe('the thread of a test run', () => {
  test('its first reply and the root message show how long it takes, and at the end how long it took', async ({
    world,
  }) => {
    world.service.world.setRunOutcome({ ...STOREFRONT, durationMs: 40_000 });
    await runToEnd(world, '2 of 2 reachable');
    const [first] = world.slack.thread(TEAM, CHANNEL, root(world)?.ts ?? '');
    expect(edits(world, first?.ts).filter((text) => / s so far/.test(text)).length).toBeGreaterThan(1);
    expect(first?.text).toMatch(/^:stopwatch: The test took 4\d s\.$/);
    const elapsed = edits(world, root(world)?.ts).filter((text) => / s so far/.test(text));
    expect(new Set(elapsed).size).toBeGreaterThan(1);
    expect(JSON.stringify(root(world)?.blocks)).toMatch(/took 4\d s/);
  });

  test('both say how long the project’s runs usually take, also after a restart', async ({ world }) => {
    world.service.world.setRunOutcome({ ...STOREFRONT, durationMs: 30_000 });
    await runToEnd(world, '2 of 2 reachable');
    await world.restart(async () => undefined);
    await runToEnd(world, '2 of 2 reachable');
    expect(thread(world)[0]).toMatch(/took \d+ s, usually 3\d s/);
    const [first] = world.slack.thread(TEAM, CHANNEL, root(world)?.ts ?? '');
    for (const ts of [first?.ts, root(world)?.ts])
      expect(edits(world, ts)[0]).toMatch(/[▰▱]{10} .*so far, usually 3\d s/);
  });

  test('has one reply with all that is reachable, one for each failing item and a summary', async ({
    world,
  }) => {
    world.service.world.setOutcome({ ...STOREFRONT, server: 'web-2', status: 'error', message: 'refused' });
    await runToEnd(world, '1 of 2 reachable');
    expect(thread(world)).toEqual([
      expect.stringContaining('The test took'),
      ':white_check_mark: Reachable: Repository, *web-1*',
      ':x: *web-2* not reachable: refused',
      ':warning: completed: 1 of 2 reachable, repository ok',
    ]);
  });

  test('has a reply for each item where the channel’s layout is `full`', async ({ world }) => {
    const ann = world.as('admin');
    await ann.command(CHANNEL, '/deckhand settings');
    await world.slack.until(() => ann.openView());
    await answerTo(world, 'admin', () => ann.submit('settings', { layout: 'full' }));
    await runToEnd(world, '2 of 2 reachable');
    expect(thread(world).slice(1)).toEqual([
      ':white_check_mark: Repository reachable',
      ':white_check_mark: *web-1* reachable',
      ':white_check_mark: *web-2* reachable',
      ':white_check_mark: completed: 2 of 2 reachable, repository ok',
    ]);
  });

  test('says why a run stopped, and nothing there goes on', async ({ world }) => {
    world.service.world.setRunOutcome({ ...STOREFRONT, durationMs: 30_000 });
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.slack.until(() => thread(world)[0]?.includes('so far'));
    world.service.faults.add({ path: '/acme/projects/*/test_access/*', status: 403, body: {} });
    await world.slack.until(() => root(world)?.text.includes('stopped'));
    expect(thread(world)).toEqual([expect.stringMatching(/^:x: Stopped after .+\.$/)]);
  });
});
