import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { matchesPattern } from '../../../src/core/names.ts';
import { isInScope } from '../../../src/core/project-ref.ts';
import { deploy, polls, roots, say, shown, test, untilShown } from '../../scheduler/channel.ts';
import { ask, openForm } from '../../support/asking.ts';
import { ACCOUNT, CHANNEL, TEAM, type TestWorld } from '../../support/test-world.ts';

describe('a pattern', () => {
  it.each([
    ['shop-*', 'shop-de', true],
    ['SHOP-*', 'Shop–DE', true],
    ['shop-*', 'workshop-de', false],
    ['*-shop', 'blue-shop', true],
    ['*shop*', 'workshops', true],
    ['a*b*c', 'a1b2c', true],
    ['a*b*c', 'abc', true],
    ['ab*bc', 'abc', false],
    ['a**c', 'abc', true],
    ['*', 'anything', true],
  ])('%s, of a project called %s: %s', (pattern, name, expected) => {
    expect(matchesPattern(pattern, { name, permalink: 'p-1' })).toBe(expected);
  });

  it('may be the permalink, and never applies beside a project', () => {
    const candidate = { permalink: 'shop-de', name: 'Germany' };
    expect(isInScope({ pattern: 'shop-*' }, candidate)).toBe(true);
    expect(isInScope({ project: { permalink: 'other', name: 'Other' }, pattern: 'shop-*' }, candidate)).toBe(
      false,
    );
  });

  it('of 100 stars is compared with a long name at once', () => {
    const before = process.cpuUsage();
    for (let at = 0; at < 1_000; at += 1) matchesPattern('*a'.repeat(50), { name: `${'a'.repeat(199)}b` });
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500);
  });
});

const SHOPS = [
  { name: 'Shop DE', permalink: 'shop-de', servers: [{ name: 'de-1' }] },
  { name: 'Billing API', permalink: 'billing-api', servers: [{ name: 'api-1' }] },
];
const watches = (world: TestWorld) => world.app.workspaces.open(TEAM).schedules.list('watch');

describe('a watch of a pattern', () => {
  test.override({ worldOptions: { projects: SHOPS, env: { NOTICE_INTERVAL_MS: '40' } } });

  test('tells of the projects that have such a name, also of one that the account gets later', async ({
    world,
  }) => {
    const card = await say(world, 'watch shop-* failures');
    expect(card).toContain('projects named `shop-*` in `acme`');
    expect(card).toContain('This is one project now: *Shop DE*.');
    deploy(world, 'other01', { project: 'billing-api', succeeded: false });
    deploy(world, 'shop001', { project: 'shop-de', succeeded: false });
    await untilShown(world, 'shop001');
    world.service.world.addProject({
      account: ACCOUNT,
      name: 'Shop FR',
      permalink: 'shop-fr',
      servers: [{ name: 'fr-1' }],
    });
    deploy(world, 'shop002', { project: 'shop-fr', succeeded: false });
    await untilShown(world, 'shop002');
    await polls(world);
    expect(shown(world)).not.toContain('other01');
    expect(await ask(world, '/deckhand watch list')).toContain('projects named `shop-*`');
    expect(await ask(world, '/deckhand failing')).toContain('Shop FR');
    await say(world, 'unwatch shop-*');
    expect(await watches(world)).toEqual([]);
    expect(roots(world).at(-1)?.text).toContain('removed the watch of projects named');
  });

  test('says that no project has such a name yet, and is changed in its form', async ({ world }) => {
    expect(await say(world, 'watch shpo-*')).toContain('No project has such a name yet.');
    const ann = await openForm(world, 'watch edit shpo-*', 'watch.edit');
    const refused = await ann.submit('watch.edit', { pattern: 'shop' });
    expect(refused.body).toContain('Put a star where any text may stand');
    await ann.submit('watch.edit', { pattern: 'shop-*' });
    await expect.poll(() => watches(world)).toMatchObject([{ channel: CHANNEL, pattern: 'shop-*' }]);
  });
});
