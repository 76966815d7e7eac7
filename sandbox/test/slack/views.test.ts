import type { HomeView, ModalView } from '@slack/types';
import { describe, expect, it } from 'vitest';
import { clientOf, refusalOf, type Setting, startSetting } from './setting.ts';

const plain = (text: string) => ({ type: 'plain_text', text }) as const;

function modal(extra: Partial<ModalView> = {}): ModalView {
  return {
    type: 'modal',
    callback_id: 'connect',
    title: plain('Connect'),
    submit: plain('Go'),
    blocks: [
      {
        type: 'input',
        block_id: 'account',
        label: plain('Account'),
        element: { type: 'plain_text_input', action_id: 'account', min_length: 2 },
      },
      {
        type: 'input',
        block_id: 'region',
        label: plain('Region'),
        optional: true,
        element: {
          type: 'static_select',
          action_id: 'region',
          options: [
            { text: plain('Lisbon'), value: 'lis' },
            { text: plain('Oslo'), value: 'osl' },
          ],
        },
      },
    ],
    ...extra,
  };
}

/** Anna types the command; the answer is its trigger_id. */
async function trigger({ slack, app }: Setting): Promise<string> {
  await slack.as('T0ACME', 'U0ANNA').command('deploys', '/deckhand connect');
  return app.received.at(-1)?.payload.trigger_id;
}

/** A setting in which Anna has the modal open. */
async function withModal(extra: Partial<ModalView> = {}) {
  const setting = await startSetting();
  const client = clientOf(setting.slack, setting.token);
  const opened = await client.views.open({ trigger_id: await trigger(setting), view: modal(extra) });
  return { ...setting, client, anna: setting.slack.as('T0ACME', 'U0ANNA'), viewId: opened.view?.id ?? '' };
}

describe('a trigger_id', () => {
  it('opens one modal, once', async () => {
    const setting = await startSetting();
    const client = clientOf(setting.slack, setting.token);
    const trigger_id = await trigger(setting);
    const { view } = await client.views.open({ trigger_id, view: modal() });
    expect(view).toMatchObject({ type: 'modal', callback_id: 'connect', root_view_id: view?.id });
    const again = client.views.open({ trigger_id, view: modal() });
    expect((await refusalOf(again)).error).toBe('exchanged_trigger_id');
    expect(setting.slack.modals('T0ACME', 'U0ANNA')).toHaveLength(1);
  });

  it('dies after three seconds', async () => {
    const setting = await startSetting();
    const client = clientOf(setting.slack, setting.token);
    const trigger_id = await trigger(setting);
    setting.slack.advance(3001);
    expect((await refusalOf(client.views.open({ trigger_id, view: modal() }))).error).toBe(
      'expired_trigger_id',
    );
  });

  it('has to be one of ours', async () => {
    const setting = await startSetting();
    const client = clientOf(setting.slack, setting.token);
    const refused = client.views.open({ trigger_id: '1.2.x', view: modal() });
    expect((await refusalOf(refused)).error).toBe('invalid_trigger_id');
  });

  it('outlives a refused view', async () => {
    const setting = await startSetting();
    const client = clientOf(setting.slack, setting.token);
    const trigger_id = await trigger(setting);
    const bad = await refusalOf(
      client.views.open({ trigger_id, view: modal({ title: plain('x'.repeat(25)) }) }),
    );
    expect(bad).toEqual({
      error: 'invalid_arguments',
      messages: ['[ERROR] must be less than 25 characters [json-pointer:/view/title/text]'],
    });
    expect(await client.views.open({ trigger_id, view: modal() })).toMatchObject({ ok: true });
  });
});

