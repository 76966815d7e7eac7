import { ErrorCode } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { ACME, clientOf, errorOf, refusalOf, startSetting } from './setting.ts';

const channel = 'C0DEPLOY';
const PNG = Buffer.from('iVBORw0KGgo=', 'base64');

describe('chat.postMessage', () => {
  it.each([
    ['a private channel the bot is not in', { channel: 'C0PRIV' }, 'channel_not_found'],
    ['a public channel the bot is not in', { channel: 'C0OTHER' }, 'not_in_channel'],
    ['an archived channel', { channel: 'C0OLD' }, 'is_archived'],
    ['blocks that are no list', { blocks: '{}' }, 'invalid_blocks_format'],
    ['too many attachments', { attachments: Array(101).fill({ text: 'a' }) }, 'too_many_attachments'],
    ['text twice', { markdown_text: 'y' }, 'markdown_text_conflict'],
  ])('refuses %s', async (_what, args, error) => {
    const { slack, client } = await startSetting();
    const refused = client.apiCall('chat.postMessage', { channel, text: 'x', ...args });
    expect(await errorOf(refused)).toBe(error);
    expect(slack.messages('T0ACME', 'deploys')).toEqual([]);
  });

  it('puts replies to replies into the thread, and posts a client_msg_id twice', async () => {
    const { slack, client } = await startSetting();
    const { ts: root = '' } = await client.chat.postMessage({ channel, text: 'root' });
    const { ts } = await client.chat.postMessage({ channel, text: 'one', thread_ts: root });
    const two = { text: 'two', client_msg_id: '3f2b7d0e-0000-4000-8000-000000000000' };
    for (let turn = 0; turn < 2; turn += 1)
      await client.apiCall('chat.postMessage', { channel, thread_ts: ts, ...two });
    expect(slack.messages('T0ACME', 'deploys')).toMatchObject([{ text: 'root', reply_count: 3 }]);
    expect(slack.thread('T0ACME', 'deploys', root)).toMatchObject([{ text: 'one' }, two, two]);
  });

  it('puts a reply to a deleted message at the top level, unless its thread has replies', async () => {
    const { slack, client, anna } = await startSetting();
    const threads: Array<string | undefined> = [];
    for (const replies of [0, 1]) {
      const { ts: thread_ts } = await anna.postMessage('deploys', 'root');
      for (let reply = 0; reply < replies; reply += 1) await anna.postMessage('deploys', 'one', thread_ts);
      anna.deleteMessage({ channel, ts: thread_ts });
      const { ok, message } = await client.chat.postMessage({ channel, text: 'late', thread_ts });
      expect(ok).toBe(true);
      threads.push(message?.thread_ts);
    }
    expect(threads).toEqual([undefined, expect.any(String)]);
    expect(slack.messages('T0ACME', 'deploys')).toMatchObject([{ text: 'late' }]);
  });
});

it('a message is not changed or deleted if it is not ours, too long or archived', async () => {
  const { slack, client } = await startSetting();
  const update = (ts: string, text = 'x') => errorOf(client.chat.update({ channel, ts, text }));
  const theirs = await slack.as('T0ACME', 'U0MAX').postMessage('deploys', 'mine');
  expect(await update(theirs.ts)).toBe('cant_update_message');
  expect(await errorOf(client.chat.delete({ channel, ts: theirs.ts }))).toBe('cant_delete_message');
  const { ts = '' } = await client.chat.postMessage({ channel, text: 'x' });
  expect(await update(ts, 'x'.repeat(4001))).toBe('msg_too_long');
  slack.archiveChannel('T0ACME', 'deploys');
  expect(await update(ts)).toBe('is_inactive');
});

it('a private message is seen by nobody else, in a thread only once it has begun, and never edited', async () => {
  const { slack, client } = await startSetting();
  const whisper = async (text: string, thread = {}) =>
    (await client.chat.postEphemeral({ channel, user: 'U0MAX', text, ...thread })).message_ts ?? '';
  const { ts: thread_ts = '' } = await client.chat.postMessage({ channel, text: 'root' });
  await whisper('early', { thread_ts });
  await client.chat.postMessage({ channel, thread_ts, text: 'reply' });
  await whisper('in the thread', { thread_ts });
  const ts = await whisper('x');
  const seen = slack.ephemerals('T0ACME', 'U0MAX');
  expect(seen).toMatchObject([{ text: 'in the thread' }, { ts, text: 'x', ephemeral: true }]);
  expect(slack.ephemerals('T0ACME', 'U0ANNA')).toEqual([]);
  expect(slack.messages('T0ACME', 'deploys')).toHaveLength(1);
  expect(await errorOf(client.chat.update({ channel, ts, text: 'y' }))).toBe('message_not_found');
});

it('the real rates hold by method and workspace, and by channel for posts', async () => {
  const { slack, client } = await startSetting({ realRates: true, now: () => 1_800_000_000_000 });
  const post = (to = channel) => client.chat.postMessage({ channel: to, text: 'hello' });
  const limited = (retryAfter: number) => ({ code: ErrorCode.RateLimitedError, retryAfter });
  for (let turn = 0; turn < 5; turn += 1) await post();
  await expect(post()).rejects.toMatchObject(limited(5));
  await post('U0ANNA');
  slack.advance(5001);
  await post();
  for (let turn = 0; turn < 20; turn += 1) await client.users.list({});
  await expect(client.users.list({})).rejects.toMatchObject(limited(60));
});

