import { describe, expect, it } from 'vitest';
import type { Policy } from '../../slack/state/types.ts';
import { errorOf, lastSent, refusalOf, startSetting } from './setting.ts';

const DEPLOYS = { channel: 'C0DEPLOY' };
const section = { type: 'section', text: { type: 'mrkdwn', text: 'x' } };

async function withRoot() {
  const setting = await startSetting();
  const { client, slack, anna } = setting;
  const { ts = '' } = await client.chat.postMessage({ ...DEPLOYS, text: 'root' });
  const forbid = (policy: Policy) => slack.policy('T0ACME', policy);
  const post = (args: object) => client.chat.postMessage({ ...DEPLOYS, text: 'x', ...args });
  const file = { file: Buffer.from('png'), filename: 'chart.png' };
  const acts = {
    post: () => post({}),
    reply: () => post({ thread_ts: ts }),
    edit: () => client.chat.update({ ...DEPLOYS, ts, text: 'changed' }),
    whisper: () => client.chat.postEphemeral({ ...DEPLOYS, user: 'U0ANNA', text: 'x' }),
    announce: () => client.files.getUploadURLExternal({ filename: 'invoice.pdf', length: 3 }),
    share: () => client.filesUploadV2({ channel_id: 'C0DEPLOY', ...file }),
    look: () => client.users.info({ user: 'U0ANNA' }),
  };
  /** Answers a command by its response_url. */
  async function withUrl() {
    await anna.command('deploys', '/deckhand');
    const { response_url } = lastSent(setting);
    return async () => {
      const response = await fetch(response_url, { method: 'POST', body: JSON.stringify({ text: 'x' }) });
      return [response.status, ((await response.json()) as { error: string }).error];
    };
  }
  return { ...setting, forbid, post, acts, withUrl };
}

type Act = keyof Awaited<ReturnType<typeof withRoot>>['acts'];

/** Each act with the policy that refuses it, the errors of it, and what works beside it. */
const REFUSALS: [act: Act, policy: string, errors: string, beside?: Act][] = [
  [
    'reply',
    'threads',
    `restricted_action restricted_action_non_threadable_channel restricted_action_thread_locked
      cannot_reply_to_message`,
    'post',
  ],
  ['edit', 'edits', 'update_failed edit_window_closed is_inactive cant_update_message', 'post'],
  ['whisper', 'ephemerals', 'user_not_in_channel not_in_channel channel_not_found is_archived', 'post'],
  ['look', 'access', 'enterprise_is_restricted team_access_not_granted'],
  ['post', 'topLevel', 'restricted_action_thread_only_channel', 'reply'],
  ['post', 'posts', 'restricted_action_read_only_channel', 'edit'],
  ['announce', 'uploads', 'file_uploads_disabled storage_limit_reached', 'post'],
  ['announce', 'uploads', 'file_uploads_except_images_disabled', 'share'],
  ['share', 'sharing', 'posting_to_channel_denied', 'post'],
];
const CASES: [policy: Policy, act: Act, error: string, beside: Act | undefined][] = [
  ...REFUSALS.flatMap(([act, policy, errors, beside]) =>
    errors.split(/\s+/).map((error): (typeof CASES)[number] => [{ [policy]: error }, act, error, beside]),
  ),
  [{ fileTypes: ['png'] }, 'announce', 'file_type_not_allowed', 'share'],
  [{ posts: 'restricted_action' }, 'share', 'posting_to_channel_denied', 'announce'],
];

describe('a policy of a workspace', () => {
  it.each(CASES)(
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
  ])('are refused if %s', async (_why, error, who) => {
    const { slack, acts } = await withRoot();
    slack.kick('T0ACME', 'deploys', who);
    expect(await errorOf(acts.whisper())).toBe(error);
  });

  it('by response_url are refused by a policy, and end with their channel', async () => {
    const { slack, forbid, withUrl } = await withRoot();
    const answer = await withUrl();
    for (const responseUrls of ['used_url', 'expired_url'] as const) {
      const allow = forbid({ responseUrls });
      expect(await answer()).toEqual([404, responseUrls]);
      allow();
      expect(await answer()).toEqual([200, undefined]);
    }
    slack.archiveChannel('T0ACME', 'deploys');
    expect(await answer()).toEqual([400, 'is_archived']);
    slack.deleteChannel('T0ACME', 'deploys');
    expect(await answer()).toEqual([400, 'channel_not_found']);
  });
});
