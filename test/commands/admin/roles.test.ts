import { describe, expect } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

describe('roles', () => {
  test.override({ connected: true });

  async function open(world: TestWorld, who: keyof typeof PEOPLE = 'admin'): Promise<void> {
    await world.as(who).command(CHANNEL, '/deckhand roles');
    await world.slack.until(() => world.as(who).openView()?.content.callback_id === 'roles');
  }

  async function set(
    world: TestWorld,
    values: Record<string, string[]>,
    who: keyof typeof PEOPLE = 'admin',
  ): Promise<string> {
    await open(world, who);
    return answerTo(world, who, () => world.as(who).submit('roles', values));
  }

  test('roles are held from the moment they are set, and lost from the moment they are taken', async ({
    world,
  }) => {
    expect(await ask(world, '/deckhand use storefront')).toContain('Only operators can use');
    const said = await set(world, {
      admin: [PEOPLE.admin],
      operator: [PEOPLE.member],
      billing: [PEOPLE.billing],
    });
    expect(said).toContain(`<@${PEOPLE.member}>`);
    const [written] = await world.app.workspaces.open(TEAM).audit.latest(1);
    expect(written?.entry).toMatchObject({
      requestedBy: PEOPLE.admin,
      what: 'roles',
      where: CHANNEL,
      target: `+admin ${PEOPLE.admin}, +operator ${PEOPLE.member}, +billing ${PEOPLE.billing}`,
      result: 'done',
    });
    await world.as('member').command(CHANNEL, '/deckhand use storefront');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length === 1);
    expect(await ask(world, '/deckhand invoices', 'billing')).toContain(
      'refused the invoices of the account',
    );

    await set(world, { admin: [PEOPLE.admin], operator: [], billing: [] });

    const refusal = await ask(world, '/deckhand use none');
    expect(refusal).toContain('Only operators can use');
    expect(refusal).toContain(`<@${PEOPLE.admin}> can give you access`);
    expect(await ask(world, '/deckhand invoices', 'billing')).toContain(
      'Only people with the billing role can see invoices',
    );
  });

  test('roles open with the admins there are, and ask before none of the workspace’s own is left', async ({
    world,
  }) => {
    const shown = () => JSON.stringify(world.as('admin').openView()?.content.blocks);
    world.slack.addPerson(TEAM, { id: 'U0OWNER', is_owner: true });
    // A role that was given before anybody was named admin.
    await world.app.workspaces.open(TEAM).roles.give(PEOPLE.billing, 'operator', PEOPLE.admin);
    await open(world);
    expect(shown()).toContain(JSON.stringify([PEOPLE.admin, 'U0OWNER']));
    expect(world.slack.calls.filter(({ method }) => method === 'usergroups.list')).toEqual([]);
    expect(shown()).not.toContain('usergroups:read');
    const values = { admin: [PEOPLE.member], operator: [], billing: [] };
    await world.as('admin').submit('roles', values);
    expect(shown()).toContain('No admin or owner of this Slack workspace');
    expect(await ask(world, '/deckhand audit', 'admin')).toContain('Who did what');
    await answerTo(world, 'admin', () => world.as('admin').submit('roles', values));
    expect(await ask(world, '/deckhand roles', 'admin')).toContain(`<@${PEOPLE.member}> can give you access`);
    await open(world, 'member');
    await world.as('member').submit('roles', { ...values, admin: [PEOPLE.member, 'U0OWNER'] });
    await expect
      .poll(async () => (await world.app.workspaces.open(TEAM).roles.grants())?.admin)
      .toEqual([PEOPLE.member, 'U0OWNER']);
  });

  test.for([
    ['nobody', []],
    ['somebody who has left', [PEOPLE.billing]],
  ] as const)('roles cannot be given to %s alone', async ([_, admin], { world }) => {
    world.slack.changePerson(TEAM, PEOPLE.billing, { deleted: true });
    await open(world);
    const answer = await world.as('admin').submit('roles', { admin, operator: [], billing: [] });
    expect(JSON.stringify(answer)).toMatch(/at least one person|required/i);
    // Until roles are given, Slack's own admins have the way in.
    await world.as('admin').submit('roles', { admin: [PEOPLE.member], operator: [], billing: [] });
    expect(JSON.stringify(world.as('admin').openView()?.content.blocks)).toContain('No admin or owner');
    const { roles } = world.app.workspaces.open(TEAM);
    expect(await roles.grants()).toBeUndefined();
    // After everybody who was named has left, Slack's own admins hold all roles again.
    const holders = { operator: [], billing: [], changedBy: PEOPLE.admin, changedAt: 0 };
    await roles.set({ ...holders, admin: [PEOPLE.billing] });
    expect(await roles.holds(PEOPLE.admin, 'admin')).toBe(true);
  });

  test('a form that was opened before another admin’s change takes nothing back, and asks about what both changed', async ({
    world,
  }) => {
    const { roles, channels } = world.app.workspaces.open(TEAM);
    const both = [PEOPLE.admin, PEOPLE.member];
    const commands = async () => (await channels.get(CHANNEL)).commands;
    await set(world, { admin: [...both, PEOPLE.billing], operator: [], billing: [] });
    const ben = world.as('member');
    const save = (values?: Record<string, string[]>) =>
      answerTo(world, 'member', () => ben.submit('roles', values));

    // Ben changes another field.
    await open(world, 'member');
    await set(world, { admin: both, operator: [PEOPLE.billing], commands: ['test', 'activity'] });
    expect(await save({ billing: [PEOPLE.member] })).toContain('The roles are set');
    expect(await roles.grants()).toMatchObject({
      admin: both,
      operator: [PEOPLE.billing],
      billing: [PEOPLE.member],
    });
    expect(await commands()).toEqual(['test', 'activity']);

    // Ben changes the same fields, and saves the question that comes back as it is.
    await open(world, 'member');
    await set(world, { operator: [PEOPLE.admin, PEOPLE.billing], commands: ['test'] });
    const asked = await ben.submit('roles', { operator: [], commands: ['projects'], billing: [] });
    expect(asked.body).toContain(`<@${PEOPLE.admin}> changed this while the form was open`);
    expect(asked.body).toContain('You chose: projects');
    expect(ben.openView()?.content.blocks.map(({ block_id: id }) => id)).toContain('operator:1');
    expect(await roles.grants()).toMatchObject({ billing: [PEOPLE.member] });
    await save();
    expect(await roles.grants()).toMatchObject({
      operator: [PEOPLE.admin, PEOPLE.billing],
      billing: [],
      changedBy: PEOPLE.member,
    });
    expect(await commands()).toEqual(['test']);

    // A role that "Allow" gave, and commands that a file restricted, are not taken back either.
    await open(world, 'member');
    await roles.give(PEOPLE.member, 'operator', PEOPLE.admin);
    await channels.change(CHANNEL, () => ({ commands: ['activity'] }));
    await save({ billing: [PEOPLE.billing] });
    expect((await roles.grants())?.operator).toContain(PEOPLE.member);
    expect(await commands()).toEqual(['activity']);
  });

  test('the question about the last way in shows what others have changed, and keeps what was chosen', async ({
    world,
  }) => {
    const { roles } = world.app.workspaces.open(TEAM);
    await open(world);
    await world.as('admin').submit('roles', { admin: [PEOPLE.member] });
    const shown = () => world.as('admin').openView()?.values;
    expect(shown()).toMatchObject({ 'admin:1': { admin: { selected_users: [PEOPLE.member] } } });
    await roles.give(PEOPLE.billing, 'operator', PEOPLE.admin);
    await world.as('admin').submit('roles');
    expect(shown()).toMatchObject({
      'admin:2': { admin: { selected_users: [PEOPLE.member] } },
      'operator:2': { operator: { selected_users: [PEOPLE.billing] } },
    });
    await answerTo(world, 'admin', () => world.as('admin').submit('roles'));
    expect(await roles.grants()).toMatchObject({ admin: [PEOPLE.member], operator: [PEOPLE.billing] });
  });

  test('roles restrict what may run in a channel, but never by the name of a command that there is not', async ({
    world,
  }) => {
    const restrict = async (commands: string[]) => {
      await open(world);
      // Slack’s own clients send what the form offers; others may not.
      const options = commands.map((value) => ({ text: { type: 'plain_text', text: value }, value }));
      return answerTo(world, 'admin', () =>
        world.as('admin').submit('roles', { admin: [PEOPLE.admin], commands: options }),
      );
    };
    expect(await restrict(['shutdown', 'projects'])).toContain('In this channel: `projects`');
    const refusal = await ask(world, '/deckhand activity');
    expect(refusal).toContain('`activity` is switched off in this channel');
    expect(refusal).toContain(`<@${PEOPLE.admin}>`);
    expect(await ask(world, '/deckhand projects')).toContain('Storefront');
    expect(await restrict(['shutdown', 'help'])).toContain('In this channel: every command');
    expect(await ask(world, '/deckhand activity')).not.toContain('switched off');
  });
});

