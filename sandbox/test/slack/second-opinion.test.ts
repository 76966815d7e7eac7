import type { HomeView, ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  codeOf,
  exchange,
  install,
  SCOPES,
  type SlackUnderTest,
  startOurs,
  startTheirs,
} from './second-opinion-servers.ts';
import { errorOf } from './setting.ts';

/** The same assertions against our Slack and against one that others wrote: what holds in both is not our fancy. */

const plain = (text: string) => ({ type: 'plain_text', text }) as const;

function modal(extra: Partial<ModalView> = {}): ModalView {
  const button = { type: 'button', action_id: 'more', text: plain('More') } as const;
  return {
    type: 'modal',
    callback_id: 'connect',
    title: plain('Connect'),
    blocks: [{ type: 'actions', block_id: 'more', elements: [button] }],
    ...extra,
  };
}

const home: HomeView = { type: 'home', blocks: [{ type: 'section', text: plain('Welcome') }] };

describe.each([
  ['ours', startOurs],
  ['theirs', startTheirs],
])('a Slack of %s', (_whose, start) => {
  let slack: SlackUnderTest;
  let client: WebClient;
  let user = '';
  let channel = '';

  beforeAll(async () => {
    slack = await start();
    ({ client, user, channel } = await install(slack));
  });
  afterAll(() => slack.stop());

  it('installs by OAuth', async () => {
    const code = await codeOf(slack);
    const answer = await exchange(slack, { code });
    expect(answer).toMatchObject({
      token_type: 'bot',
      access_token: expect.stringMatching(/^xoxb-/),
      bot_user_id: expect.stringMatching(/^U/),
      app_id: expect.stringMatching(/^A/),
      team: { id: expect.stringMatching(/^T/), name: 'Acme' },
      enterprise: null,
      is_enterprise_install: false,
      authed_user: { id: user },
    });
    expect(answer.scope?.split(',').sort()).toEqual(SCOPES.split(',').sort());
    expect(await errorOf(exchange(slack, { code }))).toBe('invalid_code');
    const elsewhere = exchange(slack, { code: await codeOf(slack), redirect_uri: 'https://x.example' });
    expect(await errorOf(elsewhere)).toBe('bad_redirect_uri');
  });

  it('knows a token from none, and its scopes', async () => {
    expect(await client.auth.test()).toMatchObject({ ok: true, team: 'Acme', user_id: expect.any(String) });
    expect((await client.team.info()).team).toMatchObject({ name: 'Acme', domain: 'acme' });
    const nobody = await fetch(`${slack.apiUrl}auth.test`, { method: 'POST' });
    expect(await nobody.json()).toMatchObject({ ok: false, error: 'not_authed' });
    const beyond = client.conversations.open({ users: 'U0NONE' });
    expect(await errorOf(beyond)).toBe('user_not_found');
    expect(await errorOf(client.users.lookupByEmail({ email: 'a@example.com' }))).toBe('missing_scope');
  });

  it('posts, threads, edits and deletes', async () => {
    const { chat, conversations } = client;
    const { ts = '', message } = await chat.postMessage({ channel, text: 'root' });
    expect(message).toMatchObject({ type: 'message', text: 'root', ts });
    await chat.postMessage({ channel, text: 'reply', thread_ts: ts });
    await chat.update({ channel, ts, text: 'changed' });
    const { messages } = await conversations.replies({ channel, ts });
    expect(messages?.map((one) => one.text)).toEqual(['changed', 'reply']);
    expect(messages?.[0]?.reply_count).toBe(1);
    const { permalink } = await chat.getPermalink({ channel, message_ts: ts });
    expect(permalink).toContain(`/archives/${channel}/p${ts.replace('.', '')}`);
    await chat.delete({ channel, ts });
    const again = chat.update({ channel, ts, text: 'x' });
    expect(await errorOf(again)).toBe('message_not_found');
  });

  it('refuses to post to nowhere or nothing, cuts what is over 40,000 characters, and whispers', async () => {
    const { chat } = client;
    expect(await errorOf(chat.postMessage({ channel: 'C0NONE', text: 'x' }))).toBe('channel_not_found');
    expect(await errorOf(client.apiCall('chat.postMessage', { channel, text: '' }))).toBe('no_text');
    const answer = await chat.postMessage({ channel, text: 'x'.repeat(40_001) });
    expect(answer).toMatchObject({ ok: true, warning: 'message_truncated' });
    expect(answer.message?.text).toHaveLength(40_000);
    const whisper = chat.postEphemeral({ channel, text: 'psst', user });
    expect(await whisper).toMatchObject({ message_ts: expect.any(String) });
  });

  it('opens one direct message with a person', async () => {
    const { conversations, chat } = client;
    const { channel: first } = await conversations.open({ users: user });
    const { channel: second } = await conversations.open({ users: user });
    expect(first?.id).toMatch(/^D/);
    expect(second?.id).toBe(first?.id);
    const { channel: posted } = await chat.postMessage({ channel: user, text: 'hello' });
    expect(posted).toBe(first?.id);
  });

  it('knows its people', async () => {
    const { users } = client;
    expect((await users.info({ user })).user).toMatchObject({
      id: user,
      name: 'anna',
      real_name: 'Anna Admin',
    });
    expect(await errorOf(users.info({ user: 'U0NONE' }))).toBe('user_not_found');
    const { members, response_metadata } = await users.list({ limit: 1 });
    expect(members).toHaveLength(1);
    expect(response_metadata?.next_cursor).toBeTruthy();
  });

  it('opens one modal a trigger, and stacks three', async () => {
    const { views } = client;
    const trigger_id = await slack.trigger(user);
    const { view: first } = await views.open({ trigger_id, view: modal() });
    expect(first).toMatchObject({
      id: expect.stringMatching(/^V/),
      callback_id: 'connect',
      hash: expect.any(String),
    });
    expect(await errorOf(views.open({ trigger_id, view: modal() }))).toBe('exchanged_trigger_id');
    const push = async (under: string | undefined) =>
      views.push({ trigger_id: await slack.trigger(user, under), view: modal() });
    const { view: second } = await push(first?.id);
    expect(second).toMatchObject({ root_view_id: first?.id, previous_view_id: first?.id });
    const { view: third } = await push(second?.id);
    expect(await errorOf(push(third?.id))).toBe('push_limit_reached');
    expect(await errorOf(views.open({ trigger_id: '1.2.3', view: modal() }))).toBe('invalid_trigger_id');
  });

  it('updates views by id or external_id, with the hash they have', async () => {
    const { views } = client;
    const open = async (view: ModalView) => views.open({ trigger_id: await slack.trigger(user), view });
    const { view } = await open(modal({ external_id: 'one' }));
    const { view: updated } = await views.update({
      external_id: 'one',
      view: modal({ title: plain('New') }),
    });
    expect(updated).toMatchObject({ id: view?.id, title: { text: 'New' } });
    const stale = views.update({ view_id: view?.id ?? '', hash: view?.hash ?? '', view: modal() });
    expect(await errorOf(stale)).toBe('hash_conflict');
    expect(await errorOf(views.update({ view_id: 'V0NONE', view: modal() }))).toBe('not_found');
  });

  it('publishes a home tab', async () => {
    const { views } = client;
    const { view } = await views.publish({ user_id: user, view: home });
    expect(view).toMatchObject({ type: 'home', hash: expect.any(String) });
    await views.publish({ user_id: user, hash: view?.hash ?? '', view: { ...home, callback_id: 'changed' } });
    const stale = views.publish({ user_id: user, hash: view?.hash ?? '', view: home });
    expect(await errorOf(stale)).toBe('hash_conflict');
  });

  it('takes files in three steps and shares them in a thread', async () => {
    const { files, chat, conversations } = client;
    const { ts = '' } = await chat.postMessage({ channel, text: 'digest' });
    const { upload_url = '', file_id: id = '' } = await files.getUploadURLExternal({
      filename: 'a.txt',
      length: 5,
    });
    expect((await fetch(upload_url, { method: 'POST', body: 'bytes' })).status).toBe(200);
    const completed = await files.completeUploadExternal({
      files: [{ id, title: 'Week' }],
      channel_id: channel,
      thread_ts: ts,
      initial_comment: 'see',
    });
    expect(completed.files).toMatchObject([{ id, title: 'Week' }]);
    const { messages } = await conversations.replies({ channel, ts });
    expect(messages?.[1]).toMatchObject({ text: 'see', files: [{ id, title: 'Week', size: 5 }] });
    expect((await files.info({ file: id })).file).toMatchObject({
      id,
      name: 'a.txt',
      filetype: expect.any(String),
    });
    expect(await errorOf(files.info({ file: 'F0NONE' }))).toBe('file_not_found');
    // The client goes the same three steps.
    const args = { channel_id: channel, file: Buffer.from('x'), filename: 'b.txt' };
    expect(await client.filesUploadV2(args)).toMatchObject({ ok: true });
  });
});
