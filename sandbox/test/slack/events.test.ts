import { describe, expect, it } from 'vitest';
import { clientOf, refusalOf, startSetting } from './setting.ts';

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
    slack.advance(1000);
    await slack.until(() => attempts() === 3, { what: 'the retry after a minute' });
    slack.advance(300_000);
    await slack.until(() => attempts() === 4, { what: 'the retry after five minutes' });
    const headers = app.received.map(({ headers: all }) => [
      all['x-slack-retry-num'],
      all['x-slack-retry-reason'],
    ]);
    expect(headers).toEqual([
      [undefined, undefined],
      ['1', 'http_error'],
      ['2', 'http_error'],
      ['3', 'http_error'],
    ]);
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
    expect(app.received[1]?.headers['x-slack-retry-reason']).toBe('http_timeout');
    slack.advance(600_000);
    expect(slack.deliveries).toHaveLength(2);
  });

  it('come only where the app subscribed', async () => {
    const { slack, app } = await startSetting({ app: { events: ['app_uninstalled'] } });
    expect(await slack.as('T0ACME', 'U0ANNA').openHome()).toBeUndefined();
    slack.uninstall('T0ACME');
    await slack.until(() => app.received.length === 1);
    expect(app.received[0]?.payload.event.type).toBe('app_uninstalled');
  });

  it('verify a request URL', async () => {
    const { slack, app } = await startSetting();
    expect(await slack.verifyRequestUrl()).toBe(false);
    app.reply(({ payload }) => ({ body: { challenge: payload.challenge } }));
    expect(await slack.verifyRequestUrl()).toBe(true);
  });
});

describe('what happens in a workspace', () => {
  it('is told: archiving, joining, leaving', async () => {
    const { slack, app, bot } = await startSetting();
    const seen = () => app.received.map(({ payload }) => payload.event);
    slack.archiveChannel('T0ACME', 'deploys', 'U0ANNA');
    await slack.until(() => seen().length === 1);
    expect(seen()[0]).toMatchObject({ type: 'channel_archive', channel: 'C0DEPLOY', user: 'U0ANNA' });
    slack.invite('T0ACME', 'other', 'bot');
    await slack.until(() => seen().length === 2);
    expect(seen()[1]).toMatchObject({ type: 'member_joined_channel', user: bot, channel: 'C0OTHER' });
    slack.kick('T0ACME', 'other', 'bot');
    await slack.until(() => seen().length === 3);
    expect(seen()[2]).toMatchObject({ type: 'channel_left', channel: 'C0OTHER' });
  });

  it('is told of a private channel by its own words', async () => {
    const { slack, app } = await startSetting();
    const told = () => app.received.map(({ payload }) => payload.event.type);
    slack.archiveChannel('T0ACME', 'secret');
    await slack.until(() => told().length === 1);
    slack.unarchiveChannel('T0ACME', 'secret');
    await slack.until(() => told().length === 2);
    slack.deleteChannel('T0ACME', 'secret');
    await slack.until(() => told().length === 3);
    expect(told()).toEqual(['group_archive', 'group_unarchive', 'group_deleted']);
  });

  it('changes what the app can do there', async () => {
    const { slack, token } = await startSetting();
    const post = () => clientOf(slack, token).chat.postMessage({ channel: 'C0OTHER', text: 'x' });
    expect((await refusalOf(post())).error).toBe('not_in_channel');
    slack.invite('T0ACME', 'other', 'bot');
    await post();
    slack.deleteChannel('T0ACME', 'other');
    expect((await refusalOf(post())).error).toBe('channel_not_found');
  });
});

describe('links', () => {
  const setting = () => startSetting({ app: { unfurlDomains: ['service.example'] } });
  const url = 'https://acme.service.example/projects/storefront?a=1&b=2';

  it('of the app are told to it, and unfurl where it says how', async () => {
    const { slack, app, token } = await setting();
    const { ts } = await slack
      .as('T0ACME', 'U0ANNA')
      .postMessage('deploys', `see ${url} and https://else.example`);
    await slack.until(() => app.received.length === 1);
    const { event } = app.received[0]?.payload ?? {};
    expect(event).toMatchObject({
      type: 'link_shared',
      channel: 'C0DEPLOY',
      message_ts: ts,
      links: [{ domain: 'service.example', url }],
    });
    const { chat } = clientOf(slack, token);
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'storefront' } }] as const;
    await chat.unfurl({ channel: 'C0DEPLOY', ts, unfurls: { [url]: { blocks: [...blocks] } } });
    expect(slack.messages('T0ACME', 'deploys')).toMatchObject([{ attachments: [{ from_url: url }] }]);
    const other = chat.unfurl({
      channel: 'C0DEPLOY',
      ts,
      unfurls: { 'https://else.example': { blocks: [...blocks] } },
    });
    expect((await refusalOf(other)).error).toBe('cannot_unfurl_url');
    const byId = {
      unfurl_id: event.unfurl_id,
      source: event.source,
      unfurls: { [url]: { blocks: [...blocks] } },
    };
    expect(await clientOf(slack, token).apiCall('chat.unfurl', byId)).toMatchObject({ ok: true });
  });
});

describe('workflow steps', () => {
  const functions = [
    {
      callback_id: 'run_test',
      title: 'Run test',
      input_parameters: ['project'],
      output_parameters: ['status'],
    },
  ];

  it('run until the app completes them, once', async () => {
    const { slack, app } = await startSetting({ app: { functions } });
    const run = slack.runFunction('T0ACME', 'run_test', { project: 'storefront' });
    await slack.until(() => app.received.length === 1);
    const { event } = app.received[0]?.payload ?? {};
    expect(event).toMatchObject({
      type: 'function_executed',
      function: { callback_id: 'run_test' },
      inputs: { project: 'storefront' },
      function_execution_id: run.id,
      bot_access_token: expect.stringMatching(/^xwfp-/),
    });
    const client = clientOf(slack, event.bot_access_token);
    const unknown = client.functions.completeSuccess({
      function_execution_id: run.id,
      outputs: { other: 1 },
    });
    expect((await refusalOf(unknown)).error).toBe('parameter_validation_failed');
    await client.functions.completeSuccess({ function_execution_id: run.id, outputs: { status: 'ok' } });
    expect(slack.functionRun('T0ACME', run.id)).toMatchObject({
      state: 'succeeded',
      outputs: { status: 'ok' },
    });
    const again = client.functions.completeError({ function_execution_id: run.id, error: 'x' });
    expect((await refusalOf(again)).error).toBe('token_revoked');
  });

  it('may be completed with the bot token, and fail with a reason', async () => {
    const { slack, token } = await startSetting({ app: { functions } });
    const { functions: methods } = clientOf(slack, token);
    const run = slack.runFunction('T0ACME', 'run_test', {});
    await methods.completeError({ function_execution_id: run.id, error: 'no such project' });
    expect(slack.functionRun('T0ACME', run.id)).toMatchObject({ state: 'failed', error: 'no such project' });
    const again = methods.completeError({ function_execution_id: run.id, error: 'x' });
    expect((await refusalOf(again)).error).toBe('execution_not_in_running_state');
    const none = methods.completeError({ function_execution_id: 'Fx0', error: 'x' });
    expect((await refusalOf(none)).error).toBe('function_execution_not_found');
  });
});
