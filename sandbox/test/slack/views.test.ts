import type { ModalView } from '@slack/types';
import { describe, expect, it } from 'vitest';
import { errorOf, lastSent, refusalOf, type Setting, startSetting } from './setting.ts';

const plain = (text: string) => ({ type: 'plain_text', text }) as const;
const long = 'x'.repeat(25);

const input = (block_id: string, element: object, more: object = {}) => ({
  type: 'input',
  block_id,
  label: plain(block_id),
  element: { action_id: block_id, ...element },
  ...more,
});

function modal(extra: object = {}): ModalView {
  const account = input('account', { type: 'plain_text_input', min_length: 2 });
  const options = ['lis', 'osl'].map((value) => ({ text: plain(value), value }));
  const region = input('region', { type: 'static_select', options }, { optional: true });
  const words = { callback_id: 'connect', title: plain('Connect'), submit: plain('Go') };
  return { type: 'modal', ...words, blocks: [account, region], ...extra } as ModalView;
}

/** Somebody types the command; the answer is its trigger_id. */
async function trigger({ app }: Setting, who: Setting['anna']): Promise<string> {
  await who.command('deploys', '/deckhand connect');
  return lastSent({ app }).trigger_id;
}

/** A setting in which Anna has the modal open. */
async function withModal(extra: object = {}) {
  const setting = await startSetting();
  const { slack, client, anna } = setting;
  const opened = await client.views.open({ trigger_id: await trigger(setting, anna), view: modal(extra) });
  const modals = () => slack.modals('T0ACME', 'U0ANNA');
  return { ...setting, modals, viewId: opened.view?.id ?? '' };
}

it('a trigger_id dies after three seconds, and outlives a refused view', async () => {
  const setting = await startSetting();
  const { slack, client, anna } = setting;
  const late = await trigger(setting, anna);
  slack.advance(3001);
  expect(await errorOf(client.views.open({ trigger_id: late, view: modal() }))).toBe('expired_trigger_id');
  const trigger_id = await trigger(setting, anna);
  expect(await refusalOf(client.views.open({ trigger_id, view: modal({ title: plain(long) }) }))).toEqual({
    error: 'invalid_arguments',
    messages: ['[ERROR] must be less than 25 characters [json-pointer:/view/title/text]'],
  });
  expect(await client.views.open({ trigger_id, view: modal() })).toMatchObject({ ok: true });
});

it('an update keeps what was typed, and is refused for a view that is gone or too large', async () => {
  const { client, anna, viewId: view_id } = await withModal();
  const update = (view: ModalView) => client.views.update({ view_id, view });
  anna.fill('connect', { account: 'acme' });
  const { view } = await update(modal({ title: plain('Changed') }));
  expect(view).toMatchObject({ state: { values: { account: { account: { value: 'acme' } } } } });
  const section = { type: 'section', text: { type: 'mrkdwn', text: 'ä'.repeat(1400) } };
  expect(await errorOf(update(modal({ blocks: Array(90).fill(section) })))).toBe('view_too_large');
  await anna.close();
  expect(await errorOf(update(modal()))).toBe('not_found');
});

describe('submitting', () => {
  it.each([
    [{ account: '' }, { account: 'Please complete this required field.' }],
    [{ account: 'a' }, { account: 'Enter at least 2 characters.' }],
    [
      { contact: 'nobody', page: 'nowhere', port: '70000' },
      { contact: 'Enter a valid email address.', page: 'Enter a valid URL.', port: 'Enter at most 65535.' },
    ],
    [{ contact: 'a@b.example', page: 'https://a.example', port: '1.5' }, { port: 'Enter a whole number.' }],
  ])('%j is kept back', async (values, errors) => {
    const blocks = [
      input('contact', { type: 'email_text_input' }),
      input('page', { type: 'url_text_input' }),
      input('port', { type: 'number_input', is_decimal_allowed: false, max_value: '65535' }),
    ];
    const { app, anna, modals } = await withModal('contact' in values ? { blocks } : {});
    const before = app.received.length;
    expect(await anna.submit('connect', values)).toMatchObject({ outcome: 'not_sent', errors });
    expect(app.received).toHaveLength(before);
    expect(modals()).toHaveLength(1);
  });

  it.each([
    ['no JSON', { body: 'Thanks!' }],
    ['an unknown action', { body: { response_action: 'dance' } }],
    ['faults for fields that are none', { body: { response_action: 'errors', errors: { nothing: 'x' } } }],
    ['too long a title', { body: { response_action: 'update', view: modal({ title: plain(long) }) } }],
    ['an error status', { status: 500 }],
  ])('leaves the modal open and says so on %s', async (_what, reply) => {
    const { app, anna, modals } = await withModal();
    app.reply(() => reply);
    const { outcome, shown } = await anna.submit('connect', { account: 'acme' });
    expect(outcome).toBe('status' in reply ? 'http_service_error' : 'invalid_response');
    expect(shown).toBe('We had some trouble connecting. Try again?');
    expect(modals()).toHaveLength(1);
  });

  it('obeys update, push and clear, and shows the view underneath when the one on top is done', async () => {
    const { app, anna, modals } = await withModal();
    const push = { response_action: 'push', view: modal({ title: plain('On top') }) };
    const answers: [body: object | undefined, titles: string[]][] = [
      [{ response_action: 'update', view: modal({ title: plain('Two') }) }, ['Two']],
      [push, ['Two', 'On top']],
      [undefined, ['Two']],
      [push, ['Two', 'On top']],
      [{ response_action: 'clear' }, []],
    ];
    for (const [body, titles] of answers) {
      app.reply(() => ({ body }));
      await anna.submit(undefined, { account: 'acme' });
      expect(modals().map(({ content }) => content.title)).toMatchObject(titles.map(plain));
    }
  });
});

it('a stack of modals is pushed to from inside it, and goes all at once with clear_on_close', async () => {
  const button = { type: 'button', action_id: 'push', text: plain('More') };
  const blocks = [{ type: 'actions', block_id: 'more', elements: [button] }];
  const { app, client, anna, modals, viewId } = await withModal({ blocks });
  await anna.click({ viewId }, { actionId: 'push' });
  const { trigger_id, ...sent } = lastSent({ app });
  expect(sent).toMatchObject({ type: 'block_actions', container: { type: 'view', view_id: viewId } });
  expect(sent).not.toHaveProperty('response_url');
  await client.views.push({ trigger_id, view: modal({ blocks, clear_on_close: true }) });
  expect(modals()).toHaveLength(2);
  await anna.close();
  expect(modals()).toEqual([]);
});
