import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const server = (name: string) => ({ name });
const PROJECTS = [
  { name: 'Joe\'s "best" shop', permalink: 'joes', servers: [server('web one'), server('web-2')] },
  { name: '--account-like', permalink: 'odd', servers: [server('db')] },
  { name: 'Billing', permalink: 'billing', servers: [server('api')] },
];

const posted = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL).map(({ text }) => text);

const untilSaid = (world: TestWorld, words: string) =>
  world.slack.until(() => posted(world).some((text) => text.includes(words)), { what: words });

function address(world: TestWorld, path: string): string {
  return `${world.config.SERVICE_BASE_URL.replace('{account}', ACCOUNT)}/projects/${path}`;
}

describe('a project and server as they are typed', () => {
  test.override({ connected: true, worldOptions: { projects: PROJECTS } });

  test.for([
    ['Joe’s “best” shop', 'best'],
    ["Joe's best shop web one", 'web one in'],
    ['--account-like', 'account-like'],
    ['Billing —account acme', 'Billing'],
    ['web one', 'web one in'],
  ] as const)('`test %s` tests it', async ([words, name], { world }) => {
    await world.as('member').command(CHANNEL, `/deckhand test ${words}`);
    await untilSaid(world, name);
  });

  test('a typed apostrophe finds a straight one, and a pasted address names the project and its server', async ({
    world,
  }) => {
    expect(await ask(world, '/deckhand projects joe’s')).toContain('1 project');
    const link = address(world, 'billing');
    await world.as('admin').command(CHANNEL, `/deckhand use <${link}>`);
    await untilSaid(world, 'Billing (billing)');
    expect(await ask(world, `/deckhand activity <${link}|Billing> 7d`)).toContain('*Billing*> in `acme`');
    expect(await ask(world, `/deckhand activity ${link.replace('http://', '')}`)).toContain(
      '*Billing*> in `acme`',
    );
    expect(await ask(world, `/deckhand watch <${link}>`, 'admin')).toContain('anything happens in Billing');
    await world.as('admin').command(CHANNEL, `/deckhand unwatch <${link}>`);
    await untilSaid(world, 'removed the watch of Billing');
    const [api] = world.service.world.state.accounts.get(ACCOUNT)?.projects[2]?.servers ?? [];
    const shown = await ask(
      world,
      `/deckhand server show ${address(world, `billing/servers/${api?.identifier}`)}`,
    );
    expect(shown).toContain('*api*');
  });

  test('`test` asks which project is meant where several have such a server', async ({ world }) => {
    world.service.world.addProject({ account: ACCOUNT, name: 'Newcomer', servers: [server('api')] });
    const question = await ask(world, '/deckhand test api');
    expect(question).toContain('Which project do you mean?');
    expect(question).not.toContain('joes');
    const place = { channel: CHANNEL, ts: world.slack.ephemerals(TEAM, PEOPLE.member).at(-1)?.ts ?? '' };
    await world.as('member').click(place, { actionId: 'projects:choose', selected: 'newcomer' });
    await untilSaid(world, 'api in Newcomer');
  });

  test('an address that is of no project at the service is refused by name', async ({ world }) => {
    const elsewhere = 'https://shop.elsewhere.example/projects/billing';
    const said = await ask(world, `/deckhand test <${elsewhere}>`);
    expect(said).toContain('is not the address of a project at this service');
    const other = `${world.config.SERVICE_BASE_URL.replace('{account}', 'other')}/projects/billing`;
    expect(await ask(world, `/deckhand test ${other}`)).toContain('`other`');
    expect(await ask(world, `/deckhand test ${other} --account acme`)).toContain(
      'the command names another one',
    );
  });
});

describe('names with letters that not every keyboard has', () => {
  const names = ['Café', 'Łódź', 'Smørrebrød', 'Straße', 'Ærø', 'Đà Nẵng', 'Ёлка'];
  const projects = names.map((name, at) => ({ name, permalink: `p-${at}`, servers: [server(`${name} 1`)] }));
  test.override({ connected: true, worldOptions: { projects } });

  test.for([
    ['cafe', 'Café'],
    ['CAFÉ', 'Café'],
    ['lodz', 'Łódź'],
    ['smorrebrod', 'Smørrebrød'],
    ['strasse', 'Straße'],
    ['aero', 'Ærø'],
    ['da nang', 'Đà Nẵng'],
    ['елка', 'Ёлка'],
  ] as const)('%s finds %s', async ([word, name], { world }) => {
    const list = await ask(world, `/deckhand projects ${word}`);
    expect(list).toContain('1 project');
    expect(list).toContain(name);
    await world.as('member').command(CHANNEL, `/deckhand test ${word} ${word} 1`);
    await untilSaid(world, `${name} 1 in ${name}`);
  });
});

