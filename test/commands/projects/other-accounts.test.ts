import { describe, expect } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

/** Connects two more accounts than acme, which is the default. */
async function connectOthers(world: TestWorld): Promise<void> {
  const { accounts } = world.app.workspaces.open(TEAM);
  const common = { name: 'Common', permalink: 'common', servers: [] };
  const others = {
    globex: [
      { name: 'Umber paint website', permalink: 'umber-paint-website', servers: [{ name: 'web-9' }] },
      { name: 'Storefront', permalink: 'storefront', servers: [] },
      common,
    ],
    initech: [common],
  };
  for (const [name, projects] of Object.entries(others)) {
    const key = { email: `ops@${name}.example`, apiKey: name.padEnd(40, 'x') };
    world.service.world.addAccount({ name, users: [{ ...key, role: 'admin' }], projects });
    await accounts.connect({ name, ...key, createdBy: PEOPLE.admin, state: 'ok' });
  }
}

describe('a project that is named without its account', () => {
  test.override({ connected: true });

  test.for([
    ['activity umber-paint-website', '*Umber paint website*> in `globex`'],
    ['last "Umber paint website"', '*Umber paint website*> in `globex`'],
    ['history umber-paint-website web-9', 'web-9 of Umber paint website in globex'],
    ['server show umber-paint-website web-9', 'web-9'],
    ['activity storefront', '*Storefront*> in `acme`'],
    ['activity storefront --account globex', '*Storefront*> in `globex`'],
    ['activity common', 'Several accounts have that project: `globex`, `initech`. Name one with `--account`'],
    ['last common', 'Several accounts have that project: `globex`, `initech`'],
    ['activity umber-paint-website --account acme', 'There is no project or server `umber-paint-website`'],
    ['quiet --account globex', 'not for `globex` alone'],
    ['activity storefrnt', 'Did you mean `storefront`?'],
    ['activity nothing-such', 'There is no project or server `nothing-such`'],
    ['history nothing-such failing', 'There is no project or server `nothing-such`'],
    ['activity failing', 'no deployment failed'],
  ] as const)('by `%s` is found: %s', async ([line, expected], { world }) => {
    await connectOthers(world);
    const answer = await ask(world, `/deckhand ${line}`);
    expect(answer).toContain(expected);
    if (!expected.includes('Did you mean')) expect(answer).not.toContain('Did you mean');
  });

  test('is chosen from a menu if several other accounts have it', async ({ world }) => {
    await connectOthers(world);
    const answer = await ask(world, '/deckhand activity common');
    expect(answer).toContain('start:choose');
    const { ts = '' } = world.slack.ephemerals(TEAM, PEOPLE.member).at(-1) ?? {};
    const selected = '--account initech';
    const choose = () =>
      world.as('member').click({ channel: CHANNEL, ts }, { actionId: 'start:choose', selected });
    expect(await answerTo(world, 'member', choose)).toContain('in `initech`');
  });

  test('is first looked for in the account of the channel, then in the default one', async ({ world }) => {
    await connectOthers(world);
    await world.as('admin').command(CHANNEL, '/deckhand use umber-paint-website');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length > 0);
    expect(world.slack.messages(TEAM, CHANNEL).at(-1)?.text).toContain('in globex');
    expect(await ask(world, '/deckhand activity storefront')).toContain('*Storefront*> in `globex`');
    expect(await ask(world, '/deckhand activity billing-api')).toContain(`in \`${ACCOUNT}\``);
  });

  test('is found for a watch, a guard and a digest too, and named with its account', async ({ world }) => {
    await connectOthers(world);
    for (const line of [
      'watch umber-paint-website failures',
      'guard add umber-paint-website hourly',
      'digest add daily 09:00 UTC --project umber-paint-website',
    ])
      await ask(world, `/deckhand ${line}`, 'admin');
    const schedules = await world.app.workspaces.open(TEAM).schedules.all();
    expect(schedules.map(({ kind, account }) => `${kind} ${account}`).toSorted()).toEqual([
      'digest globex',
      'guard globex',
      'watch globex',
    ]);
    expect(await ask(world, '/deckhand digest add daily 09:00 UTC --project common', 'admin')).toContain(
      'Several accounts have that project: `globex`, `initech`',
    );
  });

  test('is not looked for in an account whose key is another person’s', async ({ world }) => {
    const { accounts } = world.app.workspaces.open(TEAM);
    const key = { email: 'ops@globex.example', apiKey: 'g'.repeat(40) };
    const projects = [{ name: 'Umber', permalink: 'umber', servers: [] }];
    world.service.world.addAccount({ name: 'globex', users: [{ ...key, role: 'admin' }], projects });
    const own = { name: 'globex', ...key, createdBy: PEOPLE.admin, state: 'ok', purpose: 'mine' } as const;
    await accounts.connect(own);
    expect(await ask(world, '/deckhand activity umber')).toContain('There is no project or server `umber`');
    expect(await ask(world, '/deckhand activity umber', 'admin')).toContain('*Umber*> in `globex`');
  });
});
