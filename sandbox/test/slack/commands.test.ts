import { describe, expect, it } from 'vitest';
import { startSetting } from './setting.ts';

describe('slash commands', () => {
  it('arrive signed, as a form, with everything an app answers by', async () => {
    const { slack, app, anna } = await startSetting();
    const result = await anna.command('deploys', '/deckhand  test storefront ');
    expect(result).toMatchObject({ outcome: 'ok', status: 200, body: '' });
    const [received] = app.received;
    expect(received?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(received?.payload).toMatchObject({
      team_id: 'T0ACME',
      channel_id: 'C0DEPLOY',
      channel_name: 'deploys',
      user_id: 'U0ANNA',
      command: '/deckhand',
      text: 'test storefront',
      is_enterprise_install: 'false',
      response_url: expect.stringContaining(`${slack.origin}/commands/T0ACME/`),
      trigger_id: expect.stringMatching(/^\d+\.\d+\.[0-9a-f]+$/),
    });
  });

  it('do not name private channels', async () => {
    const { app, anna } = await startSetting();
    await anna.command('secret', '/deckhand');
    expect(app.received[0]?.payload).toMatchObject({ channel_id: 'C0PRIV', channel_name: 'privategroup' });
  });

  it.each([
    { body: 'plain words', shown: 'plain words' },
    { body: { text: 'only you' }, shown: 'only you' },
  ])('show an answer in the ack to the person alone, unless it says in_channel', async ({ body, shown }) => {
    const { slack, app, anna } = await startSetting();
    app.reply(() => ({ body }));
    await anna.command('deploys', '/deckhand');
    expect(slack.ephemerals('T0ACME', 'U0ANNA')).toMatchObject([{ text: shown, channel: 'C0DEPLOY' }]);
    expect(slack.ephemerals('T0ACME', 'U0MAX')).toEqual([]);
    expect(slack.messages('T0ACME', 'deploys')).toEqual([]);
    app.reply(() => ({ body: { response_type: 'in_channel', text: 'everybody' } }));
    await anna.command('deploys', '/deckhand');
    expect(slack.messages('T0ACME', 'deploys')).toMatchObject([{ text: 'everybody' }]);
  });

  it.each([
    { reply: { status: 500 }, outcome: 'http_service_error' },
    { reply: { status: 404 }, outcome: 'http_client_error' },
    { reply: { hang: true }, outcome: 'operation_timeout' },
  ])('tell the person of $outcome', async ({ reply, outcome }) => {
    const { slack, app, anna } = await startSetting({ ackTimeoutMs: 100 });
    app.reply(() => reply);
    expect(await anna.command('deploys', '/deckhand')).toMatchObject({ outcome });
    expect(slack.ephemerals('T0ACME', 'U0ANNA')).toMatchObject([
      { text: `/deckhand failed with the error "${outcome}"` },
    ]);
  });

  it('are only delivered where they are registered and the app is installed', async () => {
    const { slack, app, anna } = await startSetting();
    expect((await anna.command('deploys', '/other')).outcome).toBe('invalid_command');
    slack.addWorkspace({ id: 'T0BARE', users: [{ id: 'U0' }], channels: [{ name: 'a' }], installed: false });
    expect((await slack.as('T0BARE', 'U0').command('a', '/deckhand')).outcome).toBe('invalid_command');
    expect(app.received).toEqual([]);
  });

  it('come with ids for names where the app asked for escaping', async () => {
    const command = { command: '/deckhand', description: 'x', usage_hint: '', should_escape: true };
    const { app, anna } = await startSetting({ app: { commands: [command] } });
    await anna.command('deploys', '/deckhand ask @max in #deploys <now>');
    expect(app.received[0]?.payload.text).toBe('ask <@U0MAX|max> in <#C0DEPLOY|deploys> &lt;now&gt;');
  });
});
