import { describe, expect, it } from 'vitest';
import { lastSent, startSetting } from './setting.ts';

const plain = (text: string) => ({ type: 'plain_text', text }) as const;
const option = (value: string) => ({ text: plain(value.toUpperCase()), value });
const confirm = { title: plain('Sure?'), text: plain('It stops.'), confirm: plain('Yes'), deny: plain('No') };

const blocks = [
  {
    type: 'actions',
    block_id: 'what',
    elements: [
      { type: 'button', action_id: 'again', text: plain('Run again'), value: 'run-1' },
      { type: 'button', action_id: 'stop', text: plain('Stop'), confirm },
      { type: 'static_select', action_id: 'pick', options: [option('a'), option('b')] },
      { type: 'overflow', action_id: 'more', options: [option('x')] },
      { type: 'external_select', action_id: 'search', min_query_length: 2 },
    ],
  },
];

async function withMessage() {
  const setting = await startSetting();
  const { client, slack } = setting;
  const { ts = '' } = await client.chat.postMessage({ channel: 'C0DEPLOY', text: 'x', blocks });
  /** A message that Anna alone sees. */
  async function whisper() {
    const args = { channel: 'C0DEPLOY', user: 'U0ANNA', text: 'x', blocks };
    const { message_ts = '' } = await client.chat.postEphemeral(args);
    return { channel: 'C0DEPLOY', ts: message_ts };
  }
  const texts = () => slack.messages('T0ACME', 'deploys').map(({ text }) => text);
  const answers = () => slack.ephemerals('T0ACME', 'U0ANNA');
  return { ...setting, at: { channel: 'C0DEPLOY', ts }, whisper, texts, answers };
}

describe('using a message', () => {
  it('cannot be done to buttons that are gone, or by who does not see them', async () => {
    const { slack, client, anna, at, whisper } = await withMessage();
    await client.chat.update({ ...at, text: 'done', blocks: [] });
    await expect(anna.click(at, { actionId: 'again' })).rejects.toThrow('0 elements');
    const unseen = slack.as('T0ACME', 'U0MAX').click(await whisper(), { actionId: 'again' });
    await expect(unseen).rejects.toThrow('sees no message');
  });

  it('asks the app for options, and takes one of them', async () => {
    const { app, anna, at } = await withMessage();
    const search = (query: string) => anna.suggest(at, { actionId: 'search', query });
    app.reply(() => ({ body: { options: [option('store'), option('stock')] } }));
    expect((await search('s')).outcome).toBe('not_sent');
    expect((await search('sto')).options.map(({ value }) => value)).toEqual(['store', 'stock']);
    const asked = { type: 'block_suggestion', action_id: 'search', block_id: 'what', value: 'sto' };
    expect(lastSent({ app })).toMatchObject(asked);
    app.reply(() => ({}));
    await anna.click(at, { actionId: 'search', selected: 'stock' });
    expect(lastSent({ app }).actions).toMatchObject([{ selected_option: option('stock') }]);
    app.reply(() => ({ body: { options: Array.from({ length: 101 }, (_, at) => option(`o${at}`)) } }));
    expect(await search('st')).toMatchObject({ outcome: 'invalid_response', options: [] });
  });
});

describe('a response_url', () => {
  async function withUrl(act?: (setting: Awaited<ReturnType<typeof withMessage>>) => Promise<unknown>) {
    const setting = await withMessage();
    await (act?.(setting) ?? setting.anna.command('deploys', '/deckhand'));
    const { response_url: url } = lastSent(setting);
    const respond = async (body: object) => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      const text = await response.text();
      return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
    };
    return { ...setting, respond };
  }

  it('answers the person alone, or all, or changes the message it came from', async () => {
    const { slack, respond, texts, answers } = await withUrl(({ anna, at }) =>
      anna.click(at, { actionId: 'again' }),
    );
    await respond({ text: 'private' });
    expect(answers()).toMatchObject([{ text: 'private' }]);
    await respond({ text: 'public', response_type: 'in_channel', replace_original: 'false' });
    expect(texts()).toEqual(['x', 'public']);
    await respond({ text: 'changed', replace_original: true });
    expect(slack.messages('T0ACME', 'deploys')[0]).toMatchObject({ text: 'changed', edits: [{ text: 'x' }] });
    await respond({ delete_original: true });
    expect(texts()).toEqual(['public']);
  });

  it('works five times, and counts no use for what Slack refuses', async () => {
    const { respond, answers } = await withUrl();
    const over = { text: 'x', blocks: [{ type: 'header', text: plain('x'.repeat(151)) }] };
    expect(await respond(over)).toMatchObject({ body: { error: 'invalid_blocks' } });
    for (let use = 0; use < 5; use += 1) expect(await respond({ text: 'x' })).toMatchObject({ status: 200 });
    expect(await respond({ text: 'x' })).toEqual({ status: 404, body: { ok: false, error: 'used_url' } });
    expect(answers()).toHaveLength(5);
  });

  it('works for half an hour', async () => {
    const { slack, respond } = await withUrl();
    slack.advance(30 * 60_000 - 1000);
    expect(await respond({ text: 'x' })).toMatchObject({ status: 200 });
    slack.advance(2000);
    expect(await respond({ text: 'x' })).toMatchObject({ body: { ok: false, error: 'expired_url' } });
  });
});
