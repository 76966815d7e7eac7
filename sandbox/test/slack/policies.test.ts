import { describe, expect, it } from 'vitest';
import type { Policy } from '../../slack/state/types.ts';
import { errorOf, lastSent, refusalOf, startSetting } from './setting.ts';

const DEPLOYS = { channel: 'C0DEPLOY' };
const THREADS_ONLY = 'restricted_action_thread_only_channel';
const IMAGES_ONLY = 'file_uploads_except_images_disabled';
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

/** A policy of each kind, the act that it refuses, with which error, and what works beside it. */
const REFUSALS: [policy: Policy, act: Act, error: string, beside?: Act][] = [
  [{ threads: 'cannot_reply_to_message' }, 'reply', 'cannot_reply_to_message', 'post'],
  [{ edits: 'edit_window_closed' }, 'edit', 'edit_window_closed', 'post'],
  [{ ephemerals: 'user_not_in_channel' }, 'whisper', 'user_not_in_channel', 'post'],
  [{ access: 'enterprise_is_restricted' }, 'look', 'enterprise_is_restricted'],
  [{ topLevel: THREADS_ONLY }, 'post', THREADS_ONLY, 'reply'],
  [{ posts: 'restricted_action' }, 'post', 'restricted_action', 'edit'],
  [{ posts: 'restricted_action' }, 'share', 'posting_to_channel_denied', 'announce'],
  [{ uploads: 'storage_limit_reached' }, 'announce', 'storage_limit_reached', 'post'],
  [{ uploads: IMAGES_ONLY }, 'announce', IMAGES_ONLY, 'share'],
  [{ fileTypes: ['png'] }, 'announce', 'file_type_not_allowed', 'share'],
  [{ sharing: 'posting_to_channel_denied' }, 'share', 'posting_to_channel_denied', 'post'],
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
