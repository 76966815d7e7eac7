import { WebClient } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { clientOf, refusalOf, type Setting, startSetting } from './setting.ts';

const BACK = 'https://deckhand.example/slack/oauth_redirect';

function authorizeUrl({ slack }: Setting, extra: Record<string, string> = {}): string {
  const query = {
    client_id: slack.app.clientId,
    scope: 'commands,chat:write,users:read',
    state: 's&<1>',
    redirect_uri: BACK,
  };
  return `${slack.authorizeUrl}?${new URLSearchParams({ ...query, ...extra })}`;
}

const bare = { installed: false };

function exchange({ slack }: Setting, args: object) {
  const { clientId: client_id, clientSecret: client_secret } = slack.app;
  return new WebClient(undefined, { slackApiUrl: slack.apiUrl }).oauth.v2.access({
    client_id,
    client_secret,
    ...args,
  });
}

async function install(setting: Setting): Promise<string> {
  const back = new URL(setting.slack.as('T0ACME', 'U0ANNA').install(authorizeUrl(setting)));
  return back.searchParams.get('code') ?? '';
}

describe('the authorize page', () => {
  it('asks a person, and sends them back with a code and the state', async () => {
    const setting = await startSetting({}, bare);
    const page = await fetch(authorizeUrl(setting, { state: '"><script>x</script>' }));
    const body = await page.text();
    expect(page.status).toBe(200);
    expect(body).toContain('Deckhand asks for access');
    expect(body).not.toContain('<script>');
    const form = new URLSearchParams(new URL(authorizeUrl(setting)).searchParams);
    form.set('who', 'T0ACME U0ANNA');
    form.set('decision', 'allow');
    const { origin } = setting.slack;
    const decided = await fetch(`${origin}/oauth/v2/authorize`, {
      method: 'POST',
      body: form,
      redirect: 'manual',
    });
    const back = new URL(decided.headers.get('location') ?? '');
    expect(`${back.origin}${back.pathname}`).toBe(BACK);
    expect(back.searchParams.get('state')).toBe('s&<1>');
    expect(back.searchParams.get('code')).toMatch(/^[0-9a-f]{48}$/);
  });

  it('installs into no workspace that nobody has chosen', async () => {
    const setting = await startSetting({}, bare);
    const page = await (await fetch(authorizeUrl(setting))).text();
    const [first = ''] = /<select name="who" required>\s*(<option[^<]*<\/option>)/.exec(page)?.slice(1) ?? [];
    expect(first).toBe('<option value="">Choose a workspace</option>');
    expect(page).not.toMatch(/<option[^>]*\bselected\b/);
    const asked = new URL(authorizeUrl(setting)).searchParams;
    const body = new URLSearchParams([...asked, ['who', ''], ['decision', 'allow']]);
    const decided = await fetch(`${setting.slack.origin}/oauth/v2/authorize`, { method: 'POST', body });
    expect(decided.status).toBe(400);
  });

  it('lets them refuse', async () => {
    const setting = await startSetting({}, bare);
    const back = setting.slack.as('T0ACME', 'U0ANNA').install(authorizeUrl(setting), { allow: false });
    expect(Object.fromEntries(new URL(back).searchParams)).toEqual({
      error: 'access_denied',
      state: 's&<1>',
    });
  });

  it.each([
    ['an unknown client', { client_id: '1.2' }, {}, 'invalid_client_id'],
    [
      'an address that is not registered',
      { redirect_uri: 'https://evil.example' },
      { redirectUrls: [BACK] },
      'bad_redirect_uri',
    ],
    [
      'an address whose host only begins like a registered one',
      { redirect_uri: 'https://deckhand.example.evil.example/slack/oauth_redirect' },
      { redirectUrls: ['https://deckhand.example'] },
      'bad_redirect_uri',
    ],
    [
      'a path that only begins like a registered one',
      { redirect_uri: `${BACK}s` },
      { redirectUrls: [BACK] },
      'bad_redirect_uri',
    ],
    ['no scopes', { scope: '' }, {}, 'no_scopes'],
  ])('is not shown to %s', async (_what, extra, app, error) => {
    const setting = await startSetting({ app }, bare);
    const page = await fetch(authorizeUrl(setting, extra));
    expect([page.status, await page.text()]).toEqual([400, expect.stringContaining(error)]);
  });
});

