import { describe, expect, it } from 'vitest';
import { ACME, errorOf, startSetting } from './setting.ts';

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
