import { afterEach, describe, expect, it, vi } from 'vitest';
import { createUninstalls } from '../../src/installing/install.ts';
import { DATABASES } from '../store/databases.ts';
import { ask } from '../support/asking.ts';
import { openBrowser } from '../support/installing.ts';
import { sendJson } from '../support/signed.ts';
import { storedText } from '../support/stored-text.ts';
import {
  API_KEY,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../support/test-world.ts';

let world: TestWorld;
afterEach(() => world.stop());

/** The words that can be read in the database or its files. */
async function found(words: readonly string[]): Promise<string[]> {
  const text = await storedText(world.config.STORE_URL);
  return words.filter((word) => text.includes(word));
}

const posted = () => JSON.stringify(world.slack.messages(TEAM, CHANNEL));

async function installAndWork(): Promise<void> {
  await openBrowser(world).install(TEAM, PEOPLE.admin);
  await world.connect();
  const ann = world.as('admin');
  await ann.command(CHANNEL, '/deckhand use storefront');
  await ann.command(CHANNEL, '/deckhand test storefront');
  await world.slack.until(() => posted().includes('all 2 servers are reachable'));
  // This one is being followed when the end comes.
  world.service.faults.add({ path: '/acme/projects/billing-api/**', method: 'GET', delayMs: 200 });
  await ann.command(CHANNEL, '/deckhand test billing-api');
  await world.slack.until(() => posted().includes('Billing API'));
}

describe.each(DATABASES)('a workspace that takes Deckhand out, on $name', ({ fresh }) => {
  it('leaves nothing that can be read', async () => {
    world = await openTestWorld({ byOauth: true, env: { STORE_URL: await fresh() } });
    await installAndWork();
    const names = ['Storefront', 'Billing API', 'House', EMAIL, API_KEY.slice(-4)];
    const canaries = [...names, ...Object.values(PEOPLE), CHANNEL, TEAM];
    expect(await found(names)).toContain('Storefront');

    world.slack.uninstall(TEAM);

    await world.logged('"event":"uninstalled"');
    await idle();
    expect(await found(canaries)).toEqual([TEAM]);
    await sweep();
    expect(await found(canaries)).toEqual([]);
    expect(await world.app.workspaces.open(TEAM).runs.newest(100)).toEqual([]);
  });
});

/** Until the jobs that the two events are have ended. */
function idle(): Promise<void> {
  return vi.waitFor(
    async () => {
      const queues = await world.app.parts.engine.stats();
      expect(Object.values(queues).filter(({ waiting, running }) => waiting + running > 0)).toEqual([]);
    },
    { timeout: 60_000 },
  );
}

/** As after ten minutes. */
async function sweep(): Promise<void> {
  const { parts, workspaces } = world.app;
  const clock = { ...parts.clock, now: () => parts.clock.now() + 600_000 };
  await createUninstalls({ ...parts, workspaces, clock }).sweep();
  await parts.store.sweep();
}

describe('the events of an installation', () => {
  it('come in any order and again, and end it once', async () => {
    world = await openTestWorld({ byOauth: true });
    await installAndWork();
    world.slack.uninstall(TEAM);
    await world.logged('"event":"uninstalled"');
    expect(await world.app.parts.installations.about(TEAM)).toBeUndefined();
    expect(await world.app.workspaces.open(TEAM).accounts.list()).toEqual([]);
  });

  it('are of no concern to an installation that is newer', async () => {
    world = await openTestWorld({ byOauth: true });
    await installAndWork();
    const past = Math.floor(Date.now() / 1000) - 60;
    await late({ type: 'app_uninstalled' }, past);
    await late({ type: 'tokens_revoked', tokens: { bot: ['U0BOT'] } }, past);
    await idle();
    expect(await world.app.parts.installations.about(TEAM)).toBeDefined();
    expect(await ask(world, '/deckhand accounts')).toContain('acme');
  });

  it('spare a workspace where only a person’s token was revoked', async () => {
    world = await openTestWorld({ byOauth: true });
    await openBrowser(world).install(TEAM, PEOPLE.admin);
    await late({ type: 'tokens_revoked', tokens: { oauth: [PEOPLE.admin], bot: [] } }, soon());
    await idle();
    expect(await world.app.parts.installations.about(TEAM)).toBeDefined();
  });

  it('spare a workspace whose environment token still works, where they may be older than it', async () => {
    world = await openTestWorld();
    await world.connect();
    await late({ type: 'app_uninstalled' }, Math.floor(Date.now() / 1000) - 60);
    await late({ type: 'tokens_revoked', tokens: { bot: ['U0BOT'] } }, soon());
    await idle();
    expect(await ask(world, '/deckhand accounts')).toContain('acme');
    world.slack.uninstall(TEAM);
    await world.logged('"event":"uninstalled"');
    expect(await world.app.workspaces.open(TEAM).accounts.list()).toEqual([]);
  });

  it('end what an environment token is for where they came after the start, whatever that token still may', async () => {
    world = await openTestWorld();
    await world.connect();
    await late({ type: 'app_uninstalled' }, soon());
    await world.logged('"event":"uninstalled"');
    expect(await world.app.workspaces.open(TEAM).accounts.list()).toEqual([]);
  });

  it('let a workspace be installed again, with nothing of before', async () => {
    world = await openTestWorld({ byOauth: true });
    await installAndWork();
    world.slack.uninstall(TEAM);
    await world.logged('"event":"uninstalled"');
    await openBrowser(world).install(TEAM, PEOPLE.admin);
    await idle();
    expect(await ask(world, '/deckhand accounts', 'admin')).toContain('No account');
  });
});

describe('an organisation', () => {
  const enterprise = { id: 'E0GROUP', name: 'House Group' };

  it('is one installation for all its workspaces', async () => {
    world = await openTestWorld({ byOauth: true });
    const people = Object.values(PEOPLE).map((id) => ({ id }));
    for (const id of ['T0EAST', 'T0WEST'])
      world.slack.addWorkspace({
        id,
        name: id,
        enterprise,
        installed: false,
        users: people,
        channels: [{ id: `C0${id}`, name: 'deploys', members: Object.values(PEOPLE) }],
      });
    await openBrowser(world).install('T0EAST', PEOPLE.member, { orgWide: true });
    const { installations } = world.app.parts;
    expect(await installations.token('E0GROUP')).toMatch(/^xoxb-/);
    expect(await installations.token('T0EAST')).toBeUndefined();
    const ben = world.slack.as('T0WEST', PEOPLE.member);
    await ben.command('deploys', '/deckhand connect');
    await world.slack.until(() => ben.openView()?.content.callback_id === 'connect');

    world.slack.uninstall('T0EAST');
    await world.logged('"event":"uninstalled"');
    expect(await installations.token('E0GROUP')).toBeUndefined();
  });
});

describe('user groups of an organisation', () => {
  it('are asked for and read with the team of the person who sets the roles', async () => {
    world = await openTestWorld({ byOauth: true });
    for (const id of ['T0EAST', 'T0WEST'])
      world.slack.addWorkspace({
        id,
        name: id,
        enterprise: { id: 'E0GROUP', name: 'House Group' },
        installed: false,
        users: Object.values(PEOPLE).map((user) => ({ id: user })),
        channels: [{ id: `C0${id}`, name: 'deploys', members: Object.values(PEOPLE) }],
      });
    const group = (id: string) => ({ id, name: id, handle: id.toLowerCase(), users: [PEOPLE.billing] });
    world.slack.workspace('T0EAST').userGroups.set('S0EAST', group('S0EAST'));
    world.slack.workspace('T0WEST').userGroups.set('S0WEST', group('S0WEST'));
    const browser = openBrowser(world);
    const authorize = await browser.begin('Add with user groups');
    await browser.open(world.slack.as('T0EAST', PEOPLE.member).install(authorize, { orgWide: true }));
    for (const [team, chosen, hidden] of [
      ['T0WEST', 'S0WEST', 'S0EAST'],
      ['T0EAST', 'S0EAST', 'S0WEST'],
    ] as const) {
      const ben = world.slack.as(team, PEOPLE.member);
      await ben.command('deploys', '/deckhand roles');
      await world.slack.until(() => ben.openView()?.content.callback_id === 'roles');
      const blocks = JSON.stringify(ben.openView()?.content.blocks);
      expect(blocks).toContain(chosen);
      expect(blocks).not.toContain(hidden);
      const answer = await ben.submit('roles', { admin: [PEOPLE.member], operator_groups: [chosen] });
      expect(answer.outcome).toBe('ok');
    }
    const { roles } = world.app.workspaces.open('E0GROUP');
    expect((await roles.grants())?.groups?.operator).toEqual(['S0EAST', 'S0WEST']);
    expect(await roles.holds(PEOPLE.billing, 'operator')).toBe(true);
    const asked = world.slack.calls.filter(({ method }) => method.startsWith('usergroups.'));
    expect(asked.every(({ args }) => String(args.team_id).startsWith('T0'))).toBe(true);
  });
});

describe('the admins of an organisation', () => {
  it('are looked up with the team of the person who asks for access', async () => {
    world = await openTestWorld({ byOauth: true });
    for (const id of ['T0EAST', 'T0WEST'])
      world.slack.addWorkspace({
        id,
        name: id,
        enterprise: { id: 'E0GROUP', name: 'House Group' },
        installed: false,
        users: [{ id: PEOPLE.billing }, { id: PEOPLE.member }, { id: `U0${id}`, is_admin: true }],
        channels: [{ id: `C0${id}`, name: 'deploys', members: [PEOPLE.member] }],
      });
    await openBrowser(world).install('T0EAST', PEOPLE.billing, { orgWide: true });
    const ben = world.slack.as('T0WEST', PEOPLE.member);
    await ben.command('deploys', '/deckhand roles');
    const refusal = await world.slack.until(() => world.slack.ephemerals('T0WEST', PEOPLE.member).at(-1));
    await ben.click({ channel: 'C0T0WEST', ts: refusal.ts }, { actionId: 'access:ask' });
    const asked = (team: string) => JSON.stringify(world.slack.dms(team, `U0${team}`));
    await world.slack.until(() => asked('T0WEST').includes('asks for the role'), { what: 'the wish' });
    expect(asked('T0EAST')).toBe('[]');
  });
});

const soon = () => Math.floor(Date.now() / 1000) + 1;

/** An event as Slack sends it when it happened at `seconds`. */
async function late(what: { type: string; [field: string]: unknown }, seconds: number): Promise<void> {
  const answer = await sendJson(world, {
    type: 'event_callback',
    event_id: `Ev${what.type}${seconds}`,
    event_time: seconds,
    team_id: TEAM,
    authorizations: [{ team_id: TEAM, enterprise_id: null, is_enterprise_install: false }],
    event: what,
  });
  expect(answer.status).toBe(200);
}