it('the authorize page is shown for an address below a registered one', async () => {
  const setting = await startSetting({ app: { redirectUrls: ['https://deckhand.example'] } }, bare);
  expect((await fetch(authorizeUrl(setting))).status).toBe(200);
});

describe('oauth.v2.access', () => {
  it('gives a bot token for a code, and the app works there', async () => {
    const setting = await startSetting({}, bare);
    const { slack } = setting;
    const answer = await exchange(setting, { code: await install(setting), redirect_uri: BACK });
    expect(answer).toMatchObject({
      token_type: 'bot',
      scope: 'commands,chat:write,users:read',
      app_id: slack.app.appId,
      team: { id: 'T0ACME', name: 'Acme' },
      enterprise: null,
      is_enterprise_install: false,
      authed_user: { id: 'U0ANNA' },
    });
    expect(answer).not.toHaveProperty('refresh_token');
    const { user_id } = await clientOf(slack, answer.access_token ?? '').auth.test();
    expect(user_id).toBe(answer.bot_user_id);
    expect((await slack.as('T0ACME', 'U0ANNA').command('deploys', '/deckhand')).outcome).toBe('ok');
  });

  it('takes a code once, for ten minutes, with its own redirect_uri and the right secret', async () => {
    const setting = await startSetting({}, bare);
    const refused = async (args: object) => (await refusalOf(exchange(setting, args))).error;
    const code = await install(setting);
    expect(await refused({ code, redirect_uri: 'https://evil.example' })).toBe('bad_redirect_uri');
    expect(await refused({ code, redirect_uri: BACK, client_secret: 'x' })).toBe('bad_client_secret');
    expect(await refused({ code, redirect_uri: BACK, client_id: 'x' })).toBe('invalid_client_id');
    await exchange(setting, { code, redirect_uri: BACK });
    expect(await refused({ code, redirect_uri: BACK })).toBe('invalid_code');
    const late = await install(setting);
    setting.slack.advance(10 * 60_000 + 1);
    expect(await refused({ code: late, redirect_uri: BACK })).toBe('invalid_code');
  });

  it('takes the client as HTTP Basic, too', async () => {
    const setting = await startSetting({}, bare);
    const { apiUrl, app } = setting.slack;
    const basic = Buffer.from(`${app.clientId}:${app.clientSecret}`).toString('base64');
    const response = await fetch(`${apiUrl}oauth.v2.access`, {
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ code: await install(setting), redirect_uri: BACK }),
    });
    expect(await response.json()).toMatchObject({ ok: true });
    expect(JSON.stringify(setting.slack.calls)).not.toContain(app.clientSecret);
  });
});

