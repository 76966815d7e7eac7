import { describe, expect, it } from 'vitest';
import { clientOf, refusalOf, startSetting } from './setting.ts';

const header = (text: string) => ({ type: 'header', text: { type: 'plain_text', text } }) as const;

describe('chat.postMessage', () => {
  it('shows a message with ids for its blocks', async () => {
    const { slack, token, bot } = await startSetting();
    const answer = await clientOf(slack, token).chat.postMessage({
      channel: 'C0DEPLOY',
      text: 'hello',
      blocks: [header('Hello')],
    });
    expect(answer).toMatchObject({
      ok: true,
      channel: 'C0DEPLOY',
      ts: expect.stringMatching(/^\d+\.\d{6}$/),
    });
    expect(slack.messages('T0ACME', 'deploys')).toMatchObject([
      { text: 'hello', user: bot, ts: answer.ts, blocks: [{ type: 'header', block_id: expect.any(String) }] },
    ]);
  });

  it('puts replies into the thread, also replies to replies', async () => {
    const { slack, token } = await startSetting();
    const { chat } = clientOf(slack, token);
    const { ts: root = '' } = await chat.postMessage({ channel: 'C0DEPLOY', text: 'root' });
    const { ts: reply = '' } = await chat.postMessage({ channel: 'C0DEPLOY', text: 'one', thread_ts: root });
    await chat.postMessage({ channel: 'C0DEPLOY', text: 'two', thread_ts: reply });
    expect(slack.messages('T0ACME', 'deploys')).toMatchObject([{ text: 'root', reply_count: 2 }]);
    expect(slack.thread('T0ACME', 'deploys', root).map((one) => one.text)).toEqual(['one', 'two']);
  });

  it('reaches a person by their id', async () => {
    const { slack, token } = await startSetting();
    const { channel } = await clientOf(slack, token).chat.postMessage({ channel: 'U0MAX', text: 'psst' });
    expect(channel).toMatch(/^D/);
    expect(slack.dms('T0ACME', 'U0MAX')).toMatchObject([{ text: 'psst' }]);
    const { channel: opened } = await clientOf(slack, token).conversations.open({ users: 'U0MAX' });
    expect(opened?.id).toBe(channel);
  });

  it.each([
    ['an unknown channel', { channel: 'C0NONE', text: 'x' }, 'channel_not_found'],
    ['a private channel the bot is not in', { channel: 'C0PRIV', text: 'x' }, 'channel_not_found'],
    ['a public channel the bot is not in', { channel: 'C0OTHER', text: 'x' }, 'not_in_channel'],
    ['an archived channel', { channel: 'C0OLD', text: 'x' }, 'is_archived'],
    ['nothing to say', { channel: 'C0DEPLOY', text: '' }, 'no_text'],
    ['blocks that are no list', { channel: 'C0DEPLOY', text: 'x', blocks: '{}' }, 'invalid_blocks_format'],
    [
      'too many attachments',
      { channel: 'C0DEPLOY', attachments: Array(101).fill({ text: 'a' }) },
      'too_many_attachments',
    ],
    ['text twice', { channel: 'C0DEPLOY', text: 'x', markdown_text: 'y' }, 'markdown_text_conflict'],
  ])('refuses %s', async (_what, args, error) => {
    const { slack, token } = await startSetting();
    expect((await refusalOf(clientOf(slack, token).apiCall('chat.postMessage', args))).error).toBe(error);
    expect(slack.messages('T0ACME', 'deploys')).toEqual([]);
  });

  it('says what is wrong with blocks', async () => {
    const { slack, token } = await startSetting();
    const post = clientOf(slack, token).chat.postMessage({
      channel: 'C0DEPLOY',
      text: 'x',
      blocks: [header('x'.repeat(151))],
    });
    expect(await refusalOf(post)).toEqual({
      error: 'invalid_blocks',
      messages: ['[ERROR] must be less than 151 characters [json-pointer:/blocks/0/text/text]'],
    });
  });

  it('cuts text over 40,000 characters and says so', async () => {
    const { slack, token } = await startSetting();
    const answer = await clientOf(slack, token).chat.postMessage({
      channel: 'C0DEPLOY',
      text: 'x'.repeat(40_001),
    });
    expect(answer).toMatchObject({ warning: 'message_truncated' });
    expect(slack.messages('T0ACME', 'deploys')[0]?.text).toHaveLength(40_000);
  });

  it('posts the same client_msg_id twice, for nothing says it would not', async () => {
    const { slack, token } = await startSetting();
    const client = clientOf(slack, token);
    const args = { channel: 'C0DEPLOY', text: 'x', client_msg_id: '3f2b7d0e-0000-4000-8000-000000000000' };
    await client.apiCall('chat.postMessage', args);
    await client.apiCall('chat.postMessage', args);
    expect(slack.messages('T0ACME', 'deploys')).toMatchObject([
      { client_msg_id: args.client_msg_id },
      { client_msg_id: args.client_msg_id },
    ]);
  });
});

