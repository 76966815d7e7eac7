import { describe, expect, it } from 'vitest';
import { clientOf, refusalOf, startSetting } from './setting.ts';

const PNG = Buffer.from('iVBORw0KGgo=', 'base64');

describe('uploading', () => {
  it('with the client puts a file into a thread', async () => {
    const { slack, token } = await startSetting();
    const client = clientOf(slack, token);
    const { ts = '' } = await client.chat.postMessage({ channel: 'C0DEPLOY', text: 'digest' });
    await client.filesUploadV2({
      channel_id: 'C0DEPLOY',
      thread_ts: ts,
      file: PNG,
      filename: 'week.png',
      title: 'This week',
      initial_comment: 'see',
    });
    expect(slack.thread('T0ACME', 'deploys', ts)).toMatchObject([
      {
        text: 'see',
        files: [{ name: 'week.png', title: 'This week', mimetype: 'image/png', size: PNG.length }],
      },
    ]);
    expect(slack.files('T0ACME')).toMatchObject([{ bytes: PNG }]);
  });

  it('goes in three steps, and the answer says no more than documented', async () => {
    const { slack, token } = await startSetting();
    const { files } = clientOf(slack, token);
    const { upload_url = '', file_id: id = '' } = await files.getUploadURLExternal({
      filename: 'a.pdf',
      length: 4,
    });
    const early = files.completeUploadExternal({ files: [{ id }], channel_id: 'C0DEPLOY' });
    expect((await refusalOf(early)).error).toBe('file_update_failed');
    const uploaded = await fetch(upload_url, { method: 'POST', body: '%PDF' });
    expect([uploaded.status, await uploaded.text()]).toEqual([200, 'OK - 4']);
    const completed = await files.completeUploadExternal({ files: [{ id, title: 'Invoice' }] });
    expect(completed.files).toEqual([{ id, title: 'Invoice' }]);
    expect(slack.messages('T0ACME', 'deploys')).toEqual([]);
    expect((await fetch(upload_url, { method: 'POST', body: '%PDF' })).status).toBe(404);
  });

  it('takes a description for screen readers, by the documented name', async () => {
    const { slack, token } = await startSetting();
    const client = clientOf(slack, token);
    const announce = { filename: 'a.png', length: PNG.length };
    const long = client.apiCall('files.getUploadURLExternal', { ...announce, alt_txt: 'x'.repeat(1001) });
    expect((await refusalOf(long)).error).toBe('alt_txt_too_large');
    const answer = await client.apiCall('files.getUploadURLExternal', { ...announce, alt_txt: 'Bars' });
    const { upload_url, file_id } = answer as { upload_url?: string; file_id?: string };
    await fetch(upload_url ?? '', { method: 'POST', body: PNG });
    await client.files.completeUploadExternal({ files: [{ id: file_id ?? '' }] });
    expect(slack.files('T0ACME')).toMatchObject([{ altText: 'Bars' }]);
  });

  it.each([
    ['a channel the bot is not in', { channel_id: 'C0OTHER' }, 'not_in_channel'],
    ['an unknown channel', { channel_id: 'C0NONE' }, 'channel_not_found'],
    ['an archived channel', { channel_id: 'C0OLD' }, 'posting_to_channel_denied'],
  ])('is refused for %s', async (_what, args, error) => {
    const { slack, token } = await startSetting();
    const client = clientOf(slack, token);
    const { upload_url = '', file_id: id = '' } = await client.files.getUploadURLExternal({
      filename: 'a',
      length: 1,
    });
    await fetch(upload_url, { method: 'POST', body: 'x' });
    const refused = client.apiCall('files.completeUploadExternal', { files: [{ id }], ...args });
    expect((await refusalOf(refused)).error).toBe(error);
  });

  it('of a picture lets messages show it, and of nothing else', async () => {
    const { slack, token } = await startSetting();
    const client = clientOf(slack, token);
    const upload = async (filename: string) => {
      const announced = await client.files.getUploadURLExternal({ filename, length: PNG.length });
      await fetch(announced.upload_url ?? '', { method: 'POST', body: PNG });
      await client.files.completeUploadExternal({ files: [{ id: announced.file_id ?? '' }] });
      return announced.file_id ?? '';
    };
    const show = (id: string) =>
      client.chat.postMessage({
        channel: 'C0DEPLOY',
        text: 'x',
        blocks: [{ type: 'image', alt_text: 'a', slack_file: { id } }],
      });
    await show(await upload('a.png'));
    expect(await refusalOf(show(await upload('a.pdf')))).toEqual({
      error: 'invalid_blocks',
      messages: ['[ERROR] invalid slack file [json-pointer:/blocks/0/slack_file]'],
    });
    expect((await refusalOf(show('F0NONE'))).error).toBe('invalid_blocks');
  });

  it('keeps files private to the workspace', async () => {
    const { slack, token } = await startSetting({ app: { botScopes: ['files:write', 'files:read'] } });
    const client = clientOf(slack, token);
    const { upload_url = '', file_id: id = '' } = await client.files.getUploadURLExternal({
      filename: 'a.txt',
      length: 2,
    });
    await fetch(upload_url, { method: 'POST', body: 'hi' });
    await client.files.completeUploadExternal({ files: [{ id }] });
    const { file } = await client.files.info({ file: id });
    const address = file?.url_private ?? '';
    const own = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
    expect(await own.text()).toBe('hi');
    expect((await fetch(address)).status).toBe(403);
    const other = slack.addWorkspace({ id: 'T0OTHER', users: [], channels: [] });
    const foreign = await fetch(address, { headers: { authorization: `Bearer ${other.botToken}` } });
    expect(foreign.status).toBe(404);
    expect((await refusalOf(clientOf(slack, other.botToken).files.info({ file: id }))).error).toBe(
      'file_not_found',
    );
  });
});