describe('user groups', () => {
  test.override({
    worldOptions: {
      slackApp: { botScopes: ['commands', 'chat:write', 'im:write', 'users:read', 'usergroups:read'] },
    },
    connected: true,
  });
  test.beforeEach(async ({ world }) => {
    const { userGroups } = world.slack.workspace(TEAM);
    userGroups.set('S0OPS', { id: 'S0OPS', name: 'Ops', handle: 'ops', users: [PEOPLE.member] });
    userGroups.set('S0PAY', { id: 'S0PAY', name: 'Pay', handle: 'pay', users: [PEOPLE.billing] });
  });

  test('user groups hold a role for their members, but not once Slack does not let us read them', async ({
    world,
  }) => {
    await world.as('admin').command(CHANNEL, '/deckhand roles');
    await world.slack.until(() => world.as('admin').openView()?.content.callback_id === 'roles');
    const said = await answerTo(world, 'admin', () =>
      world.as('admin').submit('roles', {
        admin: [PEOPLE.admin],
        operator_groups: ['S0OPS'],
        billing_groups: ['S0PAY'],
      }),
    );
    expect(said).toContain('<!subteam^S0OPS>');
    const { roles } = world.app.workspaces.open(TEAM);
    world.slack.fault({ method: 'usergroups.users.list', error: 'missing_scope' });
    expect(await roles.holds(PEOPLE.member, 'operator')).toBe(false);
    world.slack.clearFaults();
    await world.as('member').command(CHANNEL, '/deckhand use storefront');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length === 1);
    expect(await roles.holds(PEOPLE.member, 'billing')).toBe(false);
    expect(await ask(world, '/deckhand use none', 'billing')).toContain('can give you access');
  });
});
