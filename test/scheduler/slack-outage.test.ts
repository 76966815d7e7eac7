import { expect, it, onTestFinished } from 'vitest';
import { CHANNEL, MINUTE, openDigestWorld, TEAM } from './digests/digest-world.ts';

/** A run that has begun, on a clock that the test moves. */
async function openRunning() {
  const world = await openDigestWorld();
  onTestFinished(() => world.stop());
  const root = () => world.slack.messages(TEAM, CHANNEL)[0];
  const thread = () => world.slack.thread(TEAM, CHANNEL, root()?.ts ?? '').map(({ text }) => text);
  async function passUntil(check: () => boolean): Promise<number> {
    const from = world.time.now();
    await world.passUntil(check);
    return world.time.now() - from;
  }
  await world.as('member').command(CHANNEL, '/deckhand test storefront');
  await passUntil(() => thread().some((text) => text.includes('Running since')));
  return { world, root, thread, passUntil };
}

it('a run shows its outcome once Slack is back, however long it was away', async () => {
  const { world, root, thread, passUntil } = await openRunning();
  const back = world.slack.fault({ method: '*', status: 503 });
  await world.pass(40 * MINUTE);
  expect(root()?.text).toContain('running');
  back();
  const waited = await passUntil(() => root()?.text.includes('all 2 servers are reachable') === true);
  expect(waited).toBeLessThan(2 * MINUTE);
  await passUntil(() => thread()[0]?.includes('All 2 servers are reachable') === true);
  expect(thread().filter((text) => text.includes('Running since'))).toEqual([]);
});

it('a run whose message Slack does not edit has its outcome in the thread, and in the message later', async () => {
  const { world, root, thread, passUntil } = await openRunning();
  const back = world.slack.fault({ method: 'chat.update', status: 500 });
  const waited = await passUntil(() => thread().some((text) => text.includes('all 2 servers are reachable')));
  expect(waited).toBeLessThan(MINUTE);
  expect(root()?.text).toContain('running');
  back();
  await passUntil(() => root()?.text.includes('all 2 servers are reachable') === true);
});
