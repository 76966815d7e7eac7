import { ErrorCode } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { startSetting } from './setting.ts';

const hello = { channel: 'C0DEPLOY', text: 'hello' };

describe('the real rates', () => {
  it('hold by method and workspace, and by channel for posts', async () => {
    const { slack, client } = await startSetting({ realRates: true, now: () => 1_800_000_000_000 });
    for (let turn = 0; turn < 5; turn += 1) await client.chat.postMessage(hello);
    const limited = { code: ErrorCode.RateLimitedError, retryAfter: 5 };
    await expect(client.chat.postMessage(hello)).rejects.toMatchObject(limited);
    await client.chat.postMessage({ channel: 'U0ANNA', text: 'another place' });
    slack.advance(5001);
    await client.chat.postMessage(hello);
    for (let turn = 0; turn < 20; turn += 1) await client.users.list({});
    await expect(client.users.list({})).rejects.toMatchObject({
      code: ErrorCode.RateLimitedError,
      retryAfter: 60,
    });
  });
});
