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