describe('an upload', () => {
  async function withUpload(filename = 'a.txt', body = PNG) {
    const setting = await startSetting({ app: { botScopes: ['files:write', 'files:read', 'chat:write'] } });
    const { files, chat } = setting.client;
    const { upload_url = '', file_id: id = '' } = await files.getUploadURLExternal({
      filename,
      length: body.length,
    });
    const send = () => fetch(upload_url, { method: 'POST', body });
    const complete = (args = {}) =>
      setting.client.apiCall('files.completeUploadExternal', { files: [{ id, title: 'Invoice' }], ...args });
    const show = (file = id) => {
      const blocks = [{ type: 'image', alt_text: 'a', slack_file: { id: file } }];
      return chat.postMessage({ channel, text: 'x', blocks });
    };
    return { ...setting, id, send, complete, show };
  }

  it.each([
    ['a channel the bot is not in', { channel_id: 'C0OTHER' }, 'not_in_channel'],
    ['an unknown channel', { channel_id: 'C0NONE' }, 'channel_not_found'],
    ['an archived channel', { channel_id: 'C0OLD' }, 'posting_to_channel_denied'],
  ])('is refused for %s', async (_what, args, error) => {
    const { send, complete } = await withUpload();
    expect(await errorOf(complete({ channel_id: channel }))).toBe('file_update_failed');
    await send();
    expect(await errorOf(complete(args))).toBe(error);
  });

  it('of a picture lets messages show it, and of nothing else', async () => {
    for (const [filename, isShown] of [['a.png', true] as const, ['a.pdf', false] as const]) {
      const { send, complete, show } = await withUpload(filename);
      await send();
      await complete();
      if (isShown) await show();
      else
        expect(await refusalOf(show())).toEqual({
          error: 'invalid_blocks',
          messages: ['[ERROR] invalid slack file [json-pointer:/blocks/0/slack_file]'],
        });
      expect(await errorOf(show('F0NONE'))).toBe('invalid_blocks');
    }
  });

  it('is taken once, and private to the workspace', async () => {
    const { slack, token, client, id, send, complete } = await withUpload('a.txt', Buffer.from('hi'));
    expect(await (await send()).text()).toBe('OK - 2');
    await complete();
    expect((await send()).status).toBe(404);
    const { file } = await client.files.info({ file: id });
    const load = (headers = {}) => fetch(file?.url_private ?? '', { headers });
    expect(await (await load({ authorization: `Bearer ${token}` })).text()).toBe('hi');
    expect((await load()).status).toBe(403);
    const other = slack.addWorkspace({ id: 'T0OTHER', users: [], channels: [] }).botToken;
    expect((await load({ authorization: `Bearer ${other}` })).status).toBe(404);
    expect(await errorOf(clientOf(slack, other).files.info({ file: id }))).toBe('file_not_found');
  });
});

describe('tokens', () => {
  it('travel in a header or a form, never in an address', async () => {
    const { slack, token } = await startSetting();
    const test = async (query: string, init: RequestInit = {}) =>
      (await fetch(`${slack.apiUrl}auth.test${query}`, { method: 'POST', ...init })).json();
    expect(await test('', { body: new URLSearchParams({ token }) })).toMatchObject({ ok: true });
    expect(await test(`?token=${token}`)).toEqual({ ok: false, error: 'not_authed' });
    const headers = { authorization: 'Bearer xoxb-made-up' };
    expect(await test('', { headers })).toEqual({ ok: false, error: 'invalid_auth' });
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
      expect(await errorOf(client.conversations[method]({ channel, ts: '1.1' }))).toBe('missing_scope');
  });

  it('tell what is wrong with a call, and leave a log without tokens', async () => {
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
    await client.chat.postMessage({ channel, text: 'hello' });
    const args = { channel, text: 'hello' };
    expect(slack.calls.at(-1)).toMatchObject({ method: 'chat.postMessage', team: 'T0ACME', ok: true, args });
    expect(JSON.stringify(slack.calls)).not.toContain(token);
  });
});

it('knows guests, and nothing of the standing of other companies, nor of the zone of the deactivated', async () => {
  const partner = {
    id: 'U0PARTNER',
    name: 'pia',
    team_id: 'T0PARTNER',
    is_admin: true,
    email: 'p@x.example',
  };
  const gone = { id: 'U0GONE', name: 'gil', deleted: true, tz: 'Asia/Tokyo' };
  const guests = [
    { id: 'U0GUEST', name: 'gus', guest: 'multi' as const },
    { id: 'U0SINGLE', name: 'sam', guest: 'single' as const },
  ];
  const users = [...ACME.users, ...guests, partner, gone];
  const botScopes = ['im:write', 'users:read', 'users:read.email'];
  const { slack, client } = await startSetting({ app: { botScopes } }, { users });
  const info = async (user: string) => (await client.users.info({ user })).user;
  expect(await info('U0GUEST')).toMatchObject({ is_restricted: true, is_ultra_restricted: false });
  expect(await info('U0SINGLE')).toMatchObject({ is_restricted: true, is_ultra_restricted: true });
  const pia = await info('U0PARTNER');
  expect(pia).toMatchObject({ team_id: 'T0PARTNER', is_stranger: false });
  expect(pia).not.toHaveProperty('is_admin');
  expect(pia?.profile).not.toHaveProperty('email');
  for (const name of ['deploys', 'other', 'old']) slack.kick('T0ACME', name, 'U0PARTNER');
  // The private channel that is left has no bot in it.
  expect(await info('U0PARTNER')).toMatchObject({ is_stranger: true });
  expect(await info('U0GONE')).not.toHaveProperty('tz');
  expect(await errorOf(client.conversations.open({ users: 'U0GONE' }))).toBe('user_disabled');
  expect(() => slack.as('T0ACME', 'U0GONE')).toThrow('deactivated');
});
