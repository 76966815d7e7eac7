import { describe, expect, it } from 'vitest';
import { errorOf, refusalOf, startSetting } from './setting.ts';

describe('tokens', () => {
  it.each([
    ['no token', undefined, 'not_authed'],
    ['a token that is none', 'xoxb-made-up', 'invalid_auth'],
  ])('are asked for: %s', async (_what, token, error) => {
    const { slack } = await startSetting();
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
    const response = await fetch(`${slack.apiUrl}auth.test`, { method: 'POST', headers });
    expect([response.status, await response.json()]).toEqual([200, { ok: false, error }]);
  });

  it('travel in a header or a form, never in an address', async () => {
    const { slack, token } = await startSetting();
    const body = new URLSearchParams({ token });
    const posted = await fetch(`${slack.apiUrl}auth.test`, { method: 'POST', body });
    expect(await posted.json()).toMatchObject({ ok: true });
    const got = await fetch(`${slack.apiUrl}auth.test?token=${token}`);
    expect(await got.json()).toMatchObject({ error: 'not_authed' });
  });

  it('say whose they are, and die when they are revoked; the last one takes the app with it', async () => {
    const { slack, client, bot } = await startSetting();
    const answer = await client.auth.test();
    expect(answer).toMatchObject({ team_id: 'T0ACME', user_id: bot, is_enterprise_install: false });
    expect(answer.response_metadata?.scopes).toContain('chat:write');
    expect(await client.auth.revoke({ test: true })).toMatchObject({ revoked: false });
    expect(await client.auth.revoke()).toMatchObject({ revoked: true });
    expect(await errorOf(client.auth.test())).toBe('token_revoked');
    const names = () => slack.deliveries.map(({ name }) => name).sort();
    await slack.until(() => names().length === 2);
    expect(names()).toEqual(['app_uninstalled', 'tokens_revoked']);
  });
});

describe('methods', () => {
  it('ask for their scope and say which', async () => {
    const { slack, token, client } = await startSetting({ app: { botScopes: ['chat:write'] } });
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${slack.apiUrl}users.info?user=U0ANNA`, { headers });
    const refusal = { error: 'missing_scope', needed: 'users:read', provided: 'chat:write' };
    expect(await response.json()).toEqual({ ok: false, ...refusal });
    for (const method of ['history', 'replies'] as const)
      expect(await errorOf(client.conversations[method]({ channel: 'C0DEPLOY', ts: '1.1' }))).toBe(
        'missing_scope',
      );
  });

  it('tell what is wrong with a call', async () => {
    const { slack, token, client } = await startSetting();
    expect(await errorOf(client.apiCall('no.such'))).toBe('unknown_method');
    expect(await refusalOf(client.apiCall('chat.update', { text: 'x' }))).toEqual({
      error: 'invalid_arguments',
      messages: [
        '[ERROR] missing required field: channel [json-pointer:]',
        '[ERROR] missing required field: ts [json-pointer:]',
      ],
    });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' };
    for (const [body, error] of [
      ['{', 'invalid_json'],
      ['[1]', 'json_not_object'],
    ] as const) {
      const response = await fetch(`${slack.apiUrl}auth.test`, { method: 'POST', headers, body });
      expect(await response.json()).toMatchObject({ error });
    }
  });
  it('leave a log without tokens', async () => {
    const { slack, token, client } = await startSetting();
    await client.chat.postMessage({ channel: 'C0DEPLOY', text: 'hello' });
    expect(slack.calls).toMatchObject([
      { method: 'chat.postMessage', team: 'T0ACME', ok: true, args: { channel: 'C0DEPLOY', text: 'hello' } },
    ]);
    expect(JSON.stringify(slack.calls)).not.toContain(token);
  });
});
