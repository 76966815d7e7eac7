import { randomInt } from 'node:crypto';
import { expect } from 'vitest';
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

function furnish({ service: { world } }: TestWorld): void {
  world.updateUser({ account: ACCOUNT, email: EMAIL, billing: true });
  for (const name of MACHINES)
    world.addHostedResource({ account: ACCOUNT, name, identifier: name, status: 'active' });
  for (const number of INVOICES) world.addInvoice({ account: ACCOUNT, number });
  for (const [at, user] of ['Kim', 'Lea', 'Max'].entries()) {
    const deployment = { succeeded: at > 0, endedAt: Date.now() - (at + 2) * DAY_MS, user };
    world.addDeployment({ account: ACCOUNT, project: 'storefront', ...deployment });
  }
}

/** How many entries of a list the service sends that are no record; the same draw as what Deckhand is sent. */
async function countOdd({ service }: TestWorld, path: string, key: string): Promise<number> {
  const address = `${service.baseUrl.replace('{account}', ACCOUNT)}/${path}`;
  const authorization = `Basic ${btoa(`${EMAIL}:${API_KEY}`)}`;
  const headers = { authorization, accept: 'application/json', 'content-type': 'application/json' };
  let answer = await fetch(address, { headers });
  if (answer.status === 404) answer = await fetch(address, { headers });
  const body: unknown = await answer.json();
  const lists = Array.isArray(body) ? [body] : Object.values(body as object).filter(Array.isArray);
  const rows: unknown[] = lists.flat();
  return rows.filter((row) => typeof row !== 'object' || row === null || !Object.hasOwn(row, key)).length;
}

/** Each command, what it has to show, and the list in which it has to count what it cannot show. */
const COMMANDS: [line: string, shown: (string | number)[], path?: string, key?: string][] = [
  ['projects', ['Storefront', 'Billing API'], 'projects.json', 'permalink'],
  ['hosting', MACHINES, 'hosted_resources', 'identifier'],
  ['invoices', INVOICES, 'account/invoices', 'number'],
  ['activity', [], 'activity', 'event'],
  ['activity stats', ['Success rate'], 'activity?include=stats', 'event'],
  ['digest preview', [], 'activity?include=stats&range=today', 'event'],
  ['server show web-1 storefront', ['*web-1*']],
  ['build build storefront', SERVERS],
  ['hosting show anchor', ['anchor']],
  ['hosting regions', ['Regions for managed servers']],
  ['hosting sizes', ['Sizes of managed servers']],
  ['whoami', [EMAIL]],
];

function expectGood(text: string, what: string, shown: (string | number)[] = [], odd?: number): void {
  expect.soft(text, what).not.toMatch(/answered unexpectedly|unexpected error|undefined|NaN|\[object/);
  for (const name of shown) expect.soft(text, what).toContain(String(name));
  if (odd === undefined) return;
  const [, counted = '0'] = /(\d+) entr(?:y|ies) could not be read/.exec(text) ?? [];
  expect.soft(Number(counted), `entries of ${what} that could not be read`).toBe(odd);
}

async function expectCommands(world: TestWorld): Promise<void> {
  await ask(world, '/deckhand digest add daily 09:00 UTC today', 'admin');
  await postedText(world, /A digest every day at 09:00/);
  for (const [line, shown, path, key] of COMMANDS) {
    const odd = path === undefined ? undefined : await countOdd(world, path, key ?? '');
    let text = await ask(world, `/deckhand ${line}`, 'admin');
    // A list that is there may be missed once; a person then asks again.
    if (text.includes('did not find')) text = await ask(world, `/deckhand ${line}`, 'admin');
    expectGood(text, line, shown, odd);
  }
}

/** Adds an integration, and changes it by the id that lists show. */
async function expectIntegration(world: TestWorld): Promise<void> {
  const me = ann(world);
  const submit = async (values: object) => {
    const before = me.told().length;
    await me.submit(values as Parameters<typeof me.submit>[0]);
    await world.slack.until(() => me.told().length > before, { what: 'the answer to the form' });
    expectGood(JSON.stringify(me.told().at(-1)), 'integration');
  };
  await me.open('integration add storefront');
  await me.choose('hook_type', 'http_req');
  await submit({ name: 'Hook', 'properties.url': 'https://hooks.example.com' });
  const [added] = await world.app.workspaces.open(TEAM).integrations.list();
  await me.open(`integration edit ${added?.id}`);
  expect.soft(me.fields(), 'integration edit').toEqual(expect.arrayContaining(['name', 'flags', 'clear']));
  await submit({ name: 'Other hook' });
  expect.soft(me.kept()[0]?.name).toBe('Other hook');
}

function postedText({ slack }: TestWorld, pattern: RegExp): Promise<string> {
  const texts = () => slack.messages(TEAM, CHANNEL).map(({ text }) => text);
  return slack.until(() => texts().find((text) => pattern.test(text)), { what: `${pattern}` });
}

async function expectRun(world: TestWorld): Promise<void> {
  await world.as('admin').command(CHANNEL, '/deckhand test storefront');
  const root = await postedText(
    world,
    /^(?:Storefront: .*reachable|The test of Storefront .*(?:results|failed|stopped|ended))/,
  );
  expectGood(root, 'test storefront', ['both servers are reachable']);
}

async function expectHome(world: TestWorld): Promise<void> {
  const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.admin)?.content.blocks ?? []);
  await world.as('admin').openHome();
  const isThere = () => home().includes('Your permissions') && !home().includes('Loading this week');
  await world.slack.until(isThere, { what: 'App Home with its figures' });
  // A feed that is there may be missed once; a person then opens the page again.
  if (home().includes('did not find')) await world.as('admin').openHome();
  await world.slack.until(() => home().includes('Success rate'), { what: 'figures on App Home' });
  const odd = await countOdd(world, 'activity?include=stats&range=last_7_days', 'event');
  expectGood(home(), 'App Home', [ACCOUNT, 'Storefront', 'both servers are reachable'], odd);
}

test.for(byLength(SEEDS, [...SEEDS, ...drawn()]))(
  'in the weather of services every command shows what can be shown, and counts what cannot (seed %i)',
  async (seed, { world }) => {
    furnish(world);
    world.slack.invite(TEAM, CHANNEL, 'bot');
    world.service.weather.set({ strength: 'wild', seed, share: 0.4 });
    await expectCommands(world);
    await expectIntegration(world);
    await expectRun(world);
    await expectHome(world);
  },
);
