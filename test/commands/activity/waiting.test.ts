import { describe, expect, it } from 'vitest';
import { waitingWords } from '../../../src/views/activity/waiting.ts';
import { say, test } from '../../scheduler/channel.ts';
import { ask } from '../../support/asking.ts';
import { ACCOUNT, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const STOREFRONT = { account: ACCOUNT, project: 'storefront' };
const PATH = `/${ACCOUNT}/projects/*/undeployed_changes`;
const WORDS = '7 commits wait to be deployed, the oldest since';

const commit = ({ service }: TestWorld, count = 7) =>
  service.world.addCommits({
    ...STOREFRONT,
    count,
    author: 'Ben',
    message: 'Fix <!channel> token=hunter2x9',
  });

describe('commits that wait', () => {
  test('are told by `last` with the first five, a digest of their project and App Home', async ({
    world,
  }) => {
    commit(world);
    const last = await ask(world, '/deckhand last storefront');
    expect(last).toContain(WORDS);
    // Five in the text, five in the blocks.
    expect(last.match(/Fix &lt;!channel&gt; token=\[masked\] by Ben/g)).toHaveLength(10);
    expect(last).toMatch(
      /<https:\/\/code\.example\.com\/storefront\/commit\/([0-9a-f]{7})[0-9a-f]*\|\1> Fix/,
    );
    await say(world, 'digest add daily 09:00 UTC --project storefront');
    expect(await ask(world, '/deckhand digest preview', 'admin')).toContain(WORDS);
    await world.as('member').openHome();
    await world.slack.until(() =>
      JSON.stringify(world.slack.home(TEAM, PEOPLE.member)?.content.blocks ?? []).includes(
        `/projects/storefront|*Storefront*>: ${WORDS}`,
      ),
    );
  });

  test.for<[string, (world: TestWorld) => unknown]>([
    [
      'the service still looks',
      ({ service }) => service.world.setWaiting({ ...STOREFRONT, isChecking: true }),
    ],
    ['none wait', ({ service }) => service.world.addDeployment(STOREFRONT)],
    ['it is not described', ({ service }) => service.world.setDescription({ description: 'none' })],
    ['it is refused', ({ service }) => service.faults.add({ path: PATH, status: 403 })],
    ['it is not found', ({ service }) => service.faults.add({ path: PATH, status: 404 })],
    [
      'the answer is odd',
      ({ service }) => service.faults.add({ path: PATH, status: 200, body: { count: {} } }),
    ],
    ['the answer is late', ({ service }) => service.faults.add({ path: PATH, delayMs: 20_000 })],
  ])('are not told if %s', async ([, change], { world }) => {
    commit(world);
    await change(world);
    const last = await ask(world, '/deckhand last storefront');
    expect(last).not.toMatch(/commits? waits? to be/);
  });

  const now = Date.parse('2026-03-06T20:00:00Z');
  it.each([
    [1, 0, false, '1 commit waits to be deployed, since today'],
    [12, 3, false, '12 commits wait to be deployed, the oldest since Tuesday'],
    [12, 10, false, '12 commits wait to be deployed, the oldest since 24 Feb'],
    [50, undefined, true, 'At least 50 commits wait to be deployed'],
  ])('%i of %s days ago: %s', (amount, days, isMore, words) => {
    const oldest = days === undefined ? undefined : now - days * 86_400_000;
    expect(waitingWords({ amount, isMore, oldest, first: [] }, { zone: 'Europe/Lisbon', now })).toBe(words);
  });
});
