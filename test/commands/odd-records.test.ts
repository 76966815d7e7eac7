import { describe, expect } from 'vitest';
import { ask } from '../support/asking.ts';
import { test } from '../support/fixtures.ts';
import { ACCOUNT, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

/** A server as such services send it: with fields of other types than documented. */
const SERVER = {
  identifier: 4711,
  name: 'web-1',
  protocol_type: 'ssh',
  hostname: 'host.example.net',
  port: '22',
  use_ssh_keys: 'true',
  last_revision: 20_260_101,
  preferred_branch: false,
  static_hosting: '',
};
const UNREADABLE = /1 entry could not be read\. Reference `[0-9a-f]{8}`/;

function answer(world: TestWorld, path: string, body: unknown, method = 'GET'): void {
  world.service.faults.add({ method, path: `/${ACCOUNT}/${path}`, status: 200, body });
}

const homeText = ({ slack }: TestWorld) =>
  JSON.stringify(slack.home(TEAM, PEOPLE.member)?.content.blocks ?? []);
const rootText = ({ slack }: TestWorld) => JSON.stringify(slack.messages(TEAM, CHANNEL)[0]?.blocks ?? []);

/** What a run shows whose results are these. */
async function ran(world: TestWorld, results: unknown, words: string): Promise<string> {
  const run = { identifier: 'r1', created_at: '2026-03-02T08:00:00Z' };
  const ended = { ...run, status: 'completed', completed_at: '2026-03-02T08:01:00Z', results };
  answer(world, 'projects/storefront/test_access', { ...run, status: 'running' }, 'POST');
  answer(world, 'projects/storefront/test_access/r1', ended);
  await world.as('member').command(CHANNEL, '/deckhand test storefront');
  await world.slack.until(() => rootText(world).includes(words), { what: words });
  return rootText(world);
}

describe('records that differ from the documents', () => {
  test.override({ connected: true });

  test.for([
    ['an address', 'ops@example.com'],
    ['absent', undefined],
  ] as const)('server show and build work where notify_email is %s', async ([, notify], { world }) => {
    const server = { ...SERVER, notify_email: notify };
    answer(world, 'projects/storefront/servers', [server, 'gone']);
    answer(world, 'projects/storefront/servers/4711', server);
    const build = { identifier: 7, packages: { node: 24, php: '8.4', odd: true }, default: 'yes' };
    const servers = [server, { name: 'nameless' }];
    answer(world, 'projects/storefront/build_configurations/7', { ...build, servers });
    const shown = await ask(world, '/deckhand server show web-1 storefront');
    expect(shown).toContain('`host.example.net:22`');
    const built = await ask(world, '/deckhand build 7 storefront');
    expect(built).toContain('*web-1*');
    expect(built).toContain('`24`');
    expect(built).toMatch(UNREADABLE);
    expect(built.includes('notifies by e-mail')).toBe(notify !== undefined);
    const menu = await ask(world, '/deckhand server show nothing storefront');
    expect(menu).toContain('It has `web-1`');
    expect(menu).toMatch(UNREADABLE);
  });

  test('a managed server whose record has no revision is not called never deployed', async ({ world }) => {
    const named = { identifier: 'srv-1', name: 'Docs', protocol_type: 'static_hosting' };
    const static_hosting = { subdomain: 'docs', status: 'active', active_deployment_uuid: 'dep-55' };
    const bare = { identifier: 'srv-2', name: 'Bare' };
    answer(world, 'projects/storefront/servers', [named, bare]);
    answer(world, 'projects/storefront/servers/srv-1', { ...named, static_hosting });
    answer(world, 'projects/storefront/servers/srv-2', bare);
    const build = { identifier: '7', packages: {}, default: true, servers: [named] };
    answer(world, 'projects/storefront/build_configurations/7', build);
    for (const [line, words] of [
      ['server show srv-1', '*Active deployment*  `dep-55`'],
      ['server show srv-2', '*Bare*'],
      ['build 7', '*Docs*'],
    ]) {
      const said = await ask(world, `/deckhand ${line} storefront`);
      expect(said).toContain(words);
      expect(said).not.toContain('never deployed');
    }
  });

  test('projects whose last deployment is not given or no date are not called never deployed, and two unreadable ones are counted', async ({
    world,
  }) => {
    const old = { name: 'Shop', permalink: 'shop', last_deployed_at: 'a while ago' };
    const other = { name: 'Site', permalink: 'site' };
    const blog = { name: 'Blog', permalink: 'blog', last_deployed_at: null };
    answer(world, 'projects', [null, old, other, blog, 42]);
    const said = await ask(world, '/deckhand projects');
    expect(said).toContain('*Blog*>  `blog`  never deployed');
    // Once in the text, once in the blocks.
    expect(said.split('never deployed')).toHaveLength(3);
    expect(said).toContain('2 entries could not be read');
  });

  test.for([
    ['projects', 'Storefront'],
    ['activity', 'no event could be read'],
    ['invoices', ''],
    ['hosting', ''],
    ['hosting regions', 'Regions for managed servers'],
    ['hosting sizes', 'Sizes of managed servers'],
  ] as const)(
    '%s shows everything else where one entry cannot be read, and is not said to be empty',
    async ([command, shown], { world }) => {
      world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, billing: true });
      world.service.weather.set({ strength: 'wild', share: 1, only: ['odd_rows'] });
      const said = await ask(world, `/deckhand ${command}`, 'admin');
      expect(said).toContain(shown);
      expect(said).not.toMatch(/nothing happened|no invoices|no managed servers/);
      expect(said).toMatch(UNREADABLE);
      const reference = /Reference `([0-9a-f]{8})`/.exec(said)?.[1] ?? 'none';
      expect(await world.logged(reference)).toContain('rows_skipped');
    },
  );

  test('a result that cannot be read costs itself alone, and the run is no success; App Home says so, and of events too', async ({
    world,
  }) => {
    world.service.weather.set({ strength: 'wild', share: 1, only: ['odd_rows'] });
    await world.as('member').openHome();
    await world.slack.until(() => homeText(world).includes('Success rate'), { what: 'the figures' });
    expect(homeText(world)).toMatch(UNREADABLE);
    const words = 'both servers are reachable, 1 result could not be read';
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.slack.until(() => rootText(world).includes(words), { what: 'the outcome' });
    expect(rootText(world)).toContain('|Storefront>: ');
    expect(rootText(world)).toMatch(UNREADABLE);
    await world.slack.until(() => homeText(world).includes(`:warning: ${words}`), { what: 'App Home' });
  });

  test('a profile that holds nothing but the beta is enough for whoami and beta', async ({ world }) => {
    const nothing = { name: null, permalink: null, static_hosting_eligible: null };
    const profile = { first_name: null, last_name: null, email_address: null };
    answer(world, 'profile', { ...profile, account: { ...nothing, beta_features: 'true' } });
    expect(await ask(world, '/deckhand whoami')).toContain('`acme`');
    expect(await ask(world, '/deckhand beta')).toContain('is *on* for *acme*');
  });

  test('a failing server without a name is called by its identifier', async ({ world }) => {
    const server = { name: null, identifier: 4711, status: 'error' };
    const shown = await ran(world, { servers: [server] }, 'is unreachable');
    expect(shown).toContain('"title":"4711","status":"error"');
    expect(shown).not.toMatch(UNREADABLE);
  });

  test('an event in another form of ISO 8601 is shown, and figures beside null in place of events', async ({
    world,
  }) => {
    answer(world, 'activity', [{ event: 'deploy_completed', created_at: '20261120T093000Z', user: 'Kim' }]);
    const said = await ask(world, '/deckhand activity');
    expect(said).toContain(`<!date^${Date.parse('2026-11-20T09:30:00Z') / 1000}^`);
    world.service.faults.clear();
    answer(world, 'activity', { events: null, stats: { total_deployments: 0, success_rate: null } });
    expect(await ask(world, '/deckhand activity stats')).toContain('*Deployments*\\n0');
  });

  test('a feed that the service cut is said to be cut where one of its events cannot be read', async ({
    world,
  }) => {
    const event = { event: 'deploy_completed', created_at: new Date().toISOString(), user: 'Kim' };
    answer(world, 'activity', [...Array.from({ length: 99 }, () => event), 'gone']);
    const said = await ask(world, '/deckhand activity');
    expect(said).toContain('counted since <!date^');
    expect(said).toMatch(UNREADABLE);
  });
});
