import { describe, expect, it } from 'vitest';
import type { Policy } from '../../slack/state/types.ts';
import { ACME, clientOf, refusalOf, startSetting } from './setting.ts';

const DEPLOYS = { channel: 'C0DEPLOY' };
const section = { type: 'section', text: { type: 'mrkdwn', text: 'x' } } as const;

async function withRoot() {
  const setting = await startSetting();
  const client = clientOf(setting.slack, setting.token);
  const { ts = '' } = await client.chat.postMessage({ ...DEPLOYS, text: 'root' });
  const forbid = (policy: Policy) => setting.slack.policy('T0ACME', policy);
  return { ...setting, client, ts, forbid };
}

describe('a channel where threads are not allowed', () => {
  it.each([
    'restricted_action',
    'restricted_action_non_threadable_channel',
    'restricted_action_thread_locked',
    'cannot_reply_to_message',
  ] as const)('refuses replies with %s, and nothing else, until it allows them', async (threads) => {
    const { slack, client, ts, forbid } = await withRoot();
    const allow = forbid({ channel: 'deploys', threads });
    const reply = () => client.chat.postMessage({ ...DEPLOYS, thread_ts: ts, text: 'reply' });
    expect((await refusalOf(reply())).error).toBe(threads);
    await client.chat.postMessage({ ...DEPLOYS, text: 'another root' });
    await client.chat.postMessage({ channel: 'U0ANNA', thread_ts: '1.2', text: 'elsewhere' });
    allow();
    await reply();
    expect(slack.thread('T0ACME', 'deploys', ts)).toHaveLength(1);
  });

  it('may have one locked thread among others', async () => {
    const { client, ts, forbid } = await withRoot();
    const { ts: other = '' } = await client.chat.postMessage({ ...DEPLOYS, text: 'other' });
    forbid({ channel: 'C0DEPLOY', thread: ts, threads: 'restricted_action_thread_locked' });
    const reply = (thread_ts: string) => client.chat.postMessage({ ...DEPLOYS, thread_ts, text: 'x' });
    expect((await refusalOf(reply(ts))).error).toBe('restricted_action_thread_locked');
    await reply(other);
  });

  it('refuses what is no reply where there are threads only', async () => {
    const { client, ts, forbid } = await withRoot();
    forbid({ channel: 'deploys', topLevel: 'restricted_action_thread_only_channel' });
    const refused = client.chat.postMessage({ ...DEPLOYS, text: 'root' });
    expect((await refusalOf(refused)).error).toBe('restricted_action_thread_only_channel');
    await client.chat.postMessage({ ...DEPLOYS, thread_ts: ts, text: 'reply' });
  });

  it('may be so from the start', async () => {
    const policy = { posts: 'restricted_action_read_only_channel' } as const;
    const channels = [{ id: 'C0DEPLOY', name: 'deploys', policy }];
    const { slack, token } = await startSetting({}, { channels });
    const refused = clientOf(slack, token).chat.postMessage({ ...DEPLOYS, text: 'x' });
    expect((await refusalOf(refused)).error).toBe('restricted_action_read_only_channel');
  });
});

describe('a workspace that does not allow edits', () => {
  it.each(['update_failed', 'edit_window_closed', 'is_inactive', 'cant_update_message'] as const)(
    'refuses them with %s',
    async (edits) => {
      const { slack, client, ts, forbid } = await withRoot();
      const allow = forbid({ edits });
      const edit = () => client.chat.update({ ...DEPLOYS, ts, text: 'changed' });
      expect((await refusalOf(edit())).error).toBe(edits);
      expect(slack.messages('T0ACME', 'deploys')).toMatchObject([{ text: 'root', edits: [] }]);
      allow();
      await edit();
    },
  );
});

