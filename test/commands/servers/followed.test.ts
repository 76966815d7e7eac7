import { describe, expect } from 'vitest';
import { ACCOUNT, CHANNEL, TEAM } from '../../support/test-world.ts';
import { ann, confirmSite, roots, test, thread } from './ordering.ts';

const POLL = { method: 'GET', path: `/${ACCOUNT}/projects/storefront/servers/*` } as const;

describe('a server that was ordered', () => {
  test('is followed no further once it is broken', async ({ world }) => {
    world.service.world.setProvisioning({ account: ACCOUNT, protocol: 'static_hosting', status: 'error' });
    await confirmSite(world);
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    world.service.clock.advance(10_000);
    await world.slack.until(() => roots(world)[0]?.text.includes('has an error') === true);
    await world.logged('"event":"follow_ended"');
    expect(thread(world).at(-1)).toContain('shop is broken');
  });

  test('ends with the reason where a poll is refused', async ({ world }) => {
    await confirmSite(world);
    world.service.faults.add({ ...POLL, status: 404, body: { error_code: 'record_not_found' } });
    await ann(world).submit('server.add');
    await world.slack.until(() =>
      JSON.stringify(roots(world)[0]?.blocks ?? '').includes('See what there is'),
    );
  });

  test('is followed through a service that fails, without a thread if the channel wants none', async ({
    world,
  }) => {
    const { channels } = world.app.workspaces.open(TEAM);
    await channels.change(CHANNEL, (current) => ({ ...current, threads: false }));
    await confirmSite(world);
    world.service.faults.add({ ...POLL, status: 500, times: 2 });
    world.service.faults.add({ ...POLL, badJson: true, times: 1 });
    world.service.faults.add({ ...POLL, drop: true, times: 1 });
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    world.service.clock.advance(10_000);
    await world.slack.until(() => roots(world)[0]?.text.includes('is active') === true);
    await world.logged('"event":"follow_ended"');
    expect(thread(world)).toEqual([]);
  });
});

describe('a server that takes longer than it is followed', () => {
  test.override({ worldOptions: { speed: 0, env: { FOLLOW_TIMEOUT_MINUTES: '0.01' } } });

  test('is no longer followed, until somebody asks to check again', async ({ world }) => {
    await confirmSite(world);
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world)[0]?.text.includes('no longer followed') === true);
    world.service.clock.advance(10_000);
    const place = { channel: CHANNEL, ts: roots(world)[0]?.ts ?? '' };
    await ann(world).click(place, { actionId: 'server.add:check' });
    await world.slack.until(() => roots(world)[0]?.text.includes('is active') === true);
    await world.slack.until(() => thread(world).length === 2);
  });
});
