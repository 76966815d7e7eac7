import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createUninstalls } from '../../src/installing/install.ts';
import { DATABASES } from '../store/databases.ts';
import { ask } from '../support/asking.ts';
import { openBrowser } from '../support/installing.ts';
import { jobsToEnd } from '../support/jobs-to-end.ts';
import { sendEvent } from '../support/signed.ts';
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
  await world.slack.until(() => posted().includes('both servers are reachable'));
  // This one is being followed when the end comes.
  world.service.faults.add({ path: '/acme/projects/billing-api/**', method: 'GET', delayMs: 200 });
  await ann.command(CHANNEL, '/deckhand test billing-api');
  await world.slack.until(() => posted().includes('Billing API'));
}

describe.each(DATABASES)('a workspace that takes Deckhand out, on $name', ({ fresh }) => {
  it('leaves nothing that can be read, also when it is installed again', async () => {
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

    await openBrowser(world).install(TEAM, PEOPLE.admin);
    expect(await ask(world, '/deckhand accounts', 'admin')).toContain('No account');
  });
});

/** Until the jobs that the two events are have ended. */
const idle = () => jobsToEnd(world);

/** As after ten minutes. */
async function sweep(): Promise<void> {
  const { parts, workspaces } = world.app;
  const clock = { ...parts.clock, now: () => parts.clock.now() + 600_000 };
  await createUninstalls({ ...parts, workspaces, clock }).sweep();
  await parts.store.sweep();
}

describe('the events of an installation', () => {
  it('are of no concern to an installation that is newer, or where only a person’s token was revoked', async () => {
    world = await openTestWorld({ byOauth: true });
    await installAndWork();
    const past = Math.floor(Date.now() / 1000) - 60;
    await late({ type: 'app_uninstalled' }, past);
    await late({ type: 'tokens_revoked', tokens: { bot: ['U0BOT'] } }, past);
    await late({ type: 'tokens_revoked', tokens: { oauth: [PEOPLE.admin], bot: [] } }, soon());
    await idle();
    expect(await world.app.parts.installations.about(TEAM)).toBeDefined();
    expect(await ask(world, '/deckhand accounts')).toContain('acme');
  });

  it('spare a workspace whose environment token still works, where they may be older than it', async () => {
    world = await openTestWorld();
    await world.connect();
    await late({ type: 'app_uninstalled' }, Math.floor(Date.now() / 1000) - 60);
    await late({ type: 'tokens_revoked', tokens: { bot: ['U0BOT'] } }, soon());
    await idle();
    expect(await ask(world, '/deckhand accounts')).toContain('acme');
    // One that came after the start ends it, whatever the token still may.
    await late({ type: 'app_uninstalled' }, soon());
    await world.logged('"event":"uninstalled"');
    expect(await world.app.workspaces.open(TEAM).accounts.list()).toEqual([]);
  });
});

describe('an organisation', () => {
  beforeEach(async () => {
    world = await openTestWorld({ byOauth: true });
    for (const id of ['T0EAST', 'T0WEST']) {
      const group = { id: `S0${id}`, name: id, handle: id.toLowerCase(), users: [PEOPLE.billing] };
      const people = Object.values(PEOPLE).map((person) => ({ id: person }));
      world.slack.addWorkspace({
        id,
        name: id,
        enterprise: { id: 'E0GROUP', name: 'House Group' },
        installed: false,
        users: [...people, { id: `U0${id}`, is_admin: true }],
        channels: [{ id: `C0${id}`, name: 'deploys', members: Object.values(PEOPLE) }],
      });
      world.slack.workspace(id).userGroups.set(group.id, group);
    }
  });

  it('is one installation for all its workspaces, with the user groups of the team that sets the roles', async () => {
    const browser = openBrowser(world);
    const authorize = await browser.begin('Add with user groups');
    await browser.open(world.slack.as('T0EAST', PEOPLE.member).install(authorize, { orgWide: true }));
    const { installations } = world.app.parts;
    expect(await installations.token('E0GROUP')).toMatch(/^xoxb-/);
    expect(await installations.token('T0EAST')).toBeUndefined();
    for (const [team, other] of [
      ['T0WEST', 'T0EAST'],
      ['T0EAST', 'T0WEST'],
    ] as const) {
      const ben = world.slack.as(team, PEOPLE.member);
      await ben.command('deploys', '/deckhand roles');
      await world.slack.until(() => ben.openView()?.content.callback_id === 'roles');
      const blocks = JSON.stringify(ben.openView()?.content.blocks);
      expect(blocks).toContain(`S0${team}`);
      expect(blocks).not.toContain(`S0${other}`);
      const answer = await ben.submit('roles', { admin: [PEOPLE.member], operator_groups: [`S0${team}`] });
      expect(answer.outcome).toBe('ok');
    }
    const { roles } = world.app.workspaces.open('E0GROUP');
    expect((await roles.grants())?.groups?.operator).toEqual(['S0T0EAST', 'S0T0WEST']);
    expect(await roles.holds(PEOPLE.billing, 'operator')).toBe(true);
    const requested = world.slack.calls.filter(({ method }) => method.startsWith('usergroups.'));
    expect(requested.every(({ args }) => String(args.team_id).startsWith('T0'))).toBe(true);

    world.slack.uninstall('T0EAST');
    await world.logged('"event":"uninstalled"');
    expect(await installations.token('E0GROUP')).toBeUndefined();
  });

  it('has access asked of the admins of the person’s own team', async () => {
    await openBrowser(world).install('T0EAST', PEOPLE.billing, { orgWide: true });
    const ben = world.slack.as('T0WEST', PEOPLE.member);
    await ben.command('deploys', '/deckhand roles');
    const refusal = await world.slack.until(() => world.slack.ephemerals('T0WEST', PEOPLE.member).at(-1));
    await ben.click({ channel: 'C0T0WEST', ts: refusal.ts }, { actionId: 'access:ask' });
    const told = (team: string) => JSON.stringify(world.slack.dms(team, `U0${team}`));
    await world.slack.until(() => told('T0WEST').includes('asks for the role'), { what: 'the wish' });
    expect(told('T0EAST')).toBe('[]');
  });
});

const soon = () => Math.floor(Date.now() / 1000) + 1;

/** An event as Slack sends it when it happened at `seconds`. */
async function late(what: { type: string; [field: string]: unknown }, seconds: number): Promise<void> {
  const answer = await sendEvent(world, what, {
    event_id: `Ev${what.type}${seconds}`,
    event_time: seconds,
    authorizations: [{ team_id: TEAM, enterprise_id: null, is_enterprise_install: false }],
  });
  expect(answer.status).toBe(200);
}
