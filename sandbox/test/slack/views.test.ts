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

const options = ['lis', 'osl'].map((value) => ({ text: plain(value), value }));

function modal(extra: object = {}): ModalView {
  const account = input('account', { type: 'plain_text_input', min_length: 2 });
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
  const max = slack.as('T0ACME', 'U0MAX');
  return { ...setting, modals, max, viewId: opened.view?.id ?? '' };
}

it('a trigger_id dies after three seconds, and outlives a refused view', async () => {
  const setting = await startSetting();
  const { slack, client, anna } = setting;
  const late = await trigger(setting, anna);
  slack.advance(3001);
  const expired = client.views.open({ trigger_id: late, view: modal() });
  expect(await errorOf(expired)).toBe('expired_trigger_id');
  const trigger_id = await trigger(setting, anna);
  expect(await refusalOf(client.views.open({ trigger_id, view: modal({ title: plain(long) }) }))).toEqual({
    error: 'invalid_arguments',
    messages: ['[ERROR] must be less than 25 characters [json-pointer:/view/title/text]'],
  });
  expect(await client.views.open({ trigger_id, view: modal() })).toMatchObject({ ok: true });
});

describe('views.update', () => {
  it('keeps what was typed where the field stays, and changes the hash', async () => {
    const { client, anna, modals, viewId } = await withModal();
    anna.fill('connect', { account: 'acme' });
    const before = modals()[0]?.hash;
    const { view } = await client.views.update({ view_id: viewId, view: modal({ title: plain('Changed') }) });
    expect(view).toMatchObject({ state: { values: { account: { account: { value: 'acme' } } } } });
    expect(view?.hash).not.toBe(before);
  });

  it('is refused with an old hash, and for a view that is gone or too large', async () => {
    const { client, anna, viewId: view_id } = await withModal();
    const update = (args: object, view = modal()) => errorOf(client.views.update({ view_id, view, ...args }));
    expect(await update({ hash: '1.x' })).toBe('hash_conflict');
    const section = { type: 'section', text: { type: 'mrkdwn', text: 'ä'.repeat(1400) } };
    expect(await update({}, modal({ blocks: Array(90).fill(section) }))).toBe('view_too_large');
    await anna.close();
    expect(await update({})).toBe('not_found');
  });
});

describe('submitting', () => {
  it('is kept back where a required field is empty or wrong', async () => {
    const { app, client, anna, max, ...setting } = await withModal();
    const before = app.received.length;
    const empty = { outcome: 'not_sent', errors: { account: 'Please complete this required field.' } };
    expect(await anna.submit()).toMatchObject(empty);
    const short = await anna.submit(undefined, { account: 'a' });
    expect(short.errors).toEqual({ account: 'Enter at least 2 characters.' });
    expect(app.received).toHaveLength(before);
    const blocks = [
      input('contact', { type: 'email_text_input' }),
      input('page', { type: 'url_text_input' }),
      input('port', { type: 'number_input', is_decimal_allowed: false, max_value: '65535' }),
    ];
    const trigger_id = await trigger({ app, client, anna, ...setting }, max);
    await client.views.open({ trigger_id, view: modal({ callback_id: 'ask', blocks }) });
    const refused = await max.submit('ask', { contact: 'nobody', page: 'nowhere', port: '70000' });
    expect(refused.errors).toEqual({
      contact: 'Enter a valid email address.',
      page: 'Enter a valid URL.',
      port: 'Enter at most 65535.',
    });
    const whole = { contact: 'a@b.example', page: 'https://a.example', port: '1.5' };
    expect((await max.submit('ask', whole)).errors).toEqual({ port: 'Enter a whole number.' });
    expect(anna.openViews()).toHaveLength(1);
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
    const titles = () => modals().map((view) => (view.content.title as { text: string }).text);
    const answers: [body: object | undefined, titles: string[]][] = [
      [{ response_action: 'update', view: modal({ title: plain('Two') }) }, ['Two']],
      [{ response_action: 'push', view: modal({ title: plain('On top') }) }, ['Two', 'On top']],
      [undefined, ['Two']],
      [{ response_action: 'push', view: modal({ title: plain('On top') }) }, ['Two', 'On top']],
      [{ response_action: 'clear' }, []],
    ];
    for (const [body, expected] of answers) {
      app.reply(() => ({ body }));
      await anna.submit(undefined, { account: 'acme' });
      expect(titles()).toEqual(expected);
    }
  });
});

describe('the stack of modals', () => {
  const button = { type: 'button', action_id: 'push', text: plain('More') };
  const blocks = [{ type: 'actions', block_id: 'more', elements: [button] }];

  it('is three high, pushed to by triggers from inside it, and goes all at once with clear_on_close', async () => {
    const { app, client, anna, modals, viewId } = await withModal({ blocks });
    const push = async (id: string) => {
      await anna.click({ viewId: id }, { actionId: 'push' });
      const sent = lastSent({ app });
      expect(sent).toMatchObject({ type: 'block_actions', container: { type: 'view', view_id: id } });
      expect(sent).not.toHaveProperty('response_url');
      return client.views.push({
        trigger_id: sent.trigger_id,
        view: modal({ blocks, clear_on_close: true }),
      });
    };
    const { view: second } = await push(viewId);
    const { view: third } = await push(second?.id ?? '');
    expect(third).toMatchObject({ previous_view_id: second?.id, root_view_id: viewId });
    expect(await errorOf(push(third?.id ?? ''))).toBe('push_limit_reached');
    expect(modals()).toHaveLength(3);
    await anna.close();
    expect(modals()).toEqual([]);
  });
});