describe('views.update', () => {
  it('keeps what was typed where the field stays, and changes the hash', async () => {
    const { slack, client, anna, viewId } = await withModal();
    anna.fill('connect', { account: 'acme' });
    const before = slack.modals('T0ACME', 'U0ANNA')[0]?.hash;
    const { view } = await client.views.update({ view_id: viewId, view: modal({ title: plain('Changed') }) });
    expect(view).toMatchObject({ state: { values: { account: { account: { value: 'acme' } } } } });
    expect(view?.hash).not.toBe(before);
  });

  it('is refused with an old hash, and for a view that is gone or too large', async () => {
    const { client, anna, viewId } = await withModal();
    const old = client.views.update({ view_id: viewId, hash: '1.x', view: modal() });
    expect((await refusalOf(old)).error).toBe('hash_conflict');
    const section = { type: 'section', text: { type: 'mrkdwn', text: 'ä'.repeat(1400) } };
    const large = client.views.update({ view_id: viewId, view: modal({ blocks: Array(90).fill(section) }) });
    expect((await refusalOf(large)).error).toBe('view_too_large');
    await anna.close();
    expect((await refusalOf(client.views.update({ view_id: viewId, view: modal() }))).error).toBe(
      'not_found',
    );
  });

  it('finds a view by its external_id, which no other may have', async () => {
    const { slack, app, client } = await withModal({ external_id: 'one' });
    await client.views.update({
      external_id: 'one',
      view: modal({ external_id: 'one', title: plain('New') }),
    });
    expect(slack.modals('T0ACME', 'U0ANNA')[0]?.content.title).toMatchObject({ text: 'New' });
    await slack.as('T0ACME', 'U0MAX').command('deploys', '/deckhand');
    const trigger_id = app.received.at(-1)?.payload.trigger_id;
    const twice = client.views.open({ trigger_id, view: modal({ external_id: 'one' }) });
    expect((await refusalOf(twice)).error).toBe('duplicate_external_id');
  });
});

