import { describe, expect, it } from 'vitest';
import { clientOf, errorOf, lastSent, startSetting } from './setting.ts';

const retries = (received: { headers: Record<string, unknown> }[]) =>
  received.map(({ headers }) => [headers['x-slack-retry-num'], headers['x-slack-retry-reason']]);

describe('events', () => {
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
});
