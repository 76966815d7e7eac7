import { describe, expect } from 'vitest';
import type { PersonOptions } from '../../sandbox/slack/state/people.ts';
import { answerTo, ask, openForm } from '../support/asking.ts';
import { test } from '../support/fixtures.ts';
import { sendClick } from '../support/signed.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const WHO = 'U0OUTSIDE';
/** The kinds of people who hold nothing, and what they read. */
const OUTSIDE: ReadonlyArray<[name: string, person: Omit<PersonOptions, 'id'>, sentence: string]> = [
  ['a stranger', { stranger: true }, 'Only people of the workspace that installed'],
  ['an admin of another company', { team_id: 'T0FAR', is_admin: true }, 'Only people of the workspace that'],
  ['a single-channel guest', { guest: 'single' }, 'Single-channel guests cannot use Deckhand'],
  ['an app', { is_bot: true }, 'Only active people of this workspace'],
  ['a person who left', { deleted: true }, 'Only active people of this workspace'],
];

function admit(world: TestWorld, person: Omit<PersonOptions, 'id'>): void {
  world.slack.addPerson(TEAM, { ...person, id: WHO });
  world.slack.invite(TEAM, CHANNEL, WHO);
}

const said = ({ slack }: TestWorld) => JSON.stringify(slack.ephemerals(TEAM, WHO));
const reads = (world: TestWorld, words: string) =>
  world.slack.until(() => said(world).includes(words), { what: `"${words}"` });

describe('people who hold nothing', () => {
  test.override({ connected: true });

  test.for(OUTSIDE)(
    'people who hold nothing: %s is refused with the reason, whatever role they were given, and the service is not asked',
    async ([_, person, sentence], { world }) => {
      admit(world, person);
      const { roles } = world.app.workspaces.open(TEAM);
      const all = [PEOPLE.admin, WHO];
      await roles.set({ admin: all, operator: all, billing: all, changedBy: PEOPLE.admin, changedAt: 0 });
      const before = world.service.requests.all.length;
      const value = { account: ACCOUNT, project: 'storefront' };
      await sendClick(world, 'test:again', value, { user: { id: WHO } });
      await reads(world, sentence);
      expect(world.service.requests.all.length).toBe(before);
      for (const role of ['member', 'operator', 'billing', 'admin'] as const)
        expect(await roles.holds(WHO, role), role).toBe(false);
    },
  );
});

describe('guests', () => {
  test.override({ connected: true });

  test('guests of a single channel type commands once an admin ticks the box, and not after', async ({
    world,
  }) => {
    admit(world, { guest: 'single' });
    const guest = world.slack.as(TEAM, WHO);
    const tick = async (guests: string[]): Promise<string> => {
      await openForm(world, 'roles');
      return answerTo(world, 'admin', () =>
        world.as('admin').submit('roles', { admin: [PEOPLE.admin], operator: [], billing: [], guests }),
      );
    };
    await guest.command(CHANNEL, '/deckhand projects');
    await reads(world, 'to allow guests with `/deckhand roles`');
    expect(world.service.requests.all.some(({ path }) => path.includes('/servers'))).toBe(false);

    expect(await tick(['single'])).toContain('Single-channel guests: allowed');
    await guest.command(CHANNEL, '/deckhand projects');
    await reads(world, 'Storefront');
    const { roles, audit } = world.app.workspaces.open(TEAM);
    expect((await audit.latest(1))[0]?.entry.target).toContain('+guests');
    await openForm(world, 'roles');
    expect(JSON.stringify(world.as('admin').openView()?.content.blocks)).toContain(
      '"initial_options":[{"text"',
    );

    expect(await tick([])).not.toContain('guests');
    expect((await audit.latest(1))[0]?.entry.target).toContain('-guests');
    expect(await roles.holds(WHO, 'member')).toBe(false);
  });

  test('guests of several channels are members, as people of the organisation are', async ({ world }) => {
    admit(world, { guest: 'multi' });
    await world.slack.as(TEAM, WHO).command(CHANNEL, '/deckhand projects');
    await reads(world, 'Storefront');
    const enterprise = { id: 'E0HOUSE', name: 'House Group' };
    world.slack.workspace(TEAM).enterprise = enterprise;
    const sister = { id: 'T0SISTER', name: 'Sister', installed: false, enterprise };
    const users = [{ id: 'U0PIA', name: 'pia' }];
    world.slack.addWorkspace({ ...sister, users, channels: [{ id: 'C0LOUNGE', name: 'lounge' }] });
    world.slack.shareChannel(TEAM, CHANNEL, 'T0SISTER');
    expect(await world.app.workspaces.open(TEAM).roles.excluded('U0PIA')).toBeUndefined();
  });

  test('guests see no figures on App Home, only why', async ({ world }) => {
    admit(world, { guest: 'single' });
    const before = world.service.requests.all.length;
    await world.slack.as(TEAM, WHO).openHome();
    const home = () => JSON.stringify(world.slack.home(TEAM, WHO)?.content.blocks ?? []);
    await world.slack.until(() => home().includes('Single-channel guests cannot use Deckhand'));
    expect(home()).not.toContain(ACCOUNT);
    expect(world.service.requests.all.length).toBe(before);
  });
});

describe('who it is', () => {
  test.override({ connected: true });

  test('who it is cannot be said: everyone is asked to try again, and nothing is done', async ({ world }) => {
    const before = world.service.requests.all.length;
    world.slack.fault({ method: 'users.info', error: 'internal_error' });
    expect(await ask(world, '/deckhand projects')).toMatch(/cannot tell Deckhand who you are.*Try again/);
    expect(world.service.requests.all.length).toBe(before);
    world.slack.clearFaults();
    expect(await ask(world, '/deckhand projects')).toContain('Storefront');
  });

  test('who it is Slack does not know: somebody of elsewhere', async ({ world }) => {
    world.slack.fault({ method: 'users.info', error: 'user_not_visible' });
    expect(await ask(world, '/deckhand projects')).toContain('Only people of the workspace that installed');
  });

  test('who it is is asked once for several requests of a person', async ({ world }) => {
    const asks = () =>
      world.slack.calls.filter(({ method, args }) => method === 'users.info' && args.user === PEOPLE.member);
    for (const _ of [1, 2, 3]) await ask(world, '/deckhand help');
    expect(asks()).toHaveLength(1);
  });
});
