import { describe, expect, it } from 'vitest';
import { clientOf, errorOf, lastSent, startSetting } from './setting.ts';

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
    const retries = app.received.map(({ headers }) => [
      headers['x-slack-retry-num'],
      headers['x-slack-retry-reason'],
    ]);
    const again = [1, 2, 3].map((number) => [String(number), 'http_error']);
    expect(retries).toEqual([[undefined, undefined], ...again]);
    expect(new Set(app.received.map(({ payload }) => payload.event_id)).size).toBe(1);
  });

  it('tell what happens to channels, of private ones by their own words', async () => {
    const { slack, app, bot } = await startSetting();
    const happen: [act: () => unknown, told: object][] = [
      [
        () => slack.archiveChannel('T0ACME', 'deploys', 'U0ANNA'),
        { type: 'channel_archive', user: 'U0ANNA' },
      ],
      [() => slack.invite('T0ACME', 'other', 'bot'), { type: 'member_joined_channel', user: bot }],
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
});

it('links of the app are told to it, and no others unfurl', async () => {
  const { slack, app, client, anna } = await startSetting({ app: { unfurlDomains: ['service.example'] } });
  const url = 'https://acme.service.example/projects/storefront?a=1&b=2';
  const { ts } = await anna.postMessage('deploys', `see ${url} and https://else.example`);
  await slack.until(() => app.received.length === 1);
  const { unfurl_id, source, ...event } = lastSent({ app });
  const links = [{ domain: 'service.example', url }];
  expect(event).toMatchObject({ type: 'link_shared', channel: 'C0DEPLOY', message_ts: ts, links });
  const unfurl = (address: string) => {
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'storefront' } }];
    return client.apiCall('chat.unfurl', { unfurl_id, source, unfurls: { [address]: { blocks } } });
  };
  await unfurl(url);
  expect(slack.messages('T0ACME', 'deploys')).toMatchObject([{ attachments: [{ from_url: url }] }]);
  expect(await errorOf(unfurl('https://else.example'))).toBe('cannot_unfurl_url');
});

it('a step of a workflow runs until the app completes it, once', async () => {
  const step = { callback_id: 'run_test', title: 'Run test' };
  const functions = [{ ...step, input_parameters: ['project'], output_parameters: ['status'] }];
  const { slack, app } = await startSetting({ app: { functions } });
  const { id: function_execution_id } = slack.runFunction('T0ACME', 'run_test', { project: 'storefront' });
  await slack.until(() => app.received.length === 1);
  const { bot_access_token, ...event } = lastSent({ app });
  expect(event).toMatchObject({ type: 'function_executed', function_execution_id });
  const { completeSuccess, completeError } = clientOf(slack, bot_access_token).functions;
  const unknown = completeSuccess({ function_execution_id, outputs: { other: 1 } });
  expect(await errorOf(unknown)).toBe('parameter_validation_failed');
  const outputs = { status: 'ok' };
  await completeSuccess({ function_execution_id, outputs });
  expect(slack.functionRun('T0ACME', function_execution_id)).toMatchObject({ state: 'succeeded', outputs });
  expect(await errorOf(completeError({ function_execution_id, error: 'x' }))).toBe('token_revoked');
});

it('an edit that adds a mention is an `app_mention` with `edited`', async () => {
  const { slack, app, anna } = await startSetting({ app: { botScopes: ['app_mentions:read'] } });
  const { ts } = await anna.postMessage('deploys', 'hello');
  const { edited } = await anna.editMessage({ channel: 'deploys', ts }, 'hello @deckhand');
  await slack.until(() => app.received.length > 0);
  expect(lastSent({ app })).toMatchObject({ type: 'app_mention', ts, edited });
});

it.each([
  ['a < b & c > d', 'a &lt; b &amp; c &gt; d'],
  ['@max, see #deploys.', '<@U0MAX>, see <#C0DEPLOY|deploys>.'],
  ['#Deploys is for @Max.', '<#C0DEPLOY|deploys> is for <@U0MAX>.'],
  ['mail max@max.example, @nobody, #max', 'mail max@max.example, @nobody, #max'],
  ['<@U0MAX>', '&lt;@U0MAX&gt;'],
  ['(see https://a.example/?b=1&c=#2).', '(see <https://a.example/?b=1&amp;c=#2>).'],
])('%s is sent as %s', async (typed, sent) => {
  const { anna } = await startSetting();
  expect(await anna.postMessage('deploys', typed)).toMatchObject({ text: sent });
});

it('commands do not name private channels, and have ids for names if the app asked for escaping', async () => {
  const command = { command: '/deckhand', description: 'x', usage_hint: '', should_escape: true };
  const { app, anna } = await startSetting({ app: { commands: [command] } });
  await anna.command('secret', '/deckhand ask @max in #deploys <now>');
  const text = 'ask <@U0MAX|max> in <#C0DEPLOY|deploys> &lt;now&gt;';
  const channel = { channel_id: 'C0PRIV', channel_name: 'privategroup' };
  expect(app.received[0]?.payload).toMatchObject({ ...channel, text });
});
