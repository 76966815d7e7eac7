import { describe, expect, it } from 'vitest';
import { ACME, clientOf, refusalOf, startSetting } from './setting.ts';

const SCOPES = ['commands', 'chat:write', 'im:write', 'users:read', 'users:read.email', 'app_mentions:read'];

function withPeople(app = {}) {
  return startSetting(
    { app: { botScopes: SCOPES, ...app } },
    {
      users: [
        ...ACME.users,
        { id: 'U0GUEST', name: 'gus', guest: 'multi' },
        { id: 'U0SINGLE', name: 'sam', guest: 'single' },
        { id: 'U0GONE', name: 'gil', deleted: true, tz: 'Asia/Tokyo' },
        { id: 'U0ROBOT', name: 'robot', is_bot: true },
        { id: 'U0PARTNER', name: 'pia', team_id: 'T0PARTNER', is_admin: true, email: 'pia@partner.example' },
        { id: 'U0STRANGE', name: 'stu', stranger: true },
      ],
    },
  );
}

async function userOf(setting: { slack: { apiUrl: string }; token: string }, user: string) {
  const answer = await clientOf(setting.slack, setting.token).users.info({ user });
  return answer.user;
}

describe('users.info', () => {
  it('tells members, admins and both kinds of guests apart', async () => {
    const setting = await withPeople();
    const membership = async (id: string) => {
      const user = await userOf(setting, id);
      return [user?.is_admin, user?.is_restricted, user?.is_ultra_restricted];
    };
    expect(await membership('U0ANNA')).toEqual([true, false, false]);
    expect(await membership('U0MAX')).toEqual([false, false, false]);
    expect(await membership('U0GUEST')).toEqual([false, true, false]);
    expect(await membership('U0SINGLE')).toEqual([false, true, true]);
    expect((await userOf(setting, 'U0ROBOT'))?.is_bot).toBe(true);
  });

  it('says nothing of the standing of people of another company, nor their address', async () => {
    const partner = await userOf(await withPeople(), 'U0PARTNER');
    expect(partner).toMatchObject({ team_id: 'T0PARTNER', is_stranger: false });
    expect(partner).not.toHaveProperty('is_admin');
    expect(partner?.profile).not.toHaveProperty('email');
  });

  it('calls strangers only those whom the app meets in no channel', async () => {
    const setting = await withPeople();
    expect(await userOf(setting, 'U0STRANGE')).toMatchObject({ team_id: 'T0ELSEWHERE', is_stranger: true });
    for (const channel of ['deploys', 'other', 'old']) setting.slack.kick('T0ACME', channel, 'U0PARTNER');
    // The private channel that is left has no bot in it.
    expect(await userOf(setting, 'U0PARTNER')).toMatchObject({ is_stranger: true });
  });

  it('says little of the deactivated, who can be written to no more', async () => {
    const setting = await withPeople();
    const gone = await userOf(setting, 'U0GONE');
    expect(gone).toMatchObject({ deleted: true, team_id: 'T0ACME' });
    expect(gone).not.toHaveProperty('tz');
    const opened = clientOf(setting.slack, setting.token).conversations.open({ users: 'U0GONE' });
    expect((await refusalOf(opened)).error).toBe('user_disabled');
    expect(() => setting.slack.as('T0ACME', 'U0GONE')).toThrow('deactivated');
  });

  it('names the workspaces of a person of an organisation', async () => {
    const enterprise = { id: 'E0ORG', name: 'Acme Group' };
    const setting = await startSetting({}, { enterprise });
    setting.slack.addWorkspace({ id: 'T0TWO', enterprise, users: [{ id: 'U0ANNA' }], channels: [] });
    expect(await userOf(setting, 'U0ANNA')).toMatchObject({
      team_id: 'T0ACME',
      enterprise_user: { id: 'U0ANNA', enterprise_id: 'E0ORG', teams: ['T0ACME', 'T0TWO'] },
    });
  });
});

describe('guests', () => {
  it('of one channel are in the first channel only', async () => {
    const { slack } = await withPeople();
    const isIn = (user: string) =>
      [...slack.workspace('T0ACME').channels.values()]
        .filter((channel) => channel.members.has(user))
        .map((channel) => channel.name);
    expect(isIn('U0SINGLE')).toEqual(['deploys']);
    expect(isIn('U0GUEST')).toEqual(['deploys', 'other', 'secret', 'old']);
  });
});

describe('people who come and change', () => {
  it('are told to the app', async () => {
    const { slack, app } = await withPeople();
    const told = () => app.received.map(({ payload }) => payload.event);
    slack.addPerson('T0ACME', { id: 'U0NEW', name: 'nia', guest: 'single' });
    await slack.until(() => told().length === 1);
    expect(told()[0]).toMatchObject({
      type: 'team_join',
      user: { id: 'U0NEW', is_ultra_restricted: true, team_id: 'T0ACME' },
    });
    slack.changePerson('T0ACME', 'U0MAX', { deleted: true });
    await slack.until(() => told().length === 2);
    expect(told()[1]).toMatchObject({ type: 'user_change', user: { id: 'U0MAX', deleted: true } });
  });

  it('are no concern of an app that may not read them', async () => {
    const { slack, app } = await startSetting({ app: { botScopes: ['commands'] } });
    slack.addPerson('T0ACME', { id: 'U0NEW' });
    slack.archiveChannel('T0ACME', 'deploys');
    await slack.until(() => app.received.length === 1);
    expect(app.received[0]?.payload.event.type).toBe('channel_archive');
  });
});

it.each([
  ['a < b & c > d', 'a &lt; b &amp; c &gt; d'],
  ['@max, see #deploys.', '<@U0MAX>, see <#C0DEPLOY|deploys>.'],
  ['mail max@max.example, @nobody, #max', 'mail max@max.example, @nobody, #max'],
  ['<@U0MAX>', '&lt;@U0MAX&gt;'],
  ['(see https://a.example/?b=1&c=#2).', '(see <https://a.example/?b=1&amp;c=#2>).'],
])('%s is sent as %s', async (typed, sent) => {
  const { slack } = await startSetting();
  expect(await slack.as('T0ACME', 'U0ANNA').postMessage('deploys', typed)).toMatchObject({ text: sent });
});

describe('mentions', () => {
  it('are told to the app where it is in the channel', async () => {
    const { slack, app, bot } = await withPeople({ botName: 'deckhand' });
    const anna = slack.as('T0ACME', 'U0ANNA');
    await anna.postMessage('other', '@deckhand projects');
    const { ts } = await anna.postMessage('deploys', '@deckhand test storefront', '1.2');
    await slack.until(() => app.received.length === 1);
    const { event } = app.received[0]?.payload ?? {};
    expect(event).toMatchObject({
      type: 'app_mention',
      user: 'U0ANNA',
      text: `<@${bot}> test storefront`,
      ts,
      thread_ts: '1.2',
      channel: 'C0DEPLOY',
      team: 'T0ACME',
    });
    expect(event).not.toHaveProperty('user_team');
  });

  it('need the scope for them', async () => {
    const { slack, app } = await startSetting();
    await slack.as('T0ACME', 'U0ANNA').postMessage('deploys', '@deckhand help');
    slack.archiveChannel('T0ACME', 'other');
    await slack.until(() => app.received.length === 1);
    expect(app.received[0]?.payload.event.type).toBe('channel_archive');
  });
});
