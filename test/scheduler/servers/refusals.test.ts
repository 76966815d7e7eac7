import { describe, expect } from 'vitest';
import { test } from '../../support/fixtures.ts';
import { CHANNEL, TEAM, type TestWorld } from '../../support/test-world.ts';

const roots = ({ slack }: TestWorld) => slack.messages(TEAM, CHANNEL);
const thread = (world: TestWorld) => world.slack.thread(TEAM, CHANNEL, roots(world)[0]?.ts ?? '');

/** Orders a static site by the form, which is ready some seconds of the service later. */
async function order(world: TestWorld): Promise<void> {
  const ann = world.as('admin');
  const filled = world.slack.until(() => world.slack.calls.some(({ method }) => method === 'views.update'));
  await ann.command(CHANNEL, '/deckhand server add storefront');
  await world.slack.until(() => ann.openView()?.content.callback_id === 'server.add');
  await filled;
  await ann.submit('server.add', { name: 'shop', subdomain: 'shop-front' });
  const shown = () => JSON.stringify(ann.openView()?.content);
  await world.slack.until(() => shown().includes('Create this server?'));
  await ann.submit('server.add');
  await world.slack.until(() => roots(world).length > 0);
  world.service.clock.advance(10_000);
}

describe('a server that is ordered', () => {
  test.override({ connected: true, worldOptions: { speed: 0 } });

  // Which words of Slack mean that, `scheduler/refusals.test.ts` shows.
  test('is followed in its root message alone where replies are refused', async ({ world }) => {
    world.slack.policy(TEAM, { channel: CHANNEL, threads: 'restricted_action' });
    await order(world);
    await world.slack.until(() => roots(world)[0]?.text.includes(': active'));
    expect(thread(world)).toEqual([]);
    expect(JSON.stringify(roots(world)[0]?.blocks)).toContain('https://shop-front.sites.example.net');
  });

  test('says that it is active in the thread where edits are refused', async ({ world }) => {
    world.slack.policy(TEAM, { channel: CHANNEL, edits: 'update_failed' });
    await order(world);
    await world.slack.until(() => thread(world).some(({ text }) => text.includes(': active')));
  });
});
