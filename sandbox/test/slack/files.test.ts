import { describe, expect, it } from 'vitest';
import { clientOf, errorOf, refusalOf, startSetting } from './setting.ts';

const PNG = Buffer.from('iVBORw0KGgo=', 'base64');

describe('uploading', () => {
  it.each([
    ['a channel the bot is not in', { channel_id: 'C0OTHER' }, 'not_in_channel'],
    ['an unknown channel', { channel_id: 'C0NONE' }, 'channel_not_found'],
    ['an archived channel', { channel_id: 'C0OLD' }, 'posting_to_channel_denied'],
  ])('is refused for %s', async (_what, args, error) => {
    const { client } = await startSetting();
    const announce = { filename: 'a', length: 1 };
    const { upload_url = '', file_id: id = '' } = await client.files.getUploadURLExternal(announce);
    const early = client.files.completeUploadExternal({ files: [{ id }], channel_id: 'C0DEPLOY' });
    expect(await errorOf(early)).toBe('file_update_failed');
    await fetch(upload_url, { method: 'POST', body: 'x' });
    const refused = client.apiCall('files.completeUploadExternal', { files: [{ id }], ...args });
    expect(await errorOf(refused)).toBe(error);
  });

  it('of a picture lets messages show it, and of nothing else', async () => {
    const { client } = await startSetting();
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
    expect(await errorOf(show('F0NONE'))).toBe('invalid_blocks');
  });

  it('keeps files private to the workspace', async () => {
    const { slack, token, client } = await startSetting({
      app: { botScopes: ['files:write', 'files:read'] },
    });
    const announce = { filename: 'a.txt', length: 2 };
    const { upload_url = '', file_id: id = '' } = await client.files.getUploadURLExternal(announce);
    const upload = () => fetch(upload_url, { method: 'POST', body: 'hi' });
    const uploaded = await upload();
    expect([uploaded.status, await uploaded.text()]).toEqual([200, 'OK - 2']);
    const { files } = await client.files.completeUploadExternal({ files: [{ id, title: 'Invoice' }] });
    expect(files).toEqual([{ id, title: 'Invoice' }]);
    expect(slack.messages('T0ACME', 'deploys')).toEqual([]);
    expect((await upload()).status).toBe(404);
    const { file } = await client.files.info({ file: id });
    const address = file?.url_private ?? '';
    const own = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
    expect(await own.text()).toBe('hi');
    expect((await fetch(address)).status).toBe(403);
    const other = slack.addWorkspace({ id: 'T0OTHER', users: [], channels: [] });
    const foreign = await fetch(address, { headers: { authorization: `Bearer ${other.botToken}` } });
    expect(foreign.status).toBe(404);
    expect(await errorOf(clientOf(slack, other.botToken).files.info({ file: id }))).toBe('file_not_found');
  });
});
