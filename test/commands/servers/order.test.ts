import { describe, expect } from 'vitest';
import { answerTo } from '../../support/asking.ts';
import { ACCOUNT, PEOPLE, TEAM } from '../../support/test-world.ts';
import { ann, confirmSite, MACHINE, POST, posts, roots, sendOrder, shows, test, view } from './ordering.ts';

describe('an order of a server', () => {
  test('can be ordered again where it was certainly not made', async ({ world }) => {
    world.service.faults.add({ ...POST, status: 503, retryAfter: '600', times: 1 });
    await confirmSite(world);
    await ann(world).submit('server.add');
    await shows(world, 'The service is busy.');
    expect(roots(world)).toHaveLength(0);
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    expect(world.slack.ephemerals(TEAM, PEOPLE.admin)).toEqual([]);
  });

  test('is said to be refused privately, once its form was closed', async ({ world }) => {
    world.service.faults.add({ ...POST, status: 503, retryAfter: '600' });
    const said = await answerTo(world, 'admin', () => sendOrder(world, MACHINE, { isSent: false }));
    expect(said).toContain('The service is busy.');
    expect(posts(world)).toHaveLength(1);
  });

  const LOST = { ...POST, drop: true, afterHandling: true };
  const OLDER = { identifier: 'old', name: 'shop', protocol_type: 'static_hosting' };
  const LIST = { method: 'GET', path: `/${ACCOUNT}/projects/storefront/servers` };

  test('finds the server by its name where the answer was lost, and follows it', async ({ world }) => {
    world.service.faults.add(LOST);
    await confirmSite(world);
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world)[0]?.text.includes('shop in Storefront'));
    expect(posts(world)).toHaveLength(1);
    expect(await world.app.parts.metrics.text()).toContain(
      'deckhand_possible_duplicates_total{what="order"} 1',
    );
  });

  test.for([
    ['an older one of its name is listed', { status: 200, body: [OLDER] }],
    ['no servers are listed', { status: 403, body: {} }],
  ] as const)('says that it may exist where the answer was lost and %s', async ([, listed], { world }) => {
    world.service.faults.add({ ...LIST, ...listed });
    world.service.faults.add({ ...POST, drop: true });
    await confirmSite(world);
    const said = await answerTo(world, 'admin', () => ann(world).submit('server.add'));
    expect(said).toContain('may or may not exist');
    expect(said).toContain('`/deckhand server show \\"shop\\" storefront`');
    await shows(world, 'may or may not exist');
    expect(posts(world)).toHaveLength(1);
    expect(roots(world)).toHaveLength(0);
  });

  test('never asks again after a kill between the request and its answer, and says so', async ({ world }) => {
    const said = await answerTo(world, 'admin', () => sendOrder(world, MACHINE, { isSent: true }));
    expect(said).toContain('Deckhand was stopped while it asked, so *box* may or may not exist');
    expect(said).toContain('`/deckhand hosting list`');
    expect(posts(world)).toHaveLength(0);
  });

  test('says that its progress is in direct messages where Deckhand cannot post in the channel', async ({
    world,
  }) => {
    await confirmSite(world);
    world.slack.fault({ method: 'chat.postMessage', error: 'not_in_channel', times: 1 });
    await ann(world).submit('server.add');
    await shows(world, 'its progress is in your direct messages');
    expect(view(world)).not.toContain('The channel shows');
    expect(world.slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text)).toEqual([
      expect.stringMatching(
        /^Server shop in Storefront is being created\. acme, asked by <@U0ANN>, started .+\.$/,
      ),
    ]);
    expect(roots(world)).toEqual([]);
  });
});
