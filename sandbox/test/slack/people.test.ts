import { describe, expect, it } from 'vitest';
import { ACME, errorOf, lastSent, startSetting } from './setting.ts';

const botScopes = [
  'commands',
  'chat:write',
  'im:write',
  'users:read',
  'users:read.email',
  'app_mentions:read',
];

async function withPeople(app = {}) {
  const users = [
    ...ACME.users,
    { id: 'U0GUEST', name: 'gus', guest: 'multi' as const },
    { id: 'U0SINGLE', name: 'sam', guest: 'single' as const },
    { id: 'U0GONE', name: 'gil', deleted: true, tz: 'Asia/Tokyo' },
    { id: 'U0ROBOT', name: 'robot', is_bot: true },
    { id: 'U0PARTNER', name: 'pia', team_id: 'T0PARTNER', is_admin: true, email: 'pia@partner.example' },
    { id: 'U0STRANGE', name: 'stu', stranger: true },
  ];
  const setting = await startSetting({ app: { botScopes, ...app } }, { users });
  const info = async (user: string) => (await setting.client.users.info({ user })).user;
  return { ...setting, info };
}

describe('users.info', () => {
  it.each([
    ['an admin', 'U0ANNA', { is_admin: true, is_restricted: false, is_bot: false, tz: 'Europe/Lisbon' }],
    ['a member', 'U0MAX', { is_admin: false, is_restricted: false, is_ultra_restricted: false }],
    ['a guest of several channels', 'U0GUEST', { is_restricted: true, is_ultra_restricted: false }],
    ['a guest of one channel', 'U0SINGLE', { is_restricted: true, is_ultra_restricted: true }],
    ['a bot', 'U0ROBOT', { is_bot: true }],
    ['somebody of another company', 'U0PARTNER', { team_id: 'T0PARTNER', is_stranger: false }],
    ['a stranger', 'U0STRANGE', { team_id: 'T0ELSEWHERE', is_stranger: true }],
    ['a deactivated person', 'U0GONE', { deleted: true, team_id: 'T0ACME' }],
  ])('knows %s', async (_what, user, expected) => {
    const { info } = await withPeople();
    expect(await info(user)).toMatchObject(expected);
  });

  it('says nothing of the standing and address of other companies, nor of the zone of the deactivated', async () => {
    const { slack, client, info } = await withPeople();
    const partner = await info('U0PARTNER');
    expect(partner).not.toHaveProperty('is_admin');
    expect(partner?.profile).not.toHaveProperty('email');
    for (const channel of ['deploys', 'other', 'old']) slack.kick('T0ACME', channel, 'U0PARTNER');
    // The private channel that is left has no bot in it.
    expect(await info('U0PARTNER')).toMatchObject({ is_stranger: true });
    expect(await info('U0GONE')).not.toHaveProperty('tz');
    expect(await errorOf(client.conversations.open({ users: 'U0GONE' }))).toBe('user_disabled');
    expect(() => slack.as('T0ACME', 'U0GONE')).toThrow('deactivated');
  });

  it('names the workspaces of a person of an organisation, and gives no address without its scope', async () => {
    const enterprise = { id: 'E0ORG', name: 'Acme Group' };
    const { slack, client } = await startSetting({}, { enterprise });
    slack.addWorkspace({ id: 'T0TWO', enterprise, users: [{ id: 'U0ANNA' }], channels: [] });
    const { user } = await client.users.info({ user: 'U0ANNA' });
    const enterprise_user = { id: 'U0ANNA', enterprise_id: 'E0ORG', teams: ['T0ACME', 'T0TWO'] };
    expect(user).toMatchObject({ team_id: 'T0ACME', enterprise_user });
    expect(user?.profile).not.toHaveProperty('email');
    slack.changePerson('T0ACME', 'U0ANNA', { is_admin: false });
    expect((await client.users.info({ user: 'U0ANNA' })).user?.is_admin).toBe(false);
  });
});