describe('token rotation', () => {
  const rotating = { app: { tokenRotation: true }, now: () => 1_800_000_000_000 };

  it('gives tokens that end after twelve hours, and refreshes them once each', async () => {
    const setting = await startSetting(rotating, bare);
    const { slack } = setting;
    const first = await exchange(setting, { code: await install(setting), redirect_uri: BACK });
    expect(first).toMatchObject({ expires_in: 43_200, refresh_token: expect.stringMatching(/^xoxe-1-/) });
    slack.advance(12 * 3_600_000);
    const old = clientOf(slack, first.access_token ?? '');
    expect((await refusalOf(old.auth.test())).error).toBe('token_expired');
    const grant = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
    const second = await exchange(setting, grant);
    expect(second.access_token).not.toBe(first.access_token);
    expect(await clientOf(slack, second.access_token ?? '').auth.test()).toMatchObject({
      expires_in: 43_200,
    });
    expect((await refusalOf(exchange(setting, grant))).error).toBe('invalid_refresh_token');
  });

  it('keeps the two newest tokens', async () => {
    const setting = await startSetting(rotating, bare);
    const given = [await exchange(setting, { code: await install(setting), redirect_uri: BACK })];
    for (let turn = 0; turn < 2; turn += 1) {
      const refresh_token = given.at(-1)?.refresh_token;
      given.push(await exchange(setting, { grant_type: 'refresh_token', refresh_token }));
    }
    const good = given.map(({ access_token }) => clientOf(setting.slack, access_token ?? '').auth.test());
    const states = await Promise.allSettled(good);
    expect(states.map((one) => one.status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  });
});

describe('an organisation', () => {
  const enterprise = { id: 'E0ORG', name: 'Acme Group' };
  const second = {
    id: 'T0TWO',
    name: 'Acme Two',
    enterprise,
    users: [{ id: 'U0TWO' }],
    channels: [{ id: 'C0TWO', name: 'deploys' }],
  };

  it('installs for all its workspaces with one token and no team', async () => {
    const setting = await startSetting({}, { ...bare, enterprise });
    const { slack, app } = setting;
    slack.addWorkspace({ ...second, installed: false });
    const back = slack.as('T0ACME', 'U0ANNA').install(authorizeUrl(setting), { orgWide: true });
    const code = new URL(back).searchParams.get('code');
    const answer = await exchange(setting, { code, redirect_uri: BACK });
    expect(answer).toMatchObject({ team: null, enterprise, is_enterprise_install: true });
    const client = clientOf(slack, answer.access_token ?? '');
    await client.chat.postMessage({ channel: 'C0TWO', text: 'two' });
    await client.chat.postMessage({ channel: 'C0DEPLOY', text: 'one' });
    expect(slack.messages('T0TWO', 'deploys')).toMatchObject([{ text: 'two' }]);
    expect((await refusalOf(client.users.list({}))).error).toBe('missing_argument');
    expect((await client.users.list({ team_id: 'T0TWO' })).members).toHaveLength(2);
    await slack.as('T0TWO', 'U0TWO').command('deploys', '/deckhand');
    expect(app.received.at(-1)?.payload).toMatchObject({
      team_id: 'T0TWO',
      enterprise_id: 'E0ORG',
      is_enterprise_install: 'true',
    });
  });

  it('takes a workspace away again', async () => {
    const { slack, app } = await startSetting({}, { ...bare, enterprise });
    slack.addWorkspace({ ...second, installed: false });
    const client = clientOf(slack, slack.installOrganisation('E0ORG'));
    slack.changeTeamAccess('T0TWO', false);
    await slack.until(() => app.received.length === 1);
    expect(app.received[0]?.payload.event).toMatchObject({
      type: 'team_access_revoked',
      team_ids: ['T0TWO'],
    });
    expect((await refusalOf(client.chat.postMessage({ channel: 'C0TWO', text: 'x' }))).error).toBe(
      'channel_not_found',
    );
  });
});

describe('several workspaces', () => {
  it('may have the same channels and people, and share nothing', async () => {
    const { slack, token } = await startSetting();
    const other = slack.addWorkspace({
      id: 'T0OTHER',
      users: [{ id: 'U0ANNA', name: 'another' }],
      channels: [{ id: 'C0DEPLOY', name: 'deploys' }],
    });
    await clientOf(slack, token).chat.postMessage({ channel: 'C0DEPLOY', text: 'ours' });
    await clientOf(slack, other.botToken).chat.postMessage({ channel: 'C0DEPLOY', text: 'theirs' });
    expect(slack.messages('T0ACME', 'deploys').map((one) => one.text)).toEqual(['ours']);
    expect(slack.messages('T0OTHER', 'deploys').map((one) => one.text)).toEqual(['theirs']);
    const { user } = await clientOf(slack, other.botToken).users.info({ user: 'U0ANNA' });
    expect(user).toMatchObject({ name: 'another', is_admin: false });
  });
});
