import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const untilSaid = (world: TestWorld, words: string) =>
  world.slack.until(() => world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes(words)), {
    what: words,
  });

async function bind(world: TestWorld): Promise<void> {
  await world.as('admin').command(CHANNEL, '/deckhand use storefront');
  await untilSaid(world, 'bound this channel');
}

function deployTo(world: TestWorld, servers: string[]): void {
  const endedAt = Date.now() - 60_000;
  world.service.world.addDeployment({ account: ACCOUNT, project: 'billing-api', servers, endedAt });
}

describe.for(['a bound channel', 'an unbound channel'] as const)('the name of a server in %s', (channel) => {
  test.override({ connected: true });

  test('means the server, of the only project that has it', async ({ world }) => {
    if (channel === 'a bound channel') await bind(world);
    deployTo(world, ['api-1']);
    await world.as('member').command(CHANNEL, '/deckhand test api-1');
    await untilSaid(world, 'api-1 in Billing API');
    await world.as('member').command(CHANNEL, '/deckhand test web-1');
    await untilSaid(world, 'web-1 in Storefront');
    expect(await ask(world, '/deckhand server show api-1')).toContain('project `billing-api`');
    expect(await ask(world, '/deckhand activity api-1')).toContain('*Billing API*> in `acme`: 1 event');
    await world.as('admin').command(CHANNEL, '/deckhand watch api-1 failures');
    await untilSaid(world, 'api-1');
  });

  test.for([
    ['test web-9', 'web-2 in Storefront'],
    ['server show web-9', '*web-2*> of '],
    ['activity web-9', 'web-2 of Storefront in'],
    ['watch web-9', 'on the server `web-2`'],
  ] as const)(
    '`%s` says that neither a project nor a server has the name',
    async ([line, shown], { world }) => {
      if (channel === 'a bound channel') await bind(world);
      const said = await ask(world, `/deckhand ${line}`, 'admin');
      expect(said).toContain('There is no project or server `web-9`.');
      expect(said.includes('`storefront` has `web-1`, `web-2`.')).toBe(channel === 'a bound channel');
      if (channel !== 'a bound channel') return;
      const place = { channel: CHANNEL, ts: world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '' };
      const { projects = [] } = world.service.world.state.accounts.get(ACCOUNT) ?? {};
      const [, web2] = projects[0]?.servers ?? [];
      await world.as('admin').suggest(place, { actionId: 'server', query: '' });
      await world.as('admin').click(place, { actionId: 'server', selected: web2?.identifier ?? '' });
      const answers = () => [
        ...world.slack.messages(TEAM, CHANNEL),
        ...world.slack.ephemerals(TEAM, PEOPLE.admin),
      ];
      await world.slack.until(() => answers().some((answer) => JSON.stringify(answer).includes(shown)), {
        what: shown,
      });
    },
  );
});

describe('a server of more projects than are searched', () => {
  const projects = Array.from({ length: 21 }, (_, at) => ({
    name: `Shop ${at}`,
    permalink: `shop-${at}`,
    servers: [{ name: `box-${at}` }],
  }));
  test.override({ connected: true, worldOptions: { projects } });

  test('needs its project, unless the channel is bound to it', async ({ world }) => {
    expect(await ask(world, '/deckhand test box-3')).toContain('If it is a server, name its project too.');
    await world.as('admin').command(CHANNEL, '/deckhand use shop-3');
    await untilSaid(world, 'bound this channel');
    await world.as('member').command(CHANNEL, '/deckhand test box-3');
    await untilSaid(world, 'box-3 in Shop 3');
  });
});
