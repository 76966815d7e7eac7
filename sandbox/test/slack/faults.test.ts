import { ErrorCode } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { clientOf, errorOf, startSetting } from './setting.ts';

const hello = { channel: 'C0DEPLOY', text: 'hello' };

describe('faults on demand', () => {
  it('answer 429 with Retry-After, as often as asked, and do nothing', async () => {
    const { slack, client } = await startSetting();
    slack.fault({ method: 'chat.postMessage', status: 429, retryAfter: 7, times: 2 });
    for (let turn = 0; turn < 2; turn += 1) {
      await expect(client.chat.postMessage(hello)).rejects.toMatchObject({
        code: ErrorCode.RateLimitedError,
        retryAfter: 7,
      });
    }
    await client.chat.postMessage(hello);
    expect(slack.messages('T0ACME', 'deploys')).toHaveLength(1);
    expect(slack.calls.map((call) => call.status)).toEqual([429, 429, 200]);
  });

  it('answer any status or error', async () => {
    const { slack, client } = await startSetting();
    const clear = slack.fault({ method: '*', status: 503 });
    await expect(client.chat.postMessage(hello)).rejects.toMatchObject({ code: ErrorCode.HTTPError });
    clear();
    slack.fault({ method: 'chat.postMessage', error: 'fatal_error' });
    expect(await errorOf(client.chat.postMessage(hello))).toBe('fatal_error');
    slack.clearFaults();
    await client.chat.postMessage(hello);
    expect(slack.messages('T0ACME', 'deploys')).toHaveLength(1);
  });

  it.each([
    ['before', 0],
    ['after', 1],
  ] as const)('cut the connection %s the work', async (drop, count) => {
    const { slack, client } = await startSetting();
    slack.fault({ method: 'chat.postMessage', drop });
    await expect(client.chat.postMessage(hello)).rejects.toMatchObject({ code: ErrorCode.RequestError });
    expect(slack.messages('T0ACME', 'deploys')).toHaveLength(count);
  });

  it('answer what is no JSON, after the work', async () => {
    const { slack, client } = await startSetting();
    slack.fault({ method: 'chat.postMessage', malformed: true });
    await expect(client.chat.postMessage(hello)).rejects.toBeInstanceOf(Error);
    expect(slack.messages('T0ACME', 'deploys')).toHaveLength(1);
  });

  it('hit one workspace only, where it is named', async () => {
    const { slack, client } = await startSetting();
    const other = slack.addWorkspace({ id: 'T0OTHER', users: [], channels: [{ id: 'C0DEPLOY', name: 'a' }] });
    slack.fault({ method: '*', teamId: 'T0OTHER', error: 'fatal_error' });
    await client.chat.postMessage(hello);
    const refused = clientOf(slack, other.botToken).chat.postMessage(hello);
    expect(await errorOf(refused)).toBe('fatal_error');
  });
});

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

describe('waiting', () => {
  it('says what did not come', async () => {
    const { slack } = await startSetting();
    const never = slack.until(() => false, { timeoutMs: 10, what: 'a miracle' });
    await expect(never).rejects.toThrow('waited 10 ms in vain for a miracle');
  });
});
