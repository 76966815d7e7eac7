import { describe, expect, it } from 'vitest';
import { clientOf, errorOf, lastSent, startSetting } from './setting.ts';

const retries = (received: { headers: Record<string, unknown> }[]) =>
  received.map(({ headers }) => [headers['x-slack-retry-num'], headers['x-slack-retry-reason']]);

describe('events', () => {
  it('arrive signed, as JSON, in their envelope', async () => {
    const { slack, app, bot } = await startSetting();
    await slack.sendEvent('T0ACME', { type: 'app_home_opened', user: 'U0ANNA', tab: 'home' });
    const [received] = app.received;
    expect(received?.headers['content-type']).toBe('application/json');
    expect(received?.headers).not.toHaveProperty('x-slack-retry-num');
    expect(received?.payload).toMatchObject({
      type: 'event_callback',
      team_id: 'T0ACME',
      api_app_id: slack.app.appId,
      event: { type: 'app_home_opened', event_ts: expect.any(String) },
      event_id: expect.stringMatching(/^Ev/),
      event_time: expect.any(Number),
      event_context: expect.stringMatching(/^4-/),
      authorizations: [{ team_id: 'T0ACME', user_id: bot, is_bot: true, is_enterprise_install: false }],
    });
  });

  it('are tried again at once, after a minute and after five, and then given up', async () => {
    const { slack, app } = await startSetting();
    app.reply(() => ({ status: 500 }));
    const attempts = () => slack.deliveries.filter((one) => one.outcome !== 'pending').length;
    await slack.sendEvent('T0ACME', { type: 'app_home_opened' });
    await slack.until(() => attempts() === 2, { what: 'the retry at once' });
    slack.advance(59_000);
    expect(attempts()).toBe(2);
    for (const [ms, count] of [
      [1000, 3],
      [300_000, 4],
    ] as const) {
      slack.advance(ms);
      await slack.until(() => attempts() === count, { what: `attempt ${count}` });
    }
    const again = [1, 2, 3].map((number) => [String(number), 'http_error']);
    expect(retries(app.received)).toEqual([[undefined, undefined], ...again]);
    expect(new Set(app.received.map(({ payload }) => payload.event_id)).size).toBe(1);
  });

  it('say why they come again, and stop when the app wants no more', async () => {
    const { slack, app } = await startSetting({ ackTimeoutMs: 100 });
    app.reply(() => ({ hang: true }));
    const first = slack.sendEvent('T0ACME', { type: 'app_home_opened' });
    await slack.until(() => app.received.length === 1);
    app.reply(() => ({ status: 500, headers: { 'X-Slack-No-Retry': '1' } }));
    expect((await first)?.outcome).toBe('operation_timeout');
    await slack.until(() => slack.deliveries.filter((one) => one.outcome !== 'pending').length === 2);
    expect(retries(app.received)[1]).toEqual(['1', 'http_timeout']);
    slack.advance(600_000);
    expect(slack.deliveries).toHaveLength(2);
  });

  it('may be delivered twice, as a retry or without saying so', async () => {
    const { slack, app, anna } = await startSetting();
    const first = await anna.openHome();
    if (!first) throw new Error('nothing was sent');
    await slack.redeliver(first);
    await slack.redeliver(first, { retryNum: 2, reason: 'connection_failed' });
    await slack.redeliver(first, { retryNum: false });
    const none = [undefined, undefined];
    expect(retries(app.received)).toEqual([none, ['1', 'http_timeout'], ['2', 'connection_failed'], none]);
    expect(new Set(app.received.map(({ payload }) => payload.event_id)).size).toBe(1);
  });

  it('come only where the app subscribed', async () => {
    const { slack, app, anna } = await startSetting({ app: { events: ['app_uninstalled'] } });
    expect(await anna.openHome()).toBeUndefined();
    slack.uninstall('T0ACME');
    await slack.until(() => app.received.length === 1);
    expect(lastSent({ app }).type).toBe('app_uninstalled');
  });

  it('verify a request URL, and look at a certificate without a signature', async () => {
    const { slack, app } = await startSetting();
    expect(await slack.verifyRequestUrl()).toBe(false);
    app.reply(({ payload }) => ({ body: { challenge: payload.challenge } }));
    expect(await slack.verifyRequestUrl()).toBe(true);
    app.reply(() => ({}));
    expect((await slack.checkCertificate()).outcome).toBe('ok');
    const { payload, headers } = app.received.at(-1) ?? {};
    expect(payload).toEqual({ ssl_check: '1', token: slack.app.verificationToken });
    expect(headers).not.toHaveProperty('x-slack-signature');
    expect(headers).not.toHaveProperty('x-slack-request-timestamp');
  });
});