describe('names that differ by an accent, or not at all', () => {
  const projects = [
    { name: 'Resume', permalink: 'one', servers: [server('box'), server('box')] },
    { name: 'Résumé', permalink: 'two' },
    { name: 'API', permalink: 'api-eu' },
    { name: 'API', permalink: 'api-us' },
  ];
  test.override({ connected: true, worldOptions: { projects } });

  test('mean the one that was typed', async ({ world }) => {
    expect(await ask(world, '/deckhand activity résumé')).toContain('*Résumé*> in `acme`');
    expect(await ask(world, '/deckhand activity resume')).toContain('*Resume*> in `acme`');
    expect(await ask(world, '/deckhand activity resumé')).toContain('Several projects have that name');
  });

  test('are told apart in a menu', async ({ world }) => {
    const question = await ask(world, '/deckhand test');
    expect(question).toContain('"API (api-eu)"');
    expect(question).toContain('"API (api-us)"');
    expect(question).toContain('"Resume"');
    await ask(world, '/deckhand server show box one');
    const place = { channel: CHANNEL, ts: world.slack.ephemerals(TEAM, PEOPLE.member).at(-1)?.ts ?? '' };
    const menu = await world.as('member').suggest(place, { actionId: 'server', query: '' });
    const [one, other] = world.service.world.state.accounts.get(ACCOUNT)?.projects[0]?.servers ?? [];
    expect(menu.options.map(({ text }) => text)).toMatchObject([
      { text: `box (${one?.identifier})` },
      { text: `box (${other?.identifier})` },
    ]);
  });
});

describe('a span of time beside a project', () => {
  const projects = [
    { name: '3D printing', permalink: 'printing' },
    { name: 'Docs', permalink: 'docs-site' },
  ];
  test.override({ connected: true, worldOptions: { projects } });

  test('is a range, unless it is a part of a name', async ({ world }) => {
    expect(await ask(world, '/deckhand activity 3d docs-site')).toContain('Docs in acme, the last 3 days');
    expect(await ask(world, '/deckhand activity docs-site 2w')).toContain('Docs in acme, the last 14 days');
    expect(await ask(world, '/deckhand activity 3d printing')).toContain('*3D printing*> in `acme`');
  });
});

describe('a permalink that is the name of another project too', () => {
  const twins = [
    { name: 'Shop', permalink: 'storefront', servers: [server('web-1')] },
    { name: 'Storefront', permalink: 'shop-2', servers: [server('web-1')] },
  ];
  test.override({ connected: true, worldOptions: { projects: twins } });

  test('means the project of the permalink', async ({ world }) => {
    await world.as('admin').command(CHANNEL, '/deckhand use storefront');
    await untilSaid(world, 'Shop (storefront)');
  });
});

describe('where the service lists no servers', () => {
  test.override({ connected: true, worldOptions: { projects: PROJECTS } });

  test('the servers that a test has just shown can be typed by name', async ({ world }) => {
    world.service.faults.add({ method: 'GET', path: `/${ACCOUNT}/projects/*/servers`, status: 404 });
    await world.as('member').command(CHANNEL, '/deckhand test joes');
    await untilSaid(world, 'both servers are reachable');
    await world.as('member').command(CHANNEL, '/deckhand test joes web one');
    await untilSaid(world, 'web one in');
    expect(await ask(world, '/deckhand server show web-2 joes')).toContain('*web-2*');
    expect(await ask(world, '/deckhand server show web-3 joes')).toContain('web-3');
  });

  test('the servers of a build that was shown can be typed by name', async ({ world }) => {
    const [, , billing] = world.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
    const servers = billing?.servers.map(({ identifier }) => identifier) ?? [];
    billing?.buildConfigurations.push({ identifier: 'b-1', packages: {}, isDefault: true, servers } as never);
    world.service.faults.add({ method: 'GET', path: `/${ACCOUNT}/projects/*/servers`, status: 403 });
    await ask(world, '/deckhand build b-1 billing');
    expect(await ask(world, '/deckhand server show api billing')).toContain('*api*');
  });
});
