import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../../support/asking.ts';
import { API_KEY, connectAccount, EMAIL } from '../../support/test-world.ts';
import { ACCOUNT, type DigestWorld, HOUR, MINUTE, openDigestWorld } from '../digests/digest-world.ts';

describe('the feed of an account', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
  });
  afterEach(() => world.stop());

  const reads = () => world.service.requests.all.filter(({ path }) => path === '/activity').length;
  /** Lets a minute pass in which so many deployments end. */
  async function passMinute(deployments: number): Promise<void> {
    await world.time.advance(MINUTE / 2);
    for (let at = 0; at < deployments; at += 1)
      world.service.world.addDeployment({
        account: ACCOUNT,
        project: 'storefront',
        endedAt: world.time.now() - at * 1_000,
      });
    await world.time.advance(MINUTE / 2);
    await world.untilIdle();
  }
  async function pass(minutes: number, deployments = 0): Promise<number> {
    const before = reads();
    for (let minute = 0; minute < minutes; minute += 1) await passMinute(deployments);
    return reads() - before;
  }

  it('that nobody watches is read each quarter of an hour, and sooner if it would roll over', async () => {
    expect(await pass(60)).toBe(4);
    await pass(20, 4);
    // Six pages in an hour.
    const many = await pass(60, 10);
    expect(many).toBeGreaterThan(6);
    expect(await ask(world, '/deckhand activity stats storefront', 'admin')).toContain(
      '680 deployments: 680 succeeded',
    );
    await pass(20);
    expect(await pass(60)).toBe(4);
  });

  it('is read once, however often Deckhand starts, and not beside a watch', async () => {
    for (let start = 0; start < 3; start += 1) await world.restart(() => world.time.advance(7 * MINUTE));
    await pass(15);
    expect(await pass(60)).toBe(4);
    await world.say('watch storefront');
    await pass(15);
    expect(await pass(60)).toBe(60);
    await world.say('watch pause storefront');
    await pass(15);
    expect(await pass(60)).toBe(4);
  });

  it('that nobody watches counts as read, before the first watch and after the last one', async () => {
    const say = async (line: string) => (await ask(world, `/deckhand ${line}`, 'admin')).split(' [{')[0];
    await world.say('use storefront');
    await pass(20);
    expect(await say('failing')).toMatch(/^No failure is open here, as of /);
    expect(await say('failing all')).toContain('Nothing is failing.');
    await world.say('watch storefront');
    await pass(2);
    for (const line of ['watch pause storefront', 'unwatch storefront']) {
      await world.say(line);
      await pass(40);
      expect(await say('failing all')).not.toContain('out of date');
    }
    world.service.faults.add({ path: `/${ACCOUNT}/activity`, status: 500 });
    await pass(60);
    expect(await say('failing all')).toContain('acme has not answered since');
  });

  it('that only a command has read shows its failures, and says that there may be more', async () => {
    world.service.world.addDeployment({
      account: ACCOUNT,
      project: 'storefront',
      succeeded: false,
      endedAt: world.time.now(),
    });
    await world.say('history');
    const all = await ask(world, '/deckhand failing all', 'admin');
    expect(all).toContain('Storefront: the deployment');
    expect(all).toContain('There may be more');
    expect(all).not.toContain('has not been read');
  });

  it('is not read with a broken key, and again after the account is connected again', async () => {
    world.service.world.revokeKey({ account: ACCOUNT, email: EMAIL });
    await pass(20);
    expect(await pass(120)).toBe(0);
    for (const user of world.service.world.state.accounts.get(ACCOUNT)?.users ?? []) user.apiKey = API_KEY;
    await connectAccount(world.slack);
    await pass(20);
    expect(await pass(60)).toBe(4);
  });

  it('is read less often while the service fails', async () => {
    await pass(15);
    world.service.faults.add({ path: '/acme/activity', status: 500 });
    expect(await pass(4 * 60)).toBeLessThan(9);
    world.service.faults.clear();
    await world.pass(HOUR);
    await pass(15);
    expect(await pass(60)).toBe(4);
  });
});
