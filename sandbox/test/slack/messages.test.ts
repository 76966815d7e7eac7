import { describe, expect, it } from 'vitest';
import { errorOf, startSetting } from './setting.ts';

const channel = 'C0DEPLOY';

describe('chat.postMessage', () => {
  it.each([
    ['an unknown channel', { channel: 'C0NONE' }, 'channel_not_found'],
    ['a private channel the bot is not in', { channel: 'C0PRIV' }, 'channel_not_found'],
    ['a public channel the bot is not in', { channel: 'C0OTHER' }, 'not_in_channel'],
    ['an archived channel', { channel: 'C0OLD' }, 'is_archived'],
    ['nothing to say', { text: '' }, 'no_text'],
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
    const args = {
      channel,
      text: 'two',
      thread_ts: ts,
      client_msg_id: '3f2b7d0e-0000-4000-8000-000000000000',
    };
    await client.apiCall('chat.postMessage', args);
    await client.apiCall('chat.postMessage', args);
    expect(slack.messages('T0ACME', 'deploys')).toMatchObject([{ text: 'root', reply_count: 3 }]);
    const again = { text: 'two', client_msg_id: args.client_msg_id };
    expect(slack.thread('T0ACME', 'deploys', root)).toMatchObject([{ text: 'one' }, again, again]);
  });
});

describe('a message', () => {
  it('is not changed or deleted if it is not there, not ours, too long or archived', async () => {
    const { slack, client } = await startSetting();
    const update = (ts: string, text = 'x') => errorOf(client.chat.update({ channel, ts, text }));
    expect(await update('1.1')).toBe('message_not_found');
    const theirs = await slack.as('T0ACME', 'U0MAX').postMessage('deploys', 'mine');
    expect(await update(theirs.ts)).toBe('cant_update_message');
    expect(await errorOf(client.chat.delete({ channel, ts: theirs.ts }))).toBe('cant_delete_message');
    const { ts = '' } = await client.chat.postMessage({ channel, text: 'x' });
    expect(await update(ts, 'x'.repeat(4001))).toBe('msg_too_long');
    slack.archiveChannel('T0ACME', 'deploys');
    expect(await update(ts)).toBe('is_inactive');
  });

  it('to one person is seen by nobody else, in a thread only once it has begun, and never edited', async () => {
    const { slack, client } = await startSetting();
    const whisper = (text: string, thread = {}) =>
      client.chat.postEphemeral({ channel, user: 'U0MAX', text, ...thread });
    const { ts: thread_ts = '' } = await client.chat.postMessage({ channel, text: 'root' });
    expect((await whisper('early', { thread_ts })).ok).toBe(true);
    await client.chat.postMessage({ channel, thread_ts, text: 'reply' });
    await whisper('in the thread', { thread_ts });
    const { message_ts: ts = '' } = await whisper('x');
    const seen = slack.ephemerals('T0ACME', 'U0MAX');
    expect(seen).toMatchObject([{ text: 'in the thread' }, { ts, text: 'x', ephemeral: true }]);
    expect(slack.ephemerals('T0ACME', 'U0ANNA')).toEqual([]);
    expect(slack.messages('T0ACME', 'deploys')).toHaveLength(1);
    expect(await errorOf(client.chat.update({ channel, ts, text: 'y' }))).toBe('message_not_found');
    slack.kick('T0ACME', 'deploys', 'U0MAX');
    expect(await errorOf(whisper('gone'))).toBe('user_not_in_channel');
  });
});
