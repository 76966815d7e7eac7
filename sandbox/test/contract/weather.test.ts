import { randomInt } from 'node:crypto';
import { describe, expect } from 'vitest';
import { ann } from '../../../test/commands/integrations/support.ts';
import { ask } from '../../../test/support/asking.ts';
import { test as base } from '../../../test/support/fixtures.ts';
import { byLength } from '../../../test/support/length.ts';
import {
  ACCOUNT,
  API_KEY,
  CHANNEL,
  EMAIL,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../../test/support/test-world.ts';

/** The same at every run; one that has failed in the long form joins them. */
const SEEDS = [1, 2, 3, 128_527];
const drawn = (): number[] => Array.from({ length: 50 }, () => randomInt(1_000_000));

const DAY_MS = 86_400_000;
const SERVERS = ['web-1', 'web-2'];
const MACHINES = ['anchor', 'buoy', 'capstan'];
const INVOICES = [1001, 1002, 1003];
const HANDS = ['Kim', 'Lea', 'Max'];

const test = base.extend('connected', true).extend('worldOptions', {
  projects: [
    {
      name: 'Storefront',
      permalink: 'storefront',
      servers: SERVERS.map((name) => ({ name, identifier: name })),
      buildConfigurations: [{ identifier: 'build' }],
    },
    { name: 'Billing API', permalink: 'billing-api', servers: [{ name: 'api-1' }] },
  ],
});

function furnish({ service }: TestWorld): void {
  service.world.updateUser({ account: ACCOUNT, email: EMAIL, billing: true });
  for (const name of MACHINES)
    service.world.addHostedResource({ account: ACCOUNT, name, identifier: name, status: 'active' });
  for (const number of INVOICES) service.world.addInvoice({ account: ACCOUNT, number });
  for (const [at, user] of HANDS.entries()) {
    const endedAt = Date.now() - (at + 2) * DAY_MS;
    const where = { account: ACCOUNT, project: 'storefront' };
    service.world.addDeployment({ ...where, succeeded: at > 0, endedAt, user });
  }
}

/** How many entries of a list the service sends that are no record; the same draw as what Deckhand is sent. */
async function oddRows({ service }: TestWorld, path: string, known: string): Promise<number> {
  const address = `${service.baseUrl.replace('{account}', ACCOUNT)}/${path}`;
  const authorization = `Basic ${Buffer.from(`${EMAIL}:${API_KEY}`).toString('base64')}`;
  const headers = { authorization, accept: 'application/json', 'content-type': 'application/json' };
  let answer = await fetch(address, { headers });
  if (answer.status === 404) answer = await fetch(address, { headers });
  const body: unknown = await answer.json();
  const lists = Array.isArray(body) ? [body] : Object.values(body as object).filter(Array.isArray);
  const rows: unknown[] = lists.flat();
  return rows.filter((row) => typeof row !== 'object' || row === null || !Object.hasOwn(row, known)).length;
}

/** A list that is there may be missed once; a person then asks again. */
async function askAgain(world: TestWorld, line: string): Promise<string> {
  const said = await ask(world, `/deckhand ${line}`, 'admin');
  return said.includes('did not find') ? ask(world, `/deckhand ${line}`, 'admin') : said;
}

const LISTS: ReadonlyArray<[line: string, path: string, known: string, shown: readonly (string | number)[]]> =
  [
    ['projects', 'projects.json', 'permalink', ['Storefront', 'Billing API']],
    ['hosting', 'hosted_resources', 'identifier', MACHINES],
    ['invoices', 'account/invoices', 'number', INVOICES],
    ['activity', 'activity', 'event', []],
    ['activity stats', 'activity?include=stats', 'event', ['Success rate']],
  ];

const CARDS: ReadonlyArray<[line: string, shown: readonly string[]]> = [
  ['server show web-1 storefront', ['*web-1*']],
  ['build build storefront', SERVERS],
  ['hosting show anchor', ['anchor']],
  ['hosting regions', ['Regions for managed servers']],
  ['hosting sizes', ['Sizes of managed servers']],
  ['whoami', [EMAIL]],
];

function expectGood(said: string, line: string): void {
  expect.soft(said, line).not.toMatch(/answered unexpectedly|unexpected error|undefined|NaN|\[object/);
}

async function expectLists(world: TestWorld): Promise<void> {
  for (const [line, path, known, shown] of LISTS) {
    const odd = await oddRows(world, path, known);
    const said = await askAgain(world, line);
    expectGood(said, line);
    for (const name of shown) expect.soft(said, line).toContain(String(name));
    const [, counted = '0'] = /(\d+) entr(?:y|ies) could not be read/.exec(said) ?? [];
    expect.soft(Number(counted), `entries of ${line} that could not be read`).toBe(odd);
  }
}

async function expectCards(world: TestWorld): Promise<void> {
  for (const [line, shown] of CARDS) {
    const said = await ask(world, `/deckhand ${line}`, 'admin');
    expectGood(said, line);
    for (const name of shown) expect.soft(said, line).toContain(name);
  }
}

async function expectIntegration(world: TestWorld): Promise<void> {
  const me = ann(world);
  const before = me.told().length;
  await me.open('integration add storefront');
  await me.choose('hook_type', 'http_req');
  await me.submit({ name: 'Hook', 'properties.url': 'https://hooks.example.com' });
  await world.slack.until(() => me.told().length > before, { what: 'the answer of integration add' });
  expectGood(JSON.stringify(me.told().at(-1)), 'integration add');
}

/** The form of the one just added, by the id that lists show. */
async function expectEdit(world: TestWorld): Promise<void> {
  const me = ann(world);
  const [kept] = me.kept();
  const [known] = await world.app.workspaces.open(TEAM).integrations.list();
  const before = me.told().length;
  await me.open(`integration edit ${known?.id}`);
  expect.soft(me.fields(), 'integration edit').toEqual(expect.arrayContaining(['name', 'flags', 'clear']));
  expect.soft(JSON.stringify(me.view().content), 'integration edit').toContain('Hook');
  await me.submit({ name: 'Other hook' });
  await world.slack.until(() => me.told().length > before, { what: 'the answer of integration edit' });
  expectGood(JSON.stringify(me.told().at(-1)), 'integration edit');
  expect.soft(kept?.name).toBe('Other hook');
}

async function expectRun(world: TestWorld): Promise<void> {
  const texts = () => world.slack.messages(TEAM, CHANNEL).map(({ text }) => text);
  await world.as('admin').command(CHANNEL, '/deckhand test storefront');
  const root = () => texts().find((text) => text.startsWith('Storefront: ')) ?? '';
  await world.slack.until(() => /reachable|results|failed|stopped/.test(root()), {
    what: 'the end of the run',
  });
  expect.soft(root()).toContain('all 2 servers are reachable');
  expectGood(root(), 'test storefront');
}

async function expectDigest(world: TestWorld): Promise<void> {
  const texts = () => world.slack.messages(TEAM, CHANNEL).map(({ text }) => text);
  await world.as('admin').command(CHANNEL, '/deckhand digest add daily 09:00 UTC today');
  await world.slack.until(() => texts().some((text) => text.includes('the digest of')), {
    what: 'the digest',
  });
  const odd = await oddRows(world, 'activity?include=stats&range=today', 'event');
  let said = await ask(world, '/deckhand digest preview', 'admin');
  if (said.includes('did not find')) said = await ask(world, '/deckhand digest preview', 'admin');
  expectGood(said, 'digest preview');
  const [, counted = '0'] = /(\d+) entr(?:y|ies) could not be read/.exec(said) ?? [];
  expect.soft(Number(counted), 'entries of the digest that could not be read').toBe(odd);
}

async function expectHome(world: TestWorld): Promise<void> {
  const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.admin)?.content.blocks ?? []);
  await world.as('admin').openHome();
  const isThere = () => home().includes('Your permissions') && !home().includes('Loading this week');
  await world.slack.until(isThere, { what: 'App Home with its figures' });
  // A feed that is there may be missed once; a person then opens the page again.
  if (home().includes('did not find')) await world.as('admin').openHome();
  await world.slack.until(() => home().includes('Success rate'), { what: 'figures on App Home' });
  expectGood(home(), 'App Home');
  for (const words of ['Success rate', ACCOUNT, 'Storefront', 'all 2 servers are reachable'])
    expect.soft(home(), 'App Home').toContain(words);
  const odd = await oddRows(world, 'activity?include=stats&range=last_7_days', 'event');
  const [, counted = '0'] = /(\d+) entr(?:y|ies) could not be read/.exec(home()) ?? [];
  expect.soft(Number(counted), 'entries of App Home that could not be read').toBe(odd);
}

describe('in the weather of services', () => {
  test.for(byLength(SEEDS, [...SEEDS, ...drawn()]))(
    'every command shows what can be shown, and counts what cannot (seed %i)',
    async (seed, { world }) => {
      furnish(world);
      world.slack.invite(TEAM, CHANNEL, 'bot');
      world.service.weather.set({ strength: 'wild', seed, share: 0.4 });
      await expectLists(world);
      await expectCards(world);
      await expectIntegration(world);
      await expectEdit(world);
      await expectRun(world);
      await expectDigest(world);
      await expectHome(world);
    },
  );
});
