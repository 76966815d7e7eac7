import { WebClient } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { clientOf, errorOf, type Setting, startSetting } from './setting.ts';

const ORIGIN = 'https://deckhand.example';
const BACK = `${ORIGIN}/slack/oauth_redirect`;
const EVIL = `${ORIGIN}.evil.example/slack/oauth_redirect`;
const bare = { installed: false };
const enterprise = { id: 'E0ORG', name: 'Acme Group' };

function authorizeUrl({ slack }: Setting, extra: Record<string, string> = {}): string {
  const scope = 'commands,chat:write,users:read';
  const query = { client_id: slack.app.clientId, scope, state: 's&<1>', redirect_uri: BACK, ...extra };
  return `${slack.authorizeUrl}?${new URLSearchParams(query)}`;
}

function exchange({ slack }: Setting, args: object) {
  const { clientId: client_id, clientSecret: client_secret } = slack.app;
  const anyone = new WebClient(undefined, { slackApiUrl: slack.apiUrl });
  return anyone.oauth.v2.access({ client_id, client_secret, redirect_uri: BACK, ...args });
}

function codeFor(setting: Setting): string {
  return new URL(setting.anna.install(authorizeUrl(setting))).searchParams.get('code') ?? '';
}

describe('the authorize page', () => {
  it('asks a person, and sends them back with a code and the state', async () => {
    const setting = await startSetting({}, bare);
    const page = await fetch(authorizeUrl(setting, { state: '"><script>x</script>' }));
    const body = await page.text();
    expect([page.status, body]).toEqual([200, expect.stringContaining('Deckhand asks for access')]);
    expect(body).not.toMatch(/<script>|<option[^>]*\bselected\b/);
    const decide = (who: string) => {
      const query = new URL(authorizeUrl(setting)).searchParams;
      const form = new URLSearchParams([...query, ['who', who], ['decision', 'allow']]);
      return fetch(setting.slack.authorizeUrl, { method: 'POST', body: form, redirect: 'manual' });
    };
    expect((await decide('')).status).toBe(400);
    const back = new URL((await decide('T0ACME U0ANNA')).headers.get('location') ?? '');
    expect(back.href.split('?')[0]).toBe(BACK);
    expect(back.searchParams.get('state')).toBe('s&<1>');
    expect(back.searchParams.get('code')).toMatch(/^[0-9a-f]{48}$/);
    const refused = new URL(setting.anna.install(authorizeUrl(setting), { allow: false }));
    expect(Object.fromEntries(refused.searchParams)).toEqual({ error: 'access_denied', state: 's&<1>' });
  });

  it.each([
    ['an unknown client', { client_id: '1.2' }, [], 'invalid_client_id'],
    ['an unregistered address', { redirect_uri: 'https://evil.example' }, [BACK], 'bad_redirect_uri'],
    ['a host that only begins like a registered one', { redirect_uri: EVIL }, [ORIGIN], 'bad_redirect_uri'],
    ['a path that only begins like one', { redirect_uri: `${BACK}s` }, [BACK], 'bad_redirect_uri'],
    ['no scopes', { scope: '' }, [], 'no_scopes'],
    ['nobody below a registered address', {}, [ORIGIN], undefined],
  ])('is not shown to %s', async (_what, extra, redirectUrls, error) => {
    const setting = await startSetting({ app: redirectUrls.length > 0 ? { redirectUrls } : {} }, bare);
    const page = await fetch(authorizeUrl(setting, extra));
    expect(page.status).toBe(error === undefined ? 200 : 400);
    expect(await page.text()).toContain(error ?? 'asks for access');
  });
});

describe('oauth.v2.access', () => {
  it('takes a code once, for ten minutes, with its own redirect_uri and the right secret', async () => {
    const setting = await startSetting({}, bare);
    const code = codeFor(setting);
    const refused = (args: object) => errorOf(exchange(setting, args));
    expect(await refused({ code, client_secret: 'x' })).toBe('bad_client_secret');
    expect(await refused({ code, client_id: 'x' })).toBe('invalid_client_id');
    const answer = await exchange(setting, { code });
    expect(answer).toMatchObject({ team: { id: 'T0ACME', name: 'Acme' }, authed_user: { id: 'U0ANNA' } });
    expect(answer).not.toHaveProperty('refresh_token');
    expect((await setting.anna.command('deploys', '/deckhand')).outcome).toBe('ok');
    expect(await refused({ code })).toBe('invalid_code');
    const late = codeFor(setting);
    setting.slack.advance(10 * 60_000 + 1);
    expect(await refused({ code: late })).toBe('invalid_code');
  });

  it('rotates tokens: they end after twelve hours, refresh once each, and the two newest work', async () => {
    const setting = await startSetting({ app: { tokenRotation: true }, now: () => 1_800_000_000_000 }, bare);
    const { slack } = setting;
    const test = ({ access_token = '' }) => clientOf(slack, access_token).auth.test();
    const refresh = ({ refresh_token = '' }) =>
      exchange(setting, { grant_type: 'refresh_token', refresh_token });
    const first = await exchange(setting, { code: codeFor(setting) });
    expect(first).toMatchObject({ expires_in: 43_200, refresh_token: expect.stringMatching(/^xoxe-1-/) });
    slack.advance(12 * 3_600_000);
    expect(await errorOf(test(first))).toBe('token_expired');
    const second = await refresh(first);
    expect(await test(second)).toMatchObject({ expires_in: 43_200 });
    expect(await errorOf(refresh(first))).toBe('invalid_refresh_token');
    const third = await refresh(second);
    const fourth = await refresh(third);
    const states = await Promise.allSettled([second, third, fourth].map(test));
    expect(states.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  });
});

it('an organisation has to name a workspace if Slack cannot know which is meant', async () => {
  const botScopes = ['users:read', 'usergroups:read', 'channels:read'];
  const { slack } = await startSetting({ app: { botScopes } }, { enterprise, ...bare });
  const client = clientOf(slack, slack.installOrganisation('E0ORG'));
  const bot = slack.workspace('T0ACME').installation?.botId;
  const calls: [method: string, args: object][] = [
    ['users.list', {}],
    ['conversations.list', {}],
    ['usergroups.list', {}],
    ['usergroups.users.list', { usergroup: 'S0' }],
    ['bots.info', { bot }],
  ];
  for (const [method, args] of calls)
    expect(await errorOf(client.apiCall(method, { ...args })), method).toBe('missing_argument');
  expect(await client.apiCall('users.list', { team_id: 'T0ACME' })).toMatchObject({ ok: true });
  expect(await client.apiCall('bots.info', { bot, team_id: 'T0ACME' })).toMatchObject({ ok: true });
  expect(await client.apiCall('users.info', { user: 'U0ANNA' })).toMatchObject({ ok: true });
});
