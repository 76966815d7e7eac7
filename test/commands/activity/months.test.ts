import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  DAY,
  type DigestWorld,
  HOUR,
  openDigestWorld,
} from '../../scheduler/digests/digest-world.ts';
import { ask } from '../../support/asking.ts';

describe('the figures of a project', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld('2026-03-02T08:00:00Z');
  });
  afterEach(() => world.stop());

  const deploy = (project: string, succeeded: boolean, hoursAgo: number, account = ACCOUNT) =>
    world.service.world.addDeployment({
      account,
      project,
      succeeded,
      endedAt: world.time.now() - hoursAgo * HOUR,
      user: 'Kim',
    });

  /** Days with 2 deployments of the storefront, a third of which fail, and 30 of another project. */
  async function pass(days: number): Promise<void> {
    for (let day = 0; day < days; day += 1) {
      await world.time.advance(DAY);
      for (let at = 0; at < 30; at += 1) deploy('billing-api', true, 1 + at / 5);
      deploy('storefront', true, 5);
      deploy('storefront', day % 3 > 0, 4);
      await ask(world, '/deckhand activity', 'admin');
    }
  }

  it('are its own for any range, although the feed holds only the latest 100 events of the account', async () => {
    await pass(24);
    for (const [words, figures] of [
      ['7d stats storefront', '14 deployments: 12 succeeded, 2 failed'],
      ['30d stats storefront', '48 deployments: 40 succeeded, 8 failed'],
      ['90d stats storefront', '48 deployments: 40 succeeded, 8 failed'],
      ['90d stats billing-api', '720 deployments: 720 succeeded'],
    ]) {
      const shown = await ask(world, `/deckhand activity ${words}`, 'admin');
      expect(shown).toContain(figures);
      expect(shown).not.toContain('Whole account');
    }
    const week = await ask(world, '/deckhand activity 7d stats storefront', 'admin');
    expect(week).toContain('As many deployments, success rate 85.7 %, as in the 7 days before');
    expect(await ask(world, '/deckhand activity 14d stats', 'admin')).toContain('448 deployments: ');
    expect(await ask(world, '/deckhand activity 90d storefront', 'admin')).toContain('page 1 of 4');

    await world.say('digest add daily 09:00 UTC last_30_days --project storefront');
    const digest = await ask(world, '/deckhand digest preview', 'admin');
    expect(digest).toContain('48 deployments: 40 succeeded, 8 failed');
    expect(digest).toContain('*8 failed deployments*');
    expect(digest).not.toMatch(/Whole account|Billing API/);
  });

  it('go on under its new name and permalink, and are not those of another account’s project', async () => {
    await pass(4);
    const [storefront] = world.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
    Object.assign(storefront ?? {}, { permalink: 'shop', name: 'Shop' });
    await world.time.advance(HOUR);
    deploy('shop', false, 0.5);
    const shown = await ask(world, '/deckhand activity 30d stats shop', 'admin');
    expect(shown).toContain('9 deployments: 6 succeeded, 3 failed');
    expect(shown).not.toContain('Storefront');
  });

  it('say since when they count, and what they do not count', async () => {
    for (let at = 0; at < 120; at += 1) deploy('storefront', true, at / 10);
    const begin = (hoursAgo: number) => `<!date^${(world.time.now() - hoursAgo * HOUR) / 1000}^`;
    const first = await ask(world, '/deckhand activity 30d stats storefront', 'admin');
    expect(first).toContain('100 deployments: 100 succeeded');
    expect(first).toContain(`counted since ${begin(9.9)}`);
    const since = begin(9.9);
    const last = world.time.now();
    await world.time.advance(DAY);
    for (let at = 0; at < 120; at += 1) deploy('storefront', true, at / 10);
    const second = await ask(world, '/deckhand activity 30d stats storefront', 'admin');
    expect(second).toContain('200 deployments: 200 succeeded');
    expect(second).toContain(`counted since ${since}`);
    expect(second).toContain(`not counted: <!date^${last / 1000}^`);
  });

  it('say so too if the service reports one of the latest 100 events twice', async () => {
    const twice = { account: ACCOUNT, project: 'storefront', endRef: 'abc1234', user: 'Kim' };
    for (const day of [1, 2]) {
      if (day === 2) await world.time.advance(DAY);
      for (let at = 1; at < 120; at += 1) deploy('storefront', true, at / 10);
      for (const ms of [5_000, 2_000])
        world.service.world.addDeployment({ ...twice, endedAt: world.time.now() - ms });
      const shown = await ask(world, '/deckhand activity 30d stats storefront', 'admin');
      expect(shown).toContain(day === 1 ? 'counted since' : 'not counted: ');
    }
  });

  it('have an event of the future as of when it was read, and one that arrives late on its day', async () => {
    const [storefront] = world.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
    const { identifier, permalink, name } = storefront ?? {};
    const created_at = new Date(world.time.now() + 3 * DAY).toISOString();
    const ahead = { event: 'deploy_failed', project: { identifier, permalink, name }, created_at };
    const fault = { path: '/acme/activity', status: 200, body: [ahead] };
    world.service.faults.add({ ...fault, times: 1 });
    expect(await ask(world, '/deckhand activity today stats storefront', 'admin')).toContain('1 failed');
    await world.time.advance(2 * DAY);
    deploy('storefront', true, 47);
    await ask(world, '/deckhand activity storefront', 'admin');
    await world.time.advance(2 * DAY);
    expect(await ask(world, '/deckhand activity today stats storefront', 'admin')).toContain(
      'No deployments',
    );
    expect(await ask(world, '/deckhand activity stats storefront', 'admin')).toContain(
      '2 deployments: 1 succeeded, 1 failed',
    );
  });
});
