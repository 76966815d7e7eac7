import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
import { CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

describe('roles', () => {
  let house: TestWorld;
  beforeEach(async () => {
    house = await openTestWorld();
    await house.connect();
  });
  afterEach(() => house.stop());

  async function open(who: keyof typeof PEOPLE = 'admin'): Promise<void> {
    await house.as(who).command(CHANNEL, '/deckhand roles');
    await house.slack.until(() => house.as(who).openView()?.content.callback_id === 'roles');
  }

  async function set(values: Record<string, string[]>, who: keyof typeof PEOPLE = 'admin'): Promise<string> {
    await open(who);
    return answerTo(house, who, () => house.as(who).submit('roles', values));
  }

  it('are for admins alone, and begin with whoever opens the form', async () => {
    expect(await ask(house, '/deckhand roles')).toContain('needs the role *admin*');
    await open();
    const [, admin] = house.as('admin').openView()?.content.blocks ?? [];
    expect(admin).toMatchObject({
      block_id: 'admin',
      element: { type: 'multi_users_select', action_id: 'admin', initial_users: [PEOPLE.admin] },
    });
  });

  it('are held from the moment they are set, and lost from the moment they are taken', async () => {
    expect(await ask(house, '/deckhand use storefront')).toContain('needs the role *operator*');
    const said = await set({ admin: [PEOPLE.admin], operator: [PEOPLE.member], billing: [PEOPLE.billing] });
    expect(said).toContain(`<@${PEOPLE.member}>`);
    await house.as('member').command(CHANNEL, '/deckhand use storefront');
    await house.slack.until(() => house.slack.messages(TEAM, CHANNEL).length === 1);
    expect(await ask(house, '/deckhand invoices', 'billing')).toContain('Invoices need');
    expect(await ask(house, '/deckhand whoami', 'billing')).toContain('billing');

    await set({ admin: [PEOPLE.admin], operator: [], billing: [] });

    const refusal = await ask(house, '/deckhand use none');
    expect(refusal).toContain('needs the role *operator*');
    expect(refusal).toContain(`Ask <@${PEOPLE.admin}>`);
    expect(await ask(house, '/deckhand invoices', 'billing')).toContain('needs the role *billing*');
  });

  it('take what Slack’s admins could do, once they are set', async () => {
    await set({ admin: [PEOPLE.member], operator: [], billing: [] });
    expect(await ask(house, '/deckhand roles', 'admin')).toContain(`Ask <@${PEOPLE.member}>`);
    await open('member');
  });

  it('are taken on the form and the button too, which were opened before', async () => {
    await set({ admin: [PEOPLE.admin, PEOPLE.member], operator: [], billing: [] });
    await open('member');
    await ask(house, '/deckhand disconnect acme', 'member');
    const card = house.slack.ephemerals(TEAM, PEOPLE.member).at(-1)?.ts ?? '';
    await set({ admin: [PEOPLE.admin], operator: [], billing: [] });
    const form = await house.as('member').submit('roles', { admin: [PEOPLE.member] });
    expect(form.body).toContain('needs the role *admin*');
    const pressed = await answerTo(house, 'member', () =>
      house.as('member').click({ channel: CHANNEL, ts: card }, { actionId: 'disconnect:confirm' }),
    );
    expect(pressed).toContain('needs the role *admin*');
    expect(await ask(house, '/deckhand accounts')).toContain('acme');
  });

  it.each([
    ['nobody', []],
    ['somebody who has left', [PEOPLE.billing]],
  ])('cannot be given to %s alone', async (_, admin) => {
    house.slack.changePerson(TEAM, PEOPLE.billing, { deleted: true });
    await open();
    const answer = await house.as('admin').submit('roles', { admin, operator: [], billing: [] });
    expect(JSON.stringify(answer)).toMatch(/at least one person|required/i);
    expect(await house.app.workspaces.open(TEAM).roles.grants()).toBeUndefined();
  });

  it('come back to Slack’s admins when everybody who was named has left', async () => {
    await set({ admin: [PEOPLE.member], operator: [], billing: [] });
    house.slack.changePerson(TEAM, PEOPLE.member, { deleted: true });
    await open();
  });

  it('are refused all the same while Slack cannot say who somebody is', async () => {
    await set({ admin: [PEOPLE.admin], operator: [], billing: [] });
    house.slack.fault({ method: 'users.info', status: 503 });
    expect(await ask(house, '/deckhand roles')).toContain(`Ask <@${PEOPLE.admin}>`);
  });

  it('are written down with what changed', async () => {
    await set({ admin: [PEOPLE.admin], operator: [PEOPLE.member], billing: [] });
    const [latest] = await house.app.workspaces.open(TEAM).audit.latest(1);
    expect(latest?.entry).toMatchObject({
      who: PEOPLE.admin,
      what: 'roles',
      where: CHANNEL,
      target: `+admin ${PEOPLE.admin}, +operator ${PEOPLE.member}`,
      result: 'done',
    });
  });

  it('restrict what may run in a channel, for everybody, buttons too', async () => {
    await ask(house, '/deckhand activity', 'admin');
    const card = house.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
    const said = await set({ admin: [PEOPLE.admin], commands: ['test', 'projects'] });
    expect(said).toContain('In this channel: `test`, `projects`');
    for (const who of ['admin', 'member'] as const) {
      const refusal = await ask(house, '/deckhand activity', who);
      expect(refusal).toContain('`activity` is switched off in this channel');
      expect(refusal).toContain(`<@${PEOPLE.admin}>`);
    }
    const pressed = await answerTo(house, 'admin', () =>
      house.as('admin').click({ channel: CHANNEL, ts: card }, { actionId: 'activity:share' }),
    );
    expect(pressed).toContain('switched off');
    expect(await ask(house, '/deckhand projects')).toContain('Storefront');
    expect(await ask(house, '/deckhand help')).toContain('What Deckhand can do');
    await house.as('admin').command('billing', '/deckhand activity');
    await house.slack.until(() => house.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.channel === 'C0BILLING');
    expect(await set({ admin: [PEOPLE.admin], commands: [] })).toContain('every command');
    expect(await ask(house, '/deckhand activity')).not.toContain('switched off');
  });
});

describe('user groups', () => {
  let house: TestWorld;
  beforeEach(async () => {
    house = await openTestWorld({
      slackApp: { botScopes: ['commands', 'chat:write', 'im:write', 'users:read', 'usergroups:read'] },
    });
    const group = { id: 'S0OPS', name: 'Ops', handle: 'ops', users: [PEOPLE.member] };
    house.slack.workspace(TEAM).userGroups.set(group.id, group);
    await house.connect();
  });
  afterEach(() => house.stop());

  it('hold a role for their members, and a refusal names them', async () => {
    await house.as('admin').command(CHANNEL, '/deckhand roles');
    await house.slack.until(() => house.as('admin').openView()?.content.callback_id === 'roles');
    const said = await answerTo(house, 'admin', () =>
      house.as('admin').submit('roles', { admin: [PEOPLE.admin], operator_groups: ['S0OPS'] }),
    );
    expect(said).toContain('<!subteam^S0OPS>');
    await house.as('member').command(CHANNEL, '/deckhand use storefront');
    await house.slack.until(() => house.slack.messages(TEAM, CHANNEL).length === 1);
    expect(await ask(house, '/deckhand use none', 'billing')).toContain('Ask <!subteam^S0OPS>');
  });

  it('give nothing once Slack does not let us read them', async () => {
    const { roles } = house.app.workspaces.open(TEAM);
    const groups = { admin: [], operator: ['S0OPS'], billing: [] };
    await roles.set({ admin: [PEOPLE.admin], operator: [], billing: [], groups, setBy: 'U', setAt: 0 });
    house.slack.fault({ method: 'usergroups.users.list', error: 'missing_scope' });
    expect(await roles.holds(PEOPLE.member, 'operator')).toBe(false);
    house.slack.clearFaults();
    expect(await roles.holds(PEOPLE.member, 'operator')).toBe(true);
  });
});