describe('chat.update', () => {
  it('changes a message and keeps what it said before', async () => {
    const { slack, token } = await startSetting();
    const { chat } = clientOf(slack, token);
    const { ts = '' } = await chat.postMessage({
      channel: 'C0DEPLOY',
      text: 'running',
      blocks: [header('a')],
    });
    await chat.update({ channel: 'C0DEPLOY', ts, text: 'done', blocks: [header('b')] });
    expect(slack.messages('T0ACME', 'deploys')).toMatchObject([
      { ts, text: 'done', edited: { user: expect.any(String) }, edits: [{ text: 'running' }] },
    ]);
  });

  it('takes the blocks away where only text is given', async () => {
    const { slack, token } = await startSetting();
    const { chat } = clientOf(slack, token);
    const { ts = '' } = await chat.postMessage({ channel: 'C0DEPLOY', text: 'a', blocks: [header('a')] });
    await chat.update({ channel: 'C0DEPLOY', ts, text: 'b' });
    expect(slack.messages('T0ACME', 'deploys')[0]).not.toHaveProperty('blocks');
  });

  it('refuses what is not there, not ours, too long or archived', async () => {
    const { slack, token } = await startSetting();
    const client = clientOf(slack, token);
    const update = async (args: { ts: string; text: string }) =>
      (await refusalOf(client.chat.update({ channel: 'C0DEPLOY', ...args }))).error;
    expect(await update({ ts: '1.1', text: 'x' })).toBe('message_not_found');
    const theirs = await slack.as('T0ACME', 'U0MAX').postMessage('deploys', 'mine');
    expect(await update({ ts: theirs.ts, text: 'x' })).toBe('cant_update_message');
    const { ts = '' } = await client.chat.postMessage({ channel: 'C0DEPLOY', text: 'x' });
    expect(await update({ ts, text: 'x'.repeat(4001) })).toBe('msg_too_long');
    slack.archiveChannel('T0ACME', 'deploys');
    expect(await update({ ts, text: 'x' })).toBe('is_inactive');
  });
});

describe('other messages', () => {
  it('can be deleted by who wrote them', async () => {
    const { slack, token } = await startSetting();
    const { chat } = clientOf(slack, token);
    const { ts = '' } = await chat.postMessage({ channel: 'C0DEPLOY', text: 'x' });
    await chat.delete({ channel: 'C0DEPLOY', ts });
    expect(slack.messages('T0ACME', 'deploys')).toEqual([]);
    expect((await refusalOf(chat.delete({ channel: 'C0DEPLOY', ts }))).error).toBe('message_not_found');
    const theirs = await slack.as('T0ACME', 'U0MAX').postMessage('deploys', 'mine');
    const refused = chat.delete({ channel: 'C0DEPLOY', ts: theirs.ts });
    expect((await refusalOf(refused)).error).toBe('cant_delete_message');
  });

  it('are seen by one person only where they are ephemeral, and nobody can edit those', async () => {
    const { slack, token } = await startSetting();
    const { chat } = clientOf(slack, token);
    const { message_ts: ts = '' } = await chat.postEphemeral({
      channel: 'C0DEPLOY',
      user: 'U0MAX',
      text: 'x',
    });
    expect(slack.ephemerals('T0ACME', 'U0MAX')).toMatchObject([{ ts, text: 'x', ephemeral: true }]);
    expect(slack.ephemerals('T0ACME', 'U0ANNA')).toEqual([]);
    expect(slack.messages('T0ACME', 'deploys')).toEqual([]);
    const refused = chat.update({ channel: 'C0DEPLOY', ts, text: 'y' });
    expect((await refusalOf(refused)).error).toBe('message_not_found');
  });

  it('are shown to one person in a thread only once it has begun', async () => {
    const { slack, token } = await startSetting();
    const { chat } = clientOf(slack, token);
    const root = await chat.postMessage({ channel: 'C0DEPLOY', text: 'root' });
    const place = { channel: 'C0DEPLOY', thread_ts: root.ts ?? '' };
    const unseen = await chat.postEphemeral({ ...place, user: 'U0MAX', text: 'early' });
    await chat.postMessage({ ...place, text: 'reply' });
    await chat.postEphemeral({ ...place, user: 'U0MAX', text: 'x' });
    expect(unseen.ok).toBe(true);
    expect(slack.ephemerals('T0ACME', 'U0MAX').map(({ text }) => text)).toEqual(['x']);
  });

  it('cannot be whispered to somebody who is not there', async () => {
    const { slack, token } = await startSetting();
    slack.kick('T0ACME', 'deploys', 'U0MAX');
    const refused = clientOf(slack, token).chat.postEphemeral({
      channel: 'C0DEPLOY',
      user: 'U0MAX',
      text: 'x',
    });
    expect((await refusalOf(refused)).error).toBe('user_not_in_channel');
  });

  it('have a permalink', async () => {
    const { slack, token } = await startSetting();
    const { chat } = clientOf(slack, token);
    const { ts = '' } = await chat.postMessage({ channel: 'C0DEPLOY', text: 'x' });
    const { permalink } = await chat.getPermalink({ channel: 'C0DEPLOY', message_ts: ts });
    expect(permalink).toBe(`https://acme.slack.com/archives/C0DEPLOY/p${ts.replace('.', '')}`);
  });

  it('can be read back only with a history scope', async () => {
    const app = { botScopes: ['chat:write', 'channels:history'] };
    const { slack, token } = await startSetting({ app });
    const client = clientOf(slack, token);
    const { ts = '' } = await client.chat.postMessage({ channel: 'C0DEPLOY', text: 'root' });
    await client.chat.postMessage({ channel: 'C0DEPLOY', text: 'reply', thread_ts: ts });
    const history = await client.conversations.history({ channel: 'C0DEPLOY' });
    expect(history.messages?.map((one) => one.text)).toEqual(['root']);
    const replies = await client.conversations.replies({ channel: 'C0DEPLOY', ts });
    expect(replies.messages?.map((one) => one.text)).toEqual(['root', 'reply']);
  });
});
