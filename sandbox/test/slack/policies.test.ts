import { describe, expect, it } from 'vitest';
import type { Policy } from '../../slack/state/types.ts';
import { errorOf, lastSent, refusalOf, startSetting } from './setting.ts';

const DEPLOYS = { channel: 'C0DEPLOY' };
const section = { type: 'section', text: { type: 'mrkdwn', text: 'x' } };

async function withRoot() {
  const setting = await startSetting();
  const { client, slack, anna } = setting;
  const { ts = '' } = await client.chat.postMessage({ ...DEPLOYS, text: 'root' });
  await anna.command('deploys', '/deckhand');
  const { response_url: url } = lastSent(setting);
  const forbid = (policy: Policy) => slack.policy('T0ACME', policy);
  const post = (args: object) => client.chat.postMessage({ ...DEPLOYS, text: 'x', ...args });
  const whisper = () => client.chat.postEphemeral({ ...DEPLOYS, user: 'U0ANNA', text: 'x' });
  const announce = (filename: string) => client.files.getUploadURLExternal({ filename, length: 3 });
  const file = { file: Buffer.from('png'), filename: 'chart.png' };
  const acts = {
    post: () => post({}),
    reply: () => post({ thread_ts: ts }),
    edit: () => client.chat.update({ ...DEPLOYS, ts, text: 'changed' }),
    whisper,
    announce: () => announce('invoice.pdf'),
    share: () => client.filesUploadV2({ channel_id: 'C0DEPLOY', ...file }),
    look: () => client.users.info({ user: 'U0ANNA' }),
  };
  return { ...setting, ts, url, forbid, post, announce, acts };
}

type Act = keyof Awaited<ReturnType<typeof withRoot>>['acts'];

const threads = [
  'restricted_action',
  'restricted_action_non_threadable_channel',
  'restricted_action_thread_locked',
  'cannot_reply_to_message',
] as const;
const edits = ['update_failed', 'edit_window_closed', 'is_inactive', 'cant_update_message'] as const;
const ephemerals = ['user_not_in_channel', 'not_in_channel', 'channel_not_found', 'is_archived'] as const;
const access = ['enterprise_is_restricted', 'team_access_not_granted'] as const;

/** What is refused under a policy, with which error, and what works beside it. */
const REFUSALS: [policy: Policy, act: Act, error: string, beside: Act | undefined][] = [
  ...threads.map((error) => [{ threads: error }, 'reply', error, 'post'] as [Policy, Act, string, Act]),
  ...edits.map((error) => [{ edits: error }, 'edit', error, 'post'] as [Policy, Act, string, Act]),
  ...ephemerals.map(
    (error) => [{ ephemerals: error }, 'whisper', error, 'post'] as [Policy, Act, string, Act],
  ),
  ...access.map((error) => [{ access: error }, 'look', error, undefined] as [Policy, Act, string, undefined]),
  [
    { topLevel: 'restricted_action_thread_only_channel' },
    'post',
    'restricted_action_thread_only_channel',
    'reply',
  ],
  [{ posts: 'restricted_action_read_only_channel' }, 'post', 'restricted_action_read_only_channel', 'edit'],
  [{ uploads: 'file_uploads_disabled' }, 'announce', 'file_uploads_disabled', 'post'],
  [{ uploads: 'storage_limit_reached' }, 'announce', 'storage_limit_reached', 'post'],
  [
    { uploads: 'file_uploads_except_images_disabled' },
    'announce',
    'file_uploads_except_images_disabled',
    'share',
  ],
  [{ fileTypes: ['png'] }, 'announce', 'file_type_not_allowed', 'share'],
  [{ sharing: 'posting_to_channel_denied' }, 'share', 'posting_to_channel_denied', 'post'],
  [{ posts: 'restricted_action' }, 'share', 'posting_to_channel_denied', 'announce'],
];

describe('a policy of a workspace', () => {
  it.each(REFUSALS)(
    '%j refuses %s with %s, and not %s, until it is lifted',
    async (policy, act, error, beside) => {
      const { slack, acts, forbid } = await withRoot();
      const before = slack.messages('T0ACME', 'deploys');
      const allow = forbid(policy);
      expect(await errorOf(acts[act]())).toBe(error);
      expect(slack.messages('T0ACME', 'deploys')).toEqual(before);
      expect(slack.files('T0ACME')).toEqual([]);
      if (beside !== undefined) await acts[beside]();
      allow();
      await acts[act]();
    },
  );

  it('refuses blocks that are too long, or of a type it does not have', async () => {
    const { post, forbid } = await withRoot();
    forbid({ longestBlocks: 100 });
    forbid({ refusedBlocks: ['table'] });
    expect(await errorOf(post({ blocks: [section, section] }))).toBe('msg_blocks_too_long');
    await post({ blocks: [section] });
    const table = { type: 'table', rows: [[{ type: 'raw_text', text: 'x' }]] };
    expect(await refusalOf(post({ blocks: [section, table] }))).toEqual({
      error: 'invalid_blocks',
      messages: ['[ERROR] unsupported type: table [json-pointer:/blocks/1/type]'],
    });
  });
});

describe('private answers', () => {
  it.each([
    ['the person has left', 'user_not_in_channel', 'U0ANNA'],
    ['the app has been put out', 'not_in_channel', 'bot'],
  ])('are refused where %s', async (_why, error, who) => {
    const { slack, acts } = await withRoot();
    slack.kick('T0ACME', 'deploys', who);
    expect(await errorOf(acts.whisper())).toBe(error);
  });

  it.each(['used_url', 'expired_url'] as const)(
    'by response_url are refused with %s',
    async (responseUrls) => {
      const { url, forbid } = await withRoot();
      const allow = forbid({ responseUrls });
      expect(await answerOf(url)).toEqual([404, responseUrls]);
      allow();
      expect((await answerOf(url))[0]).toBe(200);
    },
  );

  it('by response_url end with their channel', async () => {
    const { slack, url } = await withRoot();
    slack.archiveChannel('T0ACME', 'deploys');
    expect(await answerOf(url)).toEqual([400, 'is_archived']);
    slack.deleteChannel('T0ACME', 'deploys');
    expect(await answerOf(url)).toEqual([400, 'channel_not_found']);
  });
});

async function answerOf(url: string): Promise<[number, string]> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify({ text: 'x' }) });
  const { error } = (await response.json()) as { error: string };
  return [response.status, error];
}