describe('submitting', () => {
  it('sends what was filled in and closes on an empty answer', async () => {
    const { slack, app, anna } = await withModal();
    const result = await anna.submit('connect', { account: 'acme', region: 'osl' });
    expect(result.outcome).toBe('ok');
    expect(app.received.at(-1)?.payload).toMatchObject({
      type: 'view_submission',
      user: { id: 'U0ANNA' },
      view: {
        callback_id: 'connect',
        hash: expect.any(String),
        state: {
          values: {
            account: { account: { type: 'plain_text_input', value: 'acme' } },
            region: { region: { selected_option: { value: 'osl' } } },
          },
        },
      },
    });
    expect(slack.modals('T0ACME', 'U0ANNA')).toEqual([]);
  });

  it('is kept back where a required field is empty or wrong', async () => {
    const { app, anna } = await withModal();
    const before = app.received.length;
    expect(await anna.submit()).toMatchObject({
      outcome: 'not_sent',
      errors: { account: 'Please complete this required field.' },
    });
    expect((await anna.submit(undefined, { account: 'a' })).errors).toEqual({
      account: 'Enter at least 2 characters.',
    });
    expect(app.received).toHaveLength(before);
  });

  it('is kept back where an address or a number is none', async () => {
    const { slack, app, client, anna } = await withModal();
    await slack.as('T0ACME', 'U0MAX').command('deploys', '/deckhand');
    const input = (block_id: string, element: object) => ({
      type: 'input',
      block_id,
      label: { type: 'plain_text', text: block_id },
      element: { action_id: block_id, ...element },
    });
    const blocks = [
      input('contact', { type: 'email_text_input' }),
      input('page', { type: 'url_text_input' }),
      input('port', { type: 'number_input', is_decimal_allowed: false, max_value: '65535' }),
    ];
    const { trigger_id } = app.received.at(-1)?.payload ?? {};
    await client.apiCall('views.open', { trigger_id, view: modal({ callback_id: 'ask', blocks }) });
    const max = slack.as('T0ACME', 'U0MAX');
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

  it('shows faults under their fields', async () => {
    const { slack, app, anna } = await withModal();
    app.reply(() => ({ body: { response_action: 'errors', errors: { account: 'unknown' } } }));
    expect(await anna.submit('connect', { account: 'acme' })).toMatchObject({
      outcome: 'errors',
      errors: { account: 'unknown' },
    });
    expect(slack.modals('T0ACME', 'U0ANNA')).toMatchObject([{ errors: { account: 'unknown' } }]);
  });

  it('is in trouble with faults for fields that are none', async () => {
    const { slack, app, anna } = await withModal();
    app.reply(() => ({ body: { response_action: 'errors', errors: { nothing: 'x' } } }));
    expect((await anna.submit('connect', { account: 'acme' })).outcome).toBe('invalid_response');
    expect(slack.modals('T0ACME', 'U0ANNA')).toHaveLength(1);
  });

  it.each([
    ['no JSON', { body: 'Thanks!' }],
    ['an unknown action', { body: { response_action: 'dance' } }],
    [
      'a view over its limits',
      { body: { response_action: 'update', view: modal({ title: plain('x'.repeat(25)) }) } },
    ],
    ['an error status', { status: 500 }],
  ])('leaves the modal open and says so on %s', async (_what, reply) => {
    const { slack, app, anna } = await withModal();
    app.reply(() => reply);
    const result = await anna.submit('connect', { account: 'acme' });
    expect(result.outcome).not.toBe('ok');
    expect(result.shown).toBe('We had some trouble connecting. Try again?');
    expect(slack.modals('T0ACME', 'U0ANNA')).toHaveLength(1);
  });

  it('obeys update, push and clear', async () => {
    const { slack, app, anna } = await withModal();
    const titles = () =>
      slack.modals('T0ACME', 'U0ANNA').map((view) => (view.content.title as { text: string }).text);
    app.reply(() => ({ body: { response_action: 'update', view: modal({ title: plain('Two') }) } }));
    await anna.submit(undefined, { account: 'acme' });
    expect(titles()).toEqual(['Two']);
    app.reply(() => ({ body: { response_action: 'push', view: modal({ title: plain('On top') }) } }));
    await anna.submit();
    expect(titles()).toEqual(['Two', 'On top']);
    app.reply(() => ({ body: { response_action: 'clear' } }));
    await anna.submit(undefined, { account: 'acme' });
    expect(titles()).toEqual([]);
  });

  it('shows the view underneath when the one on top is done', async () => {
    const { slack, app, anna } = await withModal();
    app.reply(() => ({ body: { response_action: 'push', view: modal({ title: plain('On top') }) } }));
    await anna.submit(undefined, { account: 'acme' });
    app.reply(() => ({}));
    await anna.submit(undefined, { account: 'acme' });
    expect(slack.modals('T0ACME', 'U0ANNA')).toHaveLength(1);
  });
});

describe('the stack of modals', () => {
  const withButton: Partial<ModalView> = {
    blocks: [
      {
        type: 'actions',
        block_id: 'more',
        elements: [{ type: 'button', action_id: 'push', text: plain('More') }],
      },
    ],
  };

  it('is three high, and pushed to by triggers from inside it', async () => {
    const { slack, app, client, anna, viewId } = await withModal(withButton);
    const push = async (id: string) => {
      await anna.click({ viewId: id }, { actionId: 'push' });
      const { payload } = app.received.at(-1) ?? {};
      expect(payload).toMatchObject({ type: 'block_actions', container: { type: 'view', view_id: id } });
      expect(payload).not.toHaveProperty('response_url');
      return client.views.push({ trigger_id: payload.trigger_id, view: modal(withButton) });
    };
    const { view: second } = await push(viewId);
    const { view: third } = await push(second?.id ?? '');
    expect(third).toMatchObject({ previous_view_id: second?.id, root_view_id: viewId });
    expect((await refusalOf(push(third?.id ?? ''))).error).toBe('push_limit_reached');
    expect(slack.modals('T0ACME', 'U0ANNA')).toHaveLength(3);
  });

  it('tells of a closed view where it asked for that', async () => {
    const { app, anna } = await withModal({ notify_on_close: true });
    await anna.close();
    expect(app.received.at(-1)?.payload).toMatchObject({ type: 'view_closed', is_cleared: false });
  });

  it('goes all at once with clear_on_close', async () => {
    const { slack, app, client, anna, viewId } = await withModal(withButton);
    await anna.click({ viewId }, { actionId: 'push' });
    const { trigger_id } = app.received.at(-1)?.payload ?? {};
    await client.views.push({ trigger_id, view: modal({ clear_on_close: true }) });
    await anna.close();
    expect(slack.modals('T0ACME', 'U0ANNA')).toEqual([]);
  });
});

describe('the home tab', () => {
  const home = (text: string): HomeView => ({
    type: 'home',
    blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }],
  });

  it('is published for one person, and its opening is told', async () => {
    const { slack, app, token } = await startSetting();
    const { views } = clientOf(slack, token);
    const { view } = await views.publish({ user_id: 'U0ANNA', view: home('one') });
    await slack.as('T0ACME', 'U0ANNA').openHome();
    expect(app.received.at(-1)?.payload.event).toMatchObject({
      type: 'app_home_opened',
      tab: 'home',
      user: 'U0ANNA',
      view: { id: view?.id },
    });
    expect(slack.home('T0ACME', 'U0MAX')).toBeUndefined();
    const stale = views.publish({ user_id: 'U0ANNA', hash: '1.old', view: home('two') });
    expect((await refusalOf(stale)).error).toBe('hash_conflict');
    await views.publish({ user_id: 'U0ANNA', hash: view?.hash ?? '', view: home('two') });
    expect(slack.home('T0ACME', 'U0ANNA')?.content.blocks).toMatchObject([{ text: { text: 'two' } }]);
  });
});
