import { App, LogLevel } from '@slack/bolt';
import { afterEach, describe, expect, it } from 'vitest';
import type { LocalSlack } from '../../slack/local-slack.ts';
import { startLocalSlack } from '../../slack/server.ts';
import { ACME, clientOf, refusalOf } from './setting.ts';

/** The platform's own framework, unchanged, is at home in the local workspace. */

const toStop: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of toStop.splice(0).reverse()) await stop();
});

async function startBolt(): Promise<{ slack: LocalSlack; bolt: App }> {
  const slack = await startLocalSlack();
  toStop.push(slack.stop);
  const { botToken } = slack.addWorkspace(ACME);
  const bolt = new App({
    token: botToken,
    signingSecret: slack.app.signingSecret,
    clientOptions: { slackApiUrl: slack.apiUrl },
    logLevel: LogLevel.ERROR,
  });
  const server = await bolt.start({ port: 0, host: '127.0.0.1' });
  toStop.push(() => bolt.stop());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  slack.deliverTo(`http://127.0.0.1:${address.port}/slack/events`);
  return { slack, bolt };
}

const plain = (text: string) => ({ type: 'plain_text', text }) as const;

describe('a Bolt app', () => {
  it('takes a command, opens a modal, reads its submission and answers', async () => {
    const { slack, bolt } = await startBolt();
    bolt.command('/deckhand', async ({ ack, client, body }) => {
      await ack();
      await client.views.open({
        trigger_id: body.trigger_id,
        view: {
          type: 'modal',
          callback_id: 'connect',
          private_metadata: body.channel_id,
          title: plain('Connect'),
          submit: plain('Go'),
          blocks: [
            {
              type: 'input',
              block_id: 'account',
              label: plain('Account'),
              element: { type: 'plain_text_input', action_id: 'account' },
            },
          ],
        },
      });
    });
    bolt.view('connect', async ({ ack, view, client, body }) => {
      const account = view.state.values.account?.account?.value ?? '';
      if (account === 'bad')
        return ack({ response_action: 'errors', errors: { account: 'No such account' } });
      await ack();
      await client.chat.postEphemeral({
        channel: view.private_metadata,
        user: body.user.id,
        text: `hello ${account}`,
      });
    });
    const anna = slack.as('T0ACME', 'U0ANNA');
    expect((await anna.command('deploys', '/deckhand connect')).outcome).toBe('ok');
    await slack.until(() => anna.openView());
    expect((await anna.submit('connect', { account: 'bad' })).errors).toEqual({ account: 'No such account' });
    expect((await anna.submit('connect', { account: 'acme' })).outcome).toBe('ok');
    const [said] = await slack.until(() => {
      const seen = slack.ephemerals('T0ACME', 'U0ANNA');
      return seen.length > 0 && seen;
    });
    expect(said?.text).toBe('hello acme');
  });

  it('takes clicks, options, shortcuts and events', async () => {
    const { slack, bolt } = await startBolt();
    slack.app.shortcuts.push({ type: 'global', name: 'Run', callback_id: 'run' });
    const seen: string[] = [];
    bolt.action('go', async ({ ack, respond }) => {
      await ack();
      await respond({ replace_original: true, text: 'gone' });
    });
    bolt.options('search', ({ ack, options }) =>
      ack({ options: [{ text: plain(options.value), value: options.value }] }),
    );
    bolt.shortcut('run', async ({ ack, shortcut }) => {
      await ack();
      seen.push(shortcut.type);
    });
    bolt.event('app_home_opened', async ({ event }) => void seen.push(event.type));
    const { ts = '' } = await bolt.client.chat.postMessage({
      channel: 'C0DEPLOY',
      text: 'x',
      blocks: [
        {
          type: 'actions',
          elements: [
            { type: 'button', action_id: 'go', text: plain('Go') },
            { type: 'external_select', action_id: 'search', min_query_length: 0 },
          ],
        },
      ],
    });
    const anna = slack.as('T0ACME', 'U0ANNA');
    const at = { channel: 'C0DEPLOY', ts };
    expect((await anna.suggest(at, { actionId: 'search', query: 'store' })).options).toMatchObject([
      { value: 'store' },
    ]);
    await anna.click(at, { actionId: 'go' });
    await slack.until(() => slack.messages('T0ACME', 'deploys')[0]?.text === 'gone');
    await anna.shortcut('run');
    expect((await anna.openHome())?.outcome).toBe('ok');
    expect(seen).toEqual(['shortcut', 'app_home_opened']);
  });
});

describe('a Bolt app in Socket Mode', () => {
  it('takes commands and events over its connection', async () => {
    const slack = await startLocalSlack({ app: { socketMode: true } });
    toStop.push(slack.stop);
    const { botToken } = slack.addWorkspace(ACME);
    const anna = slack.as('T0ACME', 'U0ANNA');
    expect((await anna.command('deploys', '/deckhand')).outcome).toBe('dispatch_failed');
    const bolt = new App({
      token: botToken,
      appToken: slack.appToken,
      socketMode: true,
      clientOptions: { slackApiUrl: slack.apiUrl },
      logLevel: LogLevel.ERROR,
    });
    const seen: string[] = [];
    bolt.command('/deckhand', ({ ack, command }) => ack(`you said ${command.text}`));
    bolt.event('app_home_opened', async ({ event }) => void seen.push(event.type));
    await bolt.start();
    toStop.push(() => bolt.stop());
    expect((await anna.command('deploys', '/deckhand hello')).outcome).toBe('ok');
    expect(slack.ephemerals('T0ACME', 'U0ANNA').at(-1)?.text).toBe('you said hello');
    expect((await anna.openHome())?.outcome).toBe('ok');
    expect(seen).toEqual(['app_home_opened']);
  });

  it('opens connections with the token of the app only, and each address once', async () => {
    const slack = await startLocalSlack({ app: { socketMode: true } });
    toStop.push(slack.stop);
    const { botToken } = slack.addWorkspace(ACME);
    const refused = clientOf(slack, botToken).apps.connections.open();
    expect((await refusalOf(refused)).error).toBe('not_allowed_token_type');
    const { url = '' } = await clientOf(slack, slack.appToken).apps.connections.open();
    expect(await connect(url)).toBe('open');
    expect(await connect(url)).toBe('error');
  });
});

function connect(url: string): Promise<string> {
  const socket = new WebSocket(url);
  return new Promise((resolve) => {
    socket.addEventListener('open', () => resolve('open'));
    socket.addEventListener('error', () => resolve('error'));
  });
}
