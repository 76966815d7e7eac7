import { describe, expect, it } from 'vitest';
import { lastSent, startSetting } from './setting.ts';

const plain = (text: string) => ({ type: 'plain_text', text }) as const;
const option = (value: string) => ({ text: plain(value.toUpperCase()), value });

const elements = [
  { type: 'button', action_id: 'again', text: plain('Run again'), value: 'run-1' },
  { type: 'external_select', action_id: 'search', min_query_length: 2 },
];
const blocks = [{ type: 'actions', block_id: 'what', elements }];
const channel = 'C0DEPLOY';

async function withMessage() {
  const setting = await startSetting();
  const { client, anna } = setting;
  const { ts = '' } = await client.chat.postMessage({ channel, text: 'x', ...{ blocks } });
  const at = { channel, ts };
  /** A use of the response_url of a click. */
  async function withUrl() {
    await anna.click(at, { actionId: 'again' });
    const { response_url } = lastSent(setting);
    return async (body: object) => {
      const response = await fetch(response_url, { method: 'POST', body: JSON.stringify(body) });
      const text = await response.text();
      return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
    };
  }
  return { ...setting, at, withUrl };
}

describe('using a message', () => {
  it('cannot be done to buttons that are gone, or by who does not see them', async () => {
    const { slack, client, anna, at } = await withMessage();
    await client.chat.update({ ...at, text: 'done', blocks: [] });
    await expect(anna.click(at, { actionId: 'again' })).rejects.toThrow('0 elements');
    const whisper = { channel, user: 'U0ANNA', text: 'x', ...{ blocks } };
    const { message_ts: ts = '' } = await client.chat.postEphemeral(whisper);
    const unseen = slack.as('T0ACME', 'U0MAX').click({ channel, ts }, { actionId: 'again' });
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

it('a response_url works five times within half an hour, and counts no use for what Slack refuses', async () => {
  const { slack, withUrl } = await withMessage();
  const [respond, late] = [await withUrl(), await withUrl()];
  const over = { text: 'x', blocks: [{ type: 'header', text: plain('x'.repeat(151)) }] };
  expect(await respond(over)).toMatchObject({ body: { error: 'invalid_blocks' } });
  for (let use = 0; use < 5; use += 1) expect(await respond({ text: 'x' })).toMatchObject({ status: 200 });
  expect(await respond({ text: 'x' })).toEqual({ status: 404, body: { ok: false, error: 'used_url' } });
  slack.advance(30 * 60_000 - 1000);
  expect(await late({ text: 'x' })).toMatchObject({ status: 200 });
  slack.advance(2000);
  expect(await late({ text: 'x' })).toMatchObject({ body: { ok: false, error: 'expired_url' } });
});
