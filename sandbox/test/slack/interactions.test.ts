import { describe, expect, it } from 'vitest';
import { clientOf, startSetting } from './setting.ts';

const plain = (text: string) => ({ type: 'plain_text', text }) as const;
const option = (value: string) => ({ text: plain(value.toUpperCase()), value });

const blocks = [
  {
    type: 'actions',
    block_id: 'what',
    elements: [
      { type: 'button', action_id: 'again', text: plain('Run again'), value: 'run-1' },
      {
        type: 'button',
        action_id: 'stop',
        text: plain('Stop'),
        confirm: {
          title: plain('Sure?'),
          text: plain('It stops.'),
          confirm: plain('Yes'),
          deny: plain('No'),
        },
      },
      { type: 'static_select', action_id: 'pick', options: [option('a'), option('b')] },
      { type: 'overflow', action_id: 'more', options: [option('x')] },
      { type: 'external_select', action_id: 'search', min_query_length: 2 },
    ],
  },
];

async function withMessage() {
  const setting = await startSetting();
  const client = clientOf(setting.slack, setting.token);
  const { ts = '' } = await client.chat.postMessage({ channel: 'C0DEPLOY', text: 'x', blocks });
  return { ...setting, client, anna: setting.slack.as('T0ACME', 'U0ANNA'), at: { channel: 'C0DEPLOY', ts } };
}

