import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { jobsToEnd } from '../../support/jobs-to-end.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

describe('"Ask for access" on a refusal', () => {
  test.override({ connected: true });

  const rolesOf = (world: TestWorld) => world.app.workspaces.open(TEAM).roles;
  const name = (world: TestWorld, admin: string[]) =>
    rolesOf(world).set({ admin, operator: [], billing: [], changedBy: PEOPLE.admin, changedAt: 0 });
  const dms = (world: TestWorld, who: keyof typeof PEOPLE) => world.slack.dms(TEAM, PEOPLE[who]);
  const told = (world: TestWorld, who: keyof typeof PEOPLE, words: string) =>
    world.slack.until(() => dms(world, who).some(({ text }) => text.includes(words)), { what: words });
  const asks = (world: TestWorld) =>
    dms(world, 'admin').filter(({ text }) => text.includes('asks for the role'));

  /** Clicks the button on the refusal that the person was just shown. */
  async function askFor(world: TestWorld, line: string): Promise<void> {
    expect(await ask(world, line)).toContain('Ask for access');
    const refusal = world.slack
      .ephemerals(TEAM, PEOPLE.member)
      .findLast(({ blocks }) => JSON.stringify(blocks).includes('access:ask'));
    await world.as('member').click({ channel: CHANNEL, ts: refusal?.ts ?? '' }, { actionId: 'access:ask' });
  }

  /** Waits until nothing that people asked for goes on. */
  const idle = (world: TestWorld) => jobsToEnd(world, ['requests']);

  /** Clicks a button of the question, once Deckhand has asked all. */
  async function answer(world: TestWorld, actionId: string, who: 'admin' | 'billing' = 'admin') {
    await idle(world);
    const { channel = '', ts = '' } = dms(world, who).at(-1) ?? {};
    await world.as(who).click({ channel, ts }, { actionId });
  }

  const audited = async (world: TestWorld) =>
    (await world.app.workspaces.open(TEAM).audit.latest(20)).map(({ entry }) => [entry.what, entry.target]);

  test('asks an admin, who allows it: the role holds at once, and both are told, if Slack reaches them', async ({
    world,
  }) => {
    await askFor(world, '/deckhand use storefront');
    await told(
      world,
      'admin',
      'asks for the role operator, to use use. With it they can change things at the service',
    );
    await answer(world, 'access:allow');
    await told(world, 'member', 'gave you the role operator');
    await told(world, 'admin', 'gave <@U0BEN> the role operator. They can change things');
    await world.as('member').command(CHANNEL, '/deckhand use storefront');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length === 1);
    await expect.poll(() => audited(world)).toContainEqual(['access ask', 'operator']);
    await expect.poll(() => audited(world)).toContainEqual(['access allow', '+operator U0BEN']);
    await askFor(world, '/deckhand audit');
    await told(world, 'admin', 'asks for the role admin');
    world.slack.fault({ method: 'conversations.open', error: 'user_disabled' });
    await answer(world, 'access:allow');
    await told(world, 'admin', 'gave <@U0BEN> the role admin');
    // The admin who names the first one stays one.
    expect((await rolesOf(world).grants())?.admin).toEqual([PEOPLE.admin, PEOPLE.member]);
  });

  test('on a form is asked in the form, whose fields stay', async ({ world }) => {
    const ben = world.as('member');
    await rolesOf(world).give(PEOPLE.member, 'operator', PEOPLE.admin);
    await ben.command(CHANNEL, '/deckhand digest add');
    await world.slack.until(() => ben.openView()?.content.callback_id === 'digest.add');
    await name(world, [PEOPLE.admin]);
    await ben.submit('digest.add', {});
    const shown = () => JSON.stringify(ben.openView()?.content.blocks ?? []);
    await world.slack.until(() => shown().includes('access:ask'), { what: 'the button' });
    await ben.click({ viewId: ben.openView()?.id ?? '' }, { actionId: 'access:ask' });
    await world.slack.until(() => shown().includes('Asked <@U0ANN>'), { what: 'the answer in the form' });
    expect(shown()).not.toContain('access:ask');
    expect(shown()).toContain('"cadence"');
    await told(world, 'admin', 'asks for the role operator');
    expect(dms(world, 'member')).toEqual([]);
  });

  test('is refused by an admin, and can then be asked again tomorrow only', async ({ world }) => {
    await askFor(world, '/deckhand use storefront');
    await told(world, 'admin', 'asks for the role');
    await answer(world, 'access:deny');
    await told(world, 'member', 'did not give you the role');
    await askFor(world, '/deckhand use none');
    await world.slack.until(() =>
      world.slack.ephemerals(TEAM, PEOPLE.member).some(({ text }) => text.includes('already today')),
    );
    await world.slack.until(() => asks(world).length === 0, { what: 'the end of the question' });
    expect(await rolesOf(world).holds(PEOPLE.member, 'operator')).toBe(false);
    await expect.poll(() => audited(world)).toContainEqual(['access deny', 'not operator U0BEN']);
  });

  test('takes the first of two answers', async ({ world }) => {
    await name(world, [PEOPLE.admin, PEOPLE.billing]);
    await askFor(world, '/deckhand use storefront');
    await told(world, 'admin', 'asks for the role');
    await told(world, 'billing', 'asks for the role');
    await Promise.all([answer(world, 'access:deny'), answer(world, 'access:allow', 'billing')]);
    await world.slack.until(() => !dms(world, 'billing').at(-1)?.text.includes('asks for the role'));
    await world.slack.until(() => !dms(world, 'admin').at(-1)?.text.includes('asks for the role'));
    const answers = dms(world, 'member').filter(
      ({ text }) => text.includes('give you') || text.includes('gave you'),
    );
    expect(answers).toHaveLength(1);
    const isAllowed = answers[0]?.text.includes('gave you') === true;
    expect(await rolesOf(world).holds(PEOPLE.member, 'operator')).toBe(isAllowed);
  });

  test.for(['access:deny', 'access:allow'])(
    'says nothing untrue by %s after `roles` gave the role, and can be asked again once it is lost',
    async (actionId, { world }) => {
      await name(world, [PEOPLE.admin, PEOPLE.billing]);
      await askFor(world, '/deckhand use storefront');
      await told(world, 'billing', 'asks for the role');
      const grants = { admin: [PEOPLE.admin, PEOPLE.billing], billing: [], changedBy: PEOPLE.admin };
      await rolesOf(world).set({ ...grants, operator: [PEOPLE.member], changedAt: 0 });
      await answer(world, actionId);
      await told(world, 'billing', 'holds the role operator already');
      await told(world, 'admin', 'holds the role operator already');
      const words = dms(world, 'member').map(({ text }) => text);
      expect(words).toEqual(actionId === 'access:deny' ? [] : [expect.stringContaining('You hold the role')]);
      expect(await rolesOf(world).holds(PEOPLE.member, 'operator')).toBe(true);
      await idle(world);
      await name(world, [PEOPLE.admin]);
      await askFor(world, '/deckhand use storefront');
      await told(world, 'admin', 'asks for the role');
    },
  );

  test('a second answer says what became of the role', async ({ world }) => {
    await askFor(world, '/deckhand use storefront');
    await told(world, 'admin', 'asks for the role');
    const { channel = '', ts = '' } = dms(world, 'admin').at(-1) ?? {};
    // Slack did not show the first answer.
    world.slack.fault({ method: 'chat.update', error: 'internal_error', times: 9 });
    await answer(world, 'access:allow');
    await told(world, 'member', 'gave you the role operator');
    await idle(world);
    world.slack.clearFaults();
    await name(world, [PEOPLE.admin]);
    await world.as('admin').click({ channel, ts }, { actionId: 'access:allow' });
    await told(world, 'admin', 'Somebody took it away since');
    expect(await rolesOf(world).holds(PEOPLE.member, 'operator')).toBe(false);
    await expect.poll(async () => (await audited(world))[0]).toEqual(['access allow', '+operator U0BEN']);
    await askFor(world, '/deckhand use storefront');
    await world.slack.until(() =>
      world.slack.ephemerals(TEAM, PEOPLE.member).some(({ text }) => text.includes('took it away since')),
    );
  });

  test('gives nothing to somebody who has left in the meantime', async ({ world }) => {
    await askFor(world, '/deckhand use storefront');
    await told(world, 'admin', 'asks for the role');
    world.slack.changePerson(TEAM, PEOPLE.member, { deleted: true });
    await answer(world, 'access:allow');
    await world.slack.until(() => asks(world).length === 0);
    expect((await rolesOf(world).grants())?.operator ?? []).not.toContain(PEOPLE.member);
  });

  test('finds an admin whom Slack lists after hundreds of people, with one look however many are refused', async ({
    world,
  }) => {
    world.slack.changePerson(TEAM, PEOPLE.admin, { is_admin: false });
    for (let at = 0; at < 450; at += 1) world.slack.addPerson(TEAM, { id: `U0P${at}` });
    world.slack.addPerson(TEAM, { id: 'U0LATE', is_owner: true });
    const refusals = () =>
      world.slack
        .ephemerals(TEAM, PEOPLE.member)
        .filter(({ text }) => text.includes('<@U0LATE> can give you'));
    const line = '/deckhand use storefront';
    await Promise.all(Array.from({ length: 5 }, () => world.as('member').command(CHANNEL, line)));
    await world.slack.until(() => refusals().length === 5);
    expect(world.slack.calls.filter(({ method }) => method === 'users.list')).toHaveLength(3);
    await askFor(world, line);
    const asked = () =>
      world.slack.dms(TEAM, 'U0LATE').some(({ text }) => text.includes('asks for the role'));
    await world.slack.until(asked, { what: 'the question to the owner' });
  });

  test('asks three admins whom Slack reaches and who may use Deckhand, once a day, and nobody for a role that is held by now', async ({
    world,
  }) => {
    const many = ['U0A1', 'U0A2', 'U0A3', 'U0A4', 'U0A5'];
    for (const id of many) world.slack.addPerson(TEAM, { id });
    world.slack.addPerson(TEAM, { id: 'U0GUEST', guest: 'single' });
    await name(world, ['U0GUEST', ...many]);
    world.slack.fault({ method: 'conversations.open', error: 'user_disabled', times: 1 });
    expect(await ask(world, '/deckhand use none')).not.toContain('U0GUEST');
    const asked = () =>
      many
        .flatMap((id) => world.slack.dms(TEAM, id))
        .filter(({ text }) => text.includes('asks for the role'));
    const answered = (words: string) =>
      world.slack.until(() => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.member)).includes(words));
    await askFor(world, '/deckhand use storefront');
    await answered('Asked <@U0A2>, <@U0A3>, <@U0A4> for the role');
    await askFor(world, '/deckhand guard add');
    await answered('already today');
    expect(await ask(world, '/deckhand audit')).toContain('Ask for access');
    const refusal = world.slack.ephemerals(TEAM, PEOPLE.member).at(-1);
    await rolesOf(world).give(PEOPLE.member, 'admin', 'U0A1');
    await world.as('member').click({ channel: CHANNEL, ts: refusal?.ts ?? '' }, { actionId: 'access:ask' });
    await answered('You hold the role admin now');
    expect(asked()).toHaveLength(3);
  });

  test('says so where there is no admin to be asked', async ({ world }) => {
    world.slack.changePerson(TEAM, PEOPLE.admin, { is_admin: false });
    await askFor(world, '/deckhand use storefront');
    await world.slack.until(() =>
      JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.member)).includes('No admin could be asked'),
    );
    expect(asks(world)).toHaveLength(0);
  });
});