describe('private answers', () => {
  const onlyForAnna = { ...DEPLOYS, user: 'U0ANNA', text: 'x' };

  it.each(['user_not_in_channel', 'not_in_channel', 'channel_not_found', 'is_archived'] as const)(
    'are refused with %s by a policy',
    async (ephemerals) => {
      const { client, forbid } = await withRoot();
      forbid({ channel: 'deploys', ephemerals });
      expect((await refusalOf(client.chat.postEphemeral(onlyForAnna))).error).toBe(ephemerals);
      await client.chat.postMessage({ ...DEPLOYS, text: 'still heard' });
    },
  );

  it.each([
    ['the person has left', 'user_not_in_channel', 'U0ANNA'],
    ['the app has been put out', 'not_in_channel', 'bot'],
  ])('are refused where %s', async (_why, error, who) => {
    const { slack, client } = await withRoot();
    slack.kick('T0ACME', 'deploys', who);
    expect((await refusalOf(client.chat.postEphemeral(onlyForAnna))).error).toBe(error);
  });

  it.each([
    { policy: { responseUrls: 'used_url' }, answer: [404, 'used_url'] },
    { policy: { responseUrls: 'expired_url' }, answer: [404, 'expired_url'] },
  ] as const)('by response_url are refused from the first with $policy.responseUrls', async (given) => {
    const { slack, app, forbid } = await withRoot();
    await slack.as('T0ACME', 'U0ANNA').command('deploys', '/deckhand');
    const url = app.received.at(-1)?.payload.response_url;
    const allow = forbid(given.policy);
    expect(await answerOf(url)).toEqual(given.answer);
    allow();
    expect((await answerOf(url))[0]).toBe(200);
  });

  it('by response_url end with their channel', async () => {
    const { slack, app } = await withRoot();
    await slack.as('T0ACME', 'U0ANNA').command('deploys', '/deckhand');
    const url = app.received.at(-1)?.payload.response_url;
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

describe('files', () => {
  const announce = (filename: string) => ({ filename, length: 3 });

  it.each([
    ['file_uploads_disabled', 'chart.png'],
    ['storage_limit_reached', 'chart.png'],
    ['file_uploads_except_images_disabled', 'invoice.pdf'],
  ] as const)('are refused with %s', async (uploads, filename) => {
    const { client, forbid } = await withRoot();
    forbid({ uploads });
    const refused = client.files.getUploadURLExternal(announce(filename));
    expect((await refusalOf(refused)).error).toBe(uploads);
  });

  it('that are pictures pass where nothing else does', async () => {
    const { client, forbid } = await withRoot();
    forbid({ uploads: 'file_uploads_except_images_disabled' });
    await client.files.getUploadURLExternal(announce('chart.png'));
  });

  it('of other types than the allowed are refused', async () => {
    const { client, forbid } = await withRoot();
    forbid({ fileTypes: ['png'] });
    const refused = client.files.getUploadURLExternal(announce('invoice.pdf'));
    expect((await refusalOf(refused)).error).toBe('file_type_not_allowed');
  });

  it.each([[{ sharing: 'posting_to_channel_denied' }], [{ posts: 'restricted_action' }]] as const)(
    'are refused by a channel with %j after their bytes came',
    async (policy) => {
      const { slack, client, forbid } = await withRoot();
      forbid({ channel: 'deploys', ...policy });
      const file = Buffer.from('png');
      const refused = client.filesUploadV2({ channel_id: 'C0DEPLOY', file, filename: 'chart.png' });
      expect((await refusalOf(refused)).error).toBe('posting_to_channel_denied');
      expect(slack.files('T0ACME')).toEqual([]);
    },
  );
});

describe('a workspace’s other limits', () => {
  it('refuse blocks that are too long, or of a type it does not have', async () => {
    const { client, forbid } = await withRoot();
    forbid({ longestBlocks: 100 });
    forbid({ refusedBlocks: ['table'] });
    const post = (blocks: object[]) =>
      client.apiCall('chat.postMessage', { ...DEPLOYS, text: 'x', blocks: JSON.stringify(blocks) });
    expect((await refusalOf(post([section, section]))).error).toBe('msg_blocks_too_long');
    await post([section]);
    const table = { type: 'table', rows: [[{ type: 'raw_text', text: 'x' }]] };
    expect(await refusalOf(post([section, table]))).toEqual({
      error: 'invalid_blocks',
      messages: ['[ERROR] unsupported type: table [json-pointer:/blocks/1/type]'],
    });
  });

  it.each(['enterprise_is_restricted', 'team_access_not_granted'] as const)(
    'refuse every call with %s',
    async (access) => {
      const { client, forbid } = await withRoot();
      const allow = forbid({ access });
      expect((await refusalOf(client.chat.postMessage({ ...DEPLOYS, text: 'x' }))).error).toBe(access);
      expect((await refusalOf(client.users.info({ user: 'U0ANNA' }))).error).toBe(access);
      allow();
      await client.users.info({ user: 'U0ANNA' });
    },
  );

  it('know a workspace that the organisation has not given to the app', async () => {
    const enterprise = { id: 'E0ORG', name: 'Acme Group' };
    const { slack } = await startSetting({}, { ...ACME, enterprise, installed: false });
    slack.addWorkspace({ id: 'T0TWO', enterprise, installed: false, users: [], channels: [] });
    const client = clientOf(slack, slack.installOrganisation('E0ORG'));
    slack.changeTeamAccess('T0TWO', false);
    const refused = client.users.list({ team_id: 'T0TWO' });
    expect((await refusalOf(refused)).error).toBe('team_access_not_granted');
    expect((await refusalOf(client.users.list({ team_id: 'T0NONE' }))).error).toBe('team_not_found');
  });
});

describe('faults', () => {
  it('may hit one channel, or thread replies alone', async () => {
    const { slack, client, ts } = await withRoot();
    slack.fault({
      method: 'chat.postMessage',
      channel: 'C0DEPLOY',
      replies: true,
      error: 'restricted_action_thread_locked',
    });
    const refused = client.chat.postMessage({ ...DEPLOYS, thread_ts: ts, text: 'x' });
    expect((await refusalOf(refused)).error).toBe('restricted_action_thread_locked');
    await client.chat.postMessage({ ...DEPLOYS, text: 'x' });
    await client.chat.postMessage({ channel: 'U0ANNA', thread_ts: ts, text: 'x' });
  });

  it('may hit answers to a response_url, and are not meant there by a fault of all methods', async () => {
    const { slack, app } = await withRoot();
    await slack.as('T0ACME', 'U0ANNA').command('deploys', '/deckhand');
    const url = app.received.at(-1)?.payload.response_url;
    slack.fault({ method: '*', error: 'fatal_error' });
    expect((await answerOf(url))[0]).toBe(200);
    slack.fault({ method: 'response_url', status: 500, times: 1 });
    expect(await answerOf(url)).toEqual([500, 'internal_error']);
    slack.fault({ method: 'response_url', status: 429, retryAfter: 7, times: 1 });
    const slow = await fetch(url, { method: 'POST', body: JSON.stringify({ text: 'x' }) });
    expect([slow.status, slow.headers.get('retry-after')]).toEqual([429, '7']);
    slack.fault({ method: 'response_url', drop: 'after', times: 1 });
    await expect(answerOf(url)).rejects.toThrow('fetch failed');
    expect(slack.ephemerals('T0ACME', 'U0ANNA')).toHaveLength(2);
  });
});