it('what happens to channels is told, of private ones by their own words', async () => {
  const { slack, app, bot } = await startSetting();
  const happen: [act: () => unknown, told: object][] = [
    [
      () => slack.archiveChannel('T0ACME', 'deploys', 'U0ANNA'),
      { type: 'channel_archive', channel: 'C0DEPLOY', user: 'U0ANNA' },
    ],
    [
      () => slack.invite('T0ACME', 'other', 'bot'),
      { type: 'member_joined_channel', user: bot, channel: 'C0OTHER' },
    ],
    [() => slack.kick('T0ACME', 'other', 'bot'), { type: 'channel_left', channel: 'C0OTHER' }],
    [() => slack.archiveChannel('T0ACME', 'secret'), { type: 'group_archive' }],
    [() => slack.unarchiveChannel('T0ACME', 'secret'), { type: 'group_unarchive' }],
    [() => slack.deleteChannel('T0ACME', 'secret'), { type: 'group_deleted' }],
  ];
  for (const [act, told] of happen) {
    const before = app.received.length;
    act();
    await slack.until(() => app.received.length > before);
    expect(lastSent({ app })).toMatchObject(told);
  }
});

it('what happens to a channel changes what the app can do there', async () => {
  const { slack, client } = await startSetting();
  const post = () => client.chat.postMessage({ channel: 'C0OTHER', text: 'x' });
  expect(await errorOf(post())).toBe('not_in_channel');
  slack.invite('T0ACME', 'other', 'bot');
  await post();
  slack.deleteChannel('T0ACME', 'other');
  expect(await errorOf(post())).toBe('channel_not_found');
});

it('links of the app are told to it, and unfurl where it says how', async () => {
  const { slack, app, client, anna } = await startSetting({ app: { unfurlDomains: ['service.example'] } });
  const url = 'https://acme.service.example/projects/storefront?a=1&b=2';
  const { ts } = await anna.postMessage('deploys', `see ${url} and https://else.example`);
  await slack.until(() => app.received.length === 1);
  const event = lastSent({ app });
  const links = [{ domain: 'service.example', url }];
  expect(event).toMatchObject({ type: 'link_shared', channel: 'C0DEPLOY', message_ts: ts, links });
  const unfurl = (address: string, at: object) => {
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'storefront' } }];
    return client.apiCall('chat.unfurl', { ...at, unfurls: { [address]: { blocks } } });
  };
  await unfurl(url, { channel: 'C0DEPLOY', ts });
  expect(slack.messages('T0ACME', 'deploys')).toMatchObject([{ attachments: [{ from_url: url }] }]);
  const other = unfurl('https://else.example', { channel: 'C0DEPLOY', ts });
  expect(await errorOf(other)).toBe('cannot_unfurl_url');
  const byId = { unfurl_id: event.unfurl_id, source: event.source };
  expect(await unfurl(url, byId)).toMatchObject({ ok: true });
});

describe('workflow steps', () => {
  const step = { callback_id: 'run_test', title: 'Run test' };
  const functions = [{ ...step, input_parameters: ['project'], output_parameters: ['status'] }];

  it('run until the app completes them, once', async () => {
    const { slack, app } = await startSetting({ app: { functions } });
    const { id: function_execution_id } = slack.runFunction('T0ACME', 'run_test', { project: 'storefront' });
    await slack.until(() => app.received.length === 1);
    expect(lastSent({ app })).toMatchObject({
      type: 'function_executed',
      function: { callback_id: 'run_test' },
      inputs: { project: 'storefront' },
      function_execution_id,
      bot_access_token: expect.stringMatching(/^xwfp-/),
    });
    const methods = clientOf(slack, lastSent({ app }).bot_access_token).functions;
    const unknown = methods.completeSuccess({ function_execution_id, outputs: { other: 1 } });
    expect(await errorOf(unknown)).toBe('parameter_validation_failed');
    const outputs = { status: 'ok' };
    await methods.completeSuccess({ function_execution_id, outputs });
    expect(slack.functionRun('T0ACME', function_execution_id)).toMatchObject({ state: 'succeeded', outputs });
    const again = methods.completeError({ function_execution_id, error: 'x' });
    expect(await errorOf(again)).toBe('token_revoked');
  });

  it('may be completed with the bot token, and fail with a reason', async () => {
    const { slack, client } = await startSetting({ app: { functions } });
    const { id } = slack.runFunction('T0ACME', 'run_test', {});
    const fail = (function_execution_id: string) =>
      client.functions.completeError({ function_execution_id, error: 'no such project' });
    await fail(id);
    expect(slack.functionRun('T0ACME', id)).toMatchObject({ state: 'failed', error: 'no such project' });
    expect(await errorOf(fail(id))).toBe('execution_not_in_running_state');
    expect(await errorOf(fail('Fx0'))).toBe('function_execution_not_found');
  });
});