it('people come in pages', async () => {
  const { client } = await startSetting();
  const seen: unknown[] = [];
  for await (const page of client.paginate('users.list', { limit: 1 }))
    seen.push(...(page as unknown as { members: unknown[] }).members);
  expect(seen).toHaveLength(3);
  expect(await errorOf(client.users.list({ cursor: 'bogus' }))).toBe('invalid_cursor');
});

it('people stand in user groups', async () => {
  const userGroups = [{ id: 'S0OPS', handle: 'ops', name: 'Operators', users: ['U0ANNA'] }];
  const { client } = await startSetting({ app: { botScopes: ['usergroups:read'] } }, { userGroups });
  const { usergroups } = await client.usergroups.list({ include_users: true });
  expect(usergroups).toMatchObject([{ id: 'S0OPS', handle: 'ops', users: ['U0ANNA'] }]);
  expect((await client.usergroups.users.list({ usergroup: 'S0OPS' })).users).toEqual(['U0ANNA']);
  expect(await errorOf(client.usergroups.users.list({ usergroup: 'S0NONE' }))).toBe('no_such_subteam');
});

it('guests of one channel are in the first channel only', async () => {
  const { slack } = await withPeople();
  const channels = [...slack.workspace('T0ACME').channels.values()];
  const isIn = (user: string) => channels.filter(({ members }) => members.has(user)).map(({ name }) => name);
  expect(isIn('U0SINGLE')).toEqual(['deploys']);
  expect(isIn('U0GUEST')).toEqual(['deploys', 'other', 'secret', 'old']);
});

it('people who come and change are told to an app that may read them, and to no other', async () => {
  const { slack, app } = await withPeople();
  slack.addPerson('T0ACME', { id: 'U0NEW', name: 'nia', guest: 'single' });
  await slack.until(() => app.received.length === 1);
  const user = { id: 'U0NEW', is_ultra_restricted: true, team_id: 'T0ACME' };
  expect(lastSent({ app })).toMatchObject({ type: 'team_join', user });
  slack.changePerson('T0ACME', 'U0MAX', { deleted: true });
  await slack.until(() => app.received.length === 2);
  expect(lastSent({ app })).toMatchObject({ type: 'user_change', user: { id: 'U0MAX', deleted: true } });
  const blind = await startSetting({ app: { botScopes: ['commands'] } });
  blind.slack.addPerson('T0ACME', { id: 'U0NEW' });
  blind.slack.archiveChannel('T0ACME', 'deploys');
  await blind.slack.until(() => blind.app.received.length === 1);
  expect(lastSent(blind).type).toBe('channel_archive');
});

it.each([
  ['a < b & c > d', 'a &lt; b &amp; c &gt; d'],
  ['@max, see #deploys.', '<@U0MAX>, see <#C0DEPLOY|deploys>.'],
  ['mail max@max.example, @nobody, #max', 'mail max@max.example, @nobody, #max'],
  ['<@U0MAX>', '&lt;@U0MAX&gt;'],
  ['(see https://a.example/?b=1&c=#2).', '(see <https://a.example/?b=1&amp;c=#2>).'],
])('%s is sent as %s', async (typed, sent) => {
  const { anna } = await startSetting();
  expect(await anna.postMessage('deploys', typed)).toMatchObject({ text: sent });
});

it('mentions are told to the app where it is in the channel, if it has the scope', async () => {
  const { slack, app, bot, anna } = await withPeople({ botName: 'deckhand' });
  await anna.postMessage('other', '@deckhand projects');
  const { ts } = await anna.postMessage('deploys', '@deckhand test storefront', '1.2');
  await slack.until(() => app.received.length === 1);
  expect(lastSent({ app })).toMatchObject({
    ...{ type: 'app_mention', user: 'U0ANNA', text: `<@${bot}> test storefront` },
    ...{ ts, thread_ts: '1.2', channel: 'C0DEPLOY', team: 'T0ACME' },
  });
  expect(lastSent({ app })).not.toHaveProperty('user_team');
  const deaf = await startSetting();
  await deaf.anna.postMessage('deploys', '@deckhand help');
  deaf.slack.archiveChannel('T0ACME', 'other');
  await deaf.slack.until(() => deaf.app.received.length === 1);
  expect(lastSent(deaf).type).toBe('channel_archive');
});
