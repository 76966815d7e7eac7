import { describe, expect } from 'vitest';
import { ACCOUNT, CHANNEL, openTestWorld, TEAM } from '../../support/test-world.ts';
import { ann, confirmSite, roots, SITE, test, thread } from './ordering.ts';

describe('a server that was ordered', () => {
  test.for([
    ['error', 'is broken'],
    ['suspended', 'is powered off'],
    ['disabled', 'is switched off'],
    ['destroying', 'is being destroyed'],
  ] as const)(
    'server add follows a server that ends as %s no further',
    async ([status, words], { world }) => {
      world.service.world.setProvisioning({ account: ACCOUNT, protocol: 'static_hosting', status });
      await confirmSite(world);
      await ann(world).submit('server.add');
      await world.slack.until(() => roots(world).length === 1);
      world.service.clock.advance(10_000);
      await world.slack.until(() => roots(world)[0]?.text.includes(`: ${status}`) === true);
      await world.logged('following a server ended');
      expect(thread(world).at(-1)).toContain(`*shop* ${words}`);
    },
  );

  test('server add leaves the thread alone where the channel wants none', async ({ world }) => {
    await world.app.workspaces
      .open(TEAM)
      .channels.change(CHANNEL, (current) => ({ ...current, threads: false }));
    await confirmSite(world);
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    world.service.clock.advance(10_000);
    await world.logged('following a server ended');
    expect(thread(world)).toEqual([]);
  });

  test('server add stops where the root message is gone', async ({ world }) => {
    await confirmSite(world);
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    world.slack.fault({ method: 'chat.update', error: 'message_not_found' });
    await world.logged('"event":"follow_abandoned"');
  });

  test.for([
    [401, 'was revoked or rotated'],
    [403, 'The service refused'],
    [404, 'See what there is'],
  ] as const)(
    'server add ends with the reason on a %i while polling',
    async ([status, reason], { world }) => {
      await confirmSite(world);
      world.service.faults.add({
        method: 'GET',
        path: `/${ACCOUNT}/projects/storefront/servers/*`,
        status,
        body: { error_code: status === 404 ? 'record_not_found' : 'no' },
      });
      await ann(world).submit('server.add');
      await world.slack.until(() => JSON.stringify(roots(world)[0]?.blocks ?? '').includes(reason));
    },
  );

  test('server add goes on through a service that fails for a while', async ({ world }) => {
    await confirmSite(world);
    const path = `/${ACCOUNT}/projects/storefront/servers/*`;
    world.service.faults.add({ method: 'GET', path, status: 500, times: 2 });
    world.service.faults.add({ method: 'GET', path, badJson: true, times: 1 });
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    world.service.clock.advance(10_000);
    await world.slack.until(() => roots(world)[0]?.text.includes(': active') === true);
  });
});

describe('a server that takes longer than it is followed', () => {
  test('a server that takes longer than it is followed is no longer followed, until somebody asks to check again', async () => {
    const world = await openTestWorld({ speed: 0, connected: true, env: { FOLLOW_TIMEOUT_MINUTES: '0.01' } });
    try {
      const ann = world.as('admin');
      await ann.command(CHANNEL, '/deckhand server add storefront');
      await world.slack.until(() => ann.openView()?.content.callback_id === 'server.add');
      await ann.submit('server.add', SITE);
      await world.slack.until(() => JSON.stringify(ann.openView()?.content).includes('Create this server?'));
      await ann.submit('server.add');
      const root = () => world.slack.messages(TEAM, CHANNEL)[0];
      await world.slack.until(() => root()?.text.includes('no longer followed') === true);
      world.service.clock.advance(10_000);
      await ann.click({ channel: CHANNEL, ts: root()?.ts ?? '' }, { actionId: 'server.add:check' });
      await world.slack.until(() => root()?.text.includes(': active') === true);
      await world.slack.until(() => world.slack.thread(TEAM, CHANNEL, root()?.ts ?? '').length === 2);
    } finally {
      await world.stop();
    }
  });
});