function respond(url: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

describe('using a message', () => {
  it('sends a click with the message and where to answer', async () => {
    const { slack, app, anna, at } = await withMessage();
    await anna.click(at, { actionId: 'again' });
    expect(app.received.at(-1)?.payload).toMatchObject({
      type: 'block_actions',
      user: { id: 'U0ANNA' },
      team: { id: 'T0ACME' },
      channel: { id: 'C0DEPLOY', name: 'deploys' },
      container: { type: 'message', message_ts: at.ts, is_ephemeral: false },
      message: { ts: at.ts, text: 'x' },
      response_url: expect.stringContaining(`${slack.origin}/actions/T0ACME/`),
      actions: [{ type: 'button', action_id: 'again', block_id: 'what', value: 'run-1' }],
    });
  });

  it('sends choices as option objects', async () => {
    const { app, anna, at } = await withMessage();
    await anna.click(at, { actionId: 'pick', selected: 'b' });
    expect(app.received.at(-1)?.payload).toMatchObject({
      actions: [{ type: 'static_select', selected_option: { value: 'b' } }],
      state: { values: { what: { pick: { selected_option: { value: 'b' } } } } },
    });
    await anna.click(at, { actionId: 'more', selected: 'x' });
    expect(app.received.at(-1)?.payload.actions).toMatchObject([{ selected_option: { value: 'x' } }]);
    await expect(anna.click(at, { actionId: 'pick', selected: 'z' })).rejects.toThrow(
      'offers no z, but: a, b',
    );
  });

  it('asks first where a confirm dialog says so', async () => {
    const { app, anna, at } = await withMessage();
    expect((await anna.click(at, { actionId: 'stop', confirm: false })).outcome).toBe('denied');
    expect(app.received).toEqual([]);
    expect((await anna.click(at, { actionId: 'stop' })).outcome).toBe('ok');
  });

  it('cannot be done to buttons that are gone, or by who does not see them', async () => {
    const { slack, client, anna, at } = await withMessage();
    await client.chat.update({ ...at, text: 'done', blocks: [] });
    await expect(anna.click(at, { actionId: 'again' })).rejects.toThrow('0 elements');
    const { message_ts: ts = '' } = await client.chat.postEphemeral({
      ...at,
      user: 'U0ANNA',
      text: 'x',
      blocks,
    });
    const max = slack.as('T0ACME', 'U0MAX');
    await expect(max.click({ channel: 'C0DEPLOY', ts }, { actionId: 'again' })).rejects.toThrow(
      'sees no message',
    );
  });

  it('says it when the app does not answer', async () => {
    const { app, anna, at } = await withMessage();
    app.reply(() => ({ status: 503 }));
    expect(await anna.click(at, { actionId: 'again' })).toMatchObject({
      outcome: 'http_service_error',
      shown: expect.stringContaining('did not respond'),
    });
  });

  it('sends no message along for an ephemeral one', async () => {
    const { app, client, anna } = await withMessage();
    const { message_ts: ts = '' } = await client.chat.postEphemeral({
      channel: 'C0DEPLOY',
      user: 'U0ANNA',
      text: 'x',
      blocks,
    });
    await anna.click({ channel: 'C0DEPLOY', ts }, { actionId: 'again' });
    const { payload } = app.received.at(-1) ?? {};
    expect(payload.container).toMatchObject({ is_ephemeral: true, message_ts: ts });
    expect(payload).not.toHaveProperty('message');
  });
});

describe('a select with options of the app', () => {
  it('asks for them, and takes one of them', async () => {
    const { app, anna, at } = await withMessage();
    app.reply(() => ({ body: { options: [option('store'), option('stock')] } }));
    const found = await anna.suggest(at, { actionId: 'search', query: 'sto' });
    expect(found.options.map((one) => one.value)).toEqual(['store', 'stock']);
    expect(app.received.at(-1)?.payload).toMatchObject({
      type: 'block_suggestion',
      action_id: 'search',
      block_id: 'what',
      value: 'sto',
    });
    app.reply(() => ({}));
    await anna.click(at, { actionId: 'search', selected: 'stock' });
    expect(app.received.at(-1)?.payload.actions).toMatchObject([{ selected_option: option('stock') }]);
  });

  it('waits for enough letters and refuses more than 100 options', async () => {
    const { app, anna, at } = await withMessage();
    expect((await anna.suggest(at, { actionId: 'search', query: 's' })).outcome).toBe('not_sent');
    app.reply(() => ({ body: { options: Array.from({ length: 101 }, (_, index) => option(`o${index}`)) } }));
    const refused = await anna.suggest(at, { actionId: 'search', query: 'st' });
    expect(refused).toMatchObject({ outcome: 'invalid_response', options: [] });
  });
});

describe('a response_url', () => {
  it('answers the asker alone, all, or changes the message it came from', async () => {
    const { slack, app, anna, at } = await withMessage();
    await anna.click(at, { actionId: 'again' });
    const { response_url: url } = app.received.at(-1)?.payload ?? {};
    await respond(url, { text: 'private' });
    expect(slack.ephemerals('T0ACME', 'U0ANNA')).toMatchObject([{ text: 'private' }]);
    await respond(url, { text: 'public', response_type: 'in_channel', replace_original: 'false' });
    expect(slack.messages('T0ACME', 'deploys').map((one) => one.text)).toEqual(['x', 'public']);
    await respond(url, { text: 'changed', replace_original: true });
    expect(slack.messages('T0ACME', 'deploys')[0]).toMatchObject({ text: 'changed', edits: [{ text: 'x' }] });
    await respond(url, { delete_original: true });
    expect(slack.messages('T0ACME', 'deploys').map((one) => one.text)).toEqual(['public']);
  });

  it('replaces and removes ephemeral messages, which nothing else can', async () => {
    const { slack, app, client, anna } = await withMessage();
    const { message_ts: ts = '' } = await client.chat.postEphemeral({
      channel: 'C0DEPLOY',
      user: 'U0ANNA',
      text: 'x',
      blocks,
    });
    await anna.click({ channel: 'C0DEPLOY', ts }, { actionId: 'again' });
    const { response_url: url } = app.received.at(-1)?.payload ?? {};
    await respond(url, { replace_original: true, text: 'new' });
    expect(slack.ephemerals('T0ACME', 'U0ANNA')).toMatchObject([{ ts, text: 'new' }]);
    await respond(url, { delete_original: true });
    expect(slack.ephemerals('T0ACME', 'U0ANNA')).toEqual([]);
  });

  it('works five times', async () => {
    const { slack, app, anna } = await withMessage();
    await anna.command('deploys', '/deckhand');
    const { response_url: url } = app.received.at(-1)?.payload ?? {};
    for (let use = 0; use < 5; use += 1) expect((await respond(url, { text: 'x' })).status).toBe(200);
    const sixth = await respond(url, { text: 'x' });
    expect([sixth.status, await sixth.json()]).toEqual([404, { ok: false, error: 'used_url' }]);
    expect(slack.ephemerals('T0ACME', 'U0ANNA')).toHaveLength(5);
  });

  it('works for half an hour', async () => {
    const { slack, app, anna } = await withMessage();
    await anna.command('deploys', '/deckhand');
    const { response_url: url } = app.received.at(-1)?.payload ?? {};
    slack.advance(30 * 60_000 - 1000);
    expect((await respond(url, { text: 'x' })).status).toBe(200);
    slack.advance(2000);
    expect(await (await respond(url, { text: 'x' })).json()).toEqual({ ok: false, error: 'expired_url' });
  });

  it('refuses what Slack refuses, and counts no use for it', async () => {
    const { app, anna } = await withMessage();
    await anna.command('deploys', '/deckhand');
    const { response_url: url } = app.received.at(-1)?.payload ?? {};
    const over = { text: 'x', blocks: [{ type: 'header', text: plain('x'.repeat(151)) }] };
    for (let use = 0; use < 6; use += 1) {
      expect(await (await respond(url, over)).json()).toMatchObject({ error: 'invalid_blocks' });
    }
    expect((await respond(url, { text: 'x' })).status).toBe(200);
  });
});

describe('shortcuts', () => {
  const app = {
    shortcuts: [
      { type: 'global' as const, name: 'Run', callback_id: 'run' },
      { type: 'message' as const, name: 'Test this', callback_id: 'test_this' },
    ],
  };

  it('are sent, with the message where they are about one', async () => {
    const { slack, app: tiny } = await startSetting({ app });
    const anna = slack.as('T0ACME', 'U0ANNA');
    await anna.shortcut('run');
    expect(tiny.received.at(-1)?.payload).toMatchObject({
      type: 'shortcut',
      callback_id: 'run',
      trigger_id: expect.any(String),
    });
    const { ts } = await anna.postMessage('deploys', 'storefront is down');
    await anna.shortcut('test_this', { channel: 'deploys', ts });
    expect(tiny.received.at(-1)?.payload).toMatchObject({
      type: 'message_action',
      message: { text: 'storefront is down' },
      channel: { id: 'C0DEPLOY' },
      response_url: expect.any(String),
    });
    expect((await anna.shortcut('test_this')).outcome).toBe('invalid_command');
  });
});
