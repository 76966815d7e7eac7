import { describe, expect, it } from 'vitest';
import { clientOf, refusalOf, startSetting } from './setting.ts';

describe('tokens', () => {
  it('say whose they are', async () => {
    const { slack, token, bot } = await startSetting();
    const answer = await clientOf(slack, token).auth.test();
    expect(answer).toMatchObject({
      ok: true,
      team_id: 'T0ACME',
      team: 'Acme',
      user_id: bot,
      is_enterprise_install: false,
    });
    expect(answer.response_metadata?.scopes).toContain('chat:write');
  });

  it.each([
    ['no token', undefined, 'not_authed'],
    ['a token that is none', 'xoxb-made-up', 'invalid_auth'],
  ])('are asked for: %s', async (_what, token, error) => {
    const { slack } = await startSetting();
    const response = await fetch(`${slack.apiUrl}auth.test`, {
      method: 'POST',
      headers: token ? { authorization: `Bearer ${token}` } : {},
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ok: false, error });
  });

  it('travel in a header or a form, never in an address', async () => {
    const { slack, token } = await startSetting();
    const form = new URLSearchParams({ token });
    const posted = await fetch(`${slack.apiUrl}auth.test`, { method: 'POST', body: form });
    expect(await posted.json()).toMatchObject({ ok: true });
    const got = await fetch(`${slack.apiUrl}auth.test?token=${token}`);
    expect(await got.json()).toMatchObject({ error: 'not_authed' });
  });

  it('die when they are revoked, and the last one takes the app with it', async () => {
    const { slack, token } = await startSetting();
    const client = clientOf(slack, token);
    expect(await client.auth.revoke({ test: true })).toMatchObject({ revoked: false });
    expect(await client.auth.revoke()).toMatchObject({ revoked: true });
    expect((await refusalOf(client.auth.test())).error).toBe('token_revoked');
    const names = () => slack.deliveries.map((one) => one.name).sort();
    await slack.until(() => names().length === 2);
    expect(names()).toEqual(['app_uninstalled', 'tokens_revoked']);
  });

  it('are of no use once the app is uninstalled', async () => {
    const { slack, token } = await startSetting();
    slack.uninstall('T0ACME');
    expect((await refusalOf(clientOf(slack, token).auth.test())).error).toBe('account_inactive');
    const again = slack.install('T0ACME');
    expect(await clientOf(slack, again).auth.test()).toMatchObject({ ok: true });
  });
});

describe('methods', () => {
  it('ask for their scope and say which', async () => {
    const { slack, token } = await startSetting({ app: { botScopes: ['chat:write'] } });
    const client = clientOf(slack, token);
    const response = await fetch(`${slack.apiUrl}users.info?user=U0ANNA`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await response.json()).toEqual({
      ok: false,
      error: 'missing_scope',
      needed: 'users:read',
      provided: 'chat:write',
    });
    const history = client.conversations.history({ channel: 'C0DEPLOY' });
    expect((await refusalOf(history)).error).toBe('missing_scope');
    const replies = client.conversations.replies({ channel: 'C0DEPLOY', ts: '1.1' });
    expect((await refusalOf(replies)).error).toBe('missing_scope');
  });

  it('that are none are told apart from those without a token', async () => {
    const { slack, token } = await startSetting();
    expect((await refusalOf(clientOf(slack, token).apiCall('no.such'))).error).toBe('unknown_method');
  });

  it('name the arguments that are missing', async () => {
    const { slack, token } = await startSetting();
    const refused = await refusalOf(clientOf(slack, token).apiCall('chat.update', { text: 'x' }));
    expect(refused).toEqual({
      error: 'invalid_arguments',
      messages: [
        '[ERROR] missing required field: channel [json-pointer:]',
        '[ERROR] missing required field: ts [json-pointer:]',
      ],
    });
  });

  it.each([
    ['{', 'invalid_json'],
    ['[1]', 'json_not_object'],
  ])('refuse the JSON body %s', async (body, error) => {
    const { slack, token } = await startSetting();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' };
    const response = await fetch(`${slack.apiUrl}auth.test`, { method: 'POST', headers, body });
    expect(await response.json()).toMatchObject({ error });
  });

  it('leave a log without tokens', async () => {
    const { slack, token } = await startSetting();
    await clientOf(slack, token).chat.postMessage({ channel: 'C0DEPLOY', text: 'hello' });
    expect(slack.calls).toMatchObject([
      { method: 'chat.postMessage', team: 'T0ACME', ok: true, args: { channel: 'C0DEPLOY', text: 'hello' } },
    ]);
    expect(JSON.stringify(slack.calls)).not.toContain(token);
  });
});

describe('people', () => {
  it('are known with their rights and their zone', async () => {
    const { slack, token } = await startSetting();
    const { user } = await clientOf(slack, token).users.info({ user: 'U0ANNA' });
    expect(user).toMatchObject({ id: 'U0ANNA', is_admin: true, tz: 'Europe/Lisbon', is_bot: false });
    expect(user?.profile).not.toHaveProperty('email');
    slack.changePerson('T0ACME', 'U0ANNA', { is_admin: false });
    const again = await clientOf(slack, token).users.info({ user: 'U0ANNA' });
    expect(again.user?.is_admin).toBe(false);
  });

  it('of elsewhere are unknown', async () => {
    const { slack, token } = await startSetting();
    expect((await refusalOf(clientOf(slack, token).users.info({ user: 'U0ELSE' }))).error).toBe(
      'user_not_found',
    );
  });

  it('come in pages', async () => {
    const { slack, token } = await startSetting();
    const seen: (string | undefined)[] = [];
    for await (const page of clientOf(slack, token).paginate('users.list', { limit: 1 })) {
      const { members } = page as { members?: { id: string }[] };
      seen.push(...(members ?? []).map((one) => one.id));
    }
    expect(seen).toHaveLength(3);
    const refused = clientOf(slack, token).users.list({ cursor: 'bogus' });
    expect((await refusalOf(refused)).error).toBe('invalid_cursor');
  });

  it('stand in user groups', async () => {
    const userGroups = [{ id: 'S0OPS', handle: 'ops', name: 'Operators', users: ['U0ANNA'] }];
    const app = { botScopes: ['usergroups:read'] };
    const { slack, token } = await startSetting({ app }, { userGroups });
    const client = clientOf(slack, token);
    expect((await client.usergroups.list({ include_users: true })).usergroups).toMatchObject([
      { id: 'S0OPS', handle: 'ops', users: ['U0ANNA'] },
    ]);
    expect((await client.usergroups.users.list({ usergroup: 'S0OPS' })).users).toEqual(['U0ANNA']);
    const refused = client.usergroups.users.list({ usergroup: 'S0NONE' });
    expect((await refusalOf(refused)).error).toBe('no_such_subteam');
  });
});
