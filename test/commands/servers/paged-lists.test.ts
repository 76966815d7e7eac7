import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, TEAM } from '../../support/test-world.ts';

const nodes = Array.from({ length: 60 }, (_, at) => ({ name: `node-${at}` }));
const projects = [
  { name: 'Fleet', permalink: 'fleet', servers: nodes },
  ...Array.from({ length: 44 }, (_, at) => ({ name: `Shop ${at}`, permalink: `shop-${at}` })),
];

describe.for(['body', 'headers', 'link'] as const)(
  'lists in pages that a service counts in its %s',
  (style) => {
    test.override({ connected: true, worldOptions: { projects, paging: { size: 20, style } } });

    test('are read whole', async ({ world }) => {
      expect(await ask(world, '/deckhand projects')).toContain('1 to 20 of 45 projects');
      expect(await ask(world, '/deckhand server show node-55 fleet')).toContain('*node-55*');
      await world.as('member').command(CHANNEL, '/deckhand test fleet node-55');
      await world.slack.until(() =>
        world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('node-55 in Fleet')),
      );
      const asked = world.service.requests.all.filter(({ path }) => path.endsWith('/servers'));
      expect(asked.slice(0, 3).map(({ query }) => query.page)).toEqual([undefined, '2', '3']);
    });
  },
);

describe('a page that the service does not give', () => {
  test.override({ connected: true });

  test('is said to be missing', async ({ world }) => {
    const body = { records: [{ name: 'Store', permalink: 'store' }], pagination: { total_records: 30 } };
    world.service.faults.add({ path: `/${ACCOUNT}/projects`, status: 200, body });
    expect(await ask(world, '/deckhand projects')).toContain(
      'The list is not whole: at least 29 entries more.',
    );
  });
});

describe('a project whose row cannot be read', () => {
  test.override({ connected: true });

  test('still counts as listed in a channel that is bound to it', async ({ world }) => {
    await world.as('admin').command(CHANNEL, '/deckhand use storefront');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length > 0);
    const body = [{ name: 'Other', permalink: 'other' }, { name: 'Storefront' }];
    world.service.faults.add({ path: `/${ACCOUNT}/projects`, status: 200, body });
    const answer = await ask(world, '/deckhand activity');
    expect(answer).not.toContain('no longer listed');
    expect(answer).toContain('*Storefront*');
  });
});

describe('an invoice that moves to the next page while the pages are read', () => {
  test.override({ connected: true });

  test('is summed once', async ({ world }) => {
    const row = (number: number, more: object = {}) => ({
      ...{ number, kind: 'subscription', currency: 'usd', total: '10.00', vat: '1.00', paid: false },
      created_at: '2026-11-03T00:00:00Z',
      ...more,
    });
    const pages = [
      [row(3), row(2)],
      [row(2, { paid: true }), row(1)],
    ];
    for (const [at, records] of pages.entries()) {
      const pagination = { current_page: at + 1, total_pages: 2, total_records: 3 };
      const body = { records, pagination };
      world.service.faults.add({ path: `/${ACCOUNT}/account/invoices`, status: 200, body, times: 1 });
    }
    const answer = await ask(world, '/deckhand invoices 2026-11', 'admin');
    expect(answer).toContain('3 invoices, *30.00 USD*, of which tax 3.00 USD');
    expect(answer).not.toContain('not whole');
  });
});
