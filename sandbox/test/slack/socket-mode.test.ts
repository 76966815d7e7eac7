import { expect, it, onTestFinished } from 'vitest';
import type { LocalSlack } from '../../slack/local-slack.ts';
import { startLocalSlack } from '../../slack/server.ts';
import { ACME, clientOf, errorOf } from './setting.ts';

async function start(): Promise<LocalSlack & { token: string }> {
  const slack = await startLocalSlack({ app: { socketMode: true }, ackTimeoutMs: 2000 });
  onTestFinished(slack.stop);
  return { ...slack, token: slack.addWorkspace(ACME).botToken };
}

async function openUrl(slack: LocalSlack): Promise<string> {
  return (await clientOf(slack, slack.appToken).apps.connections.open()).url ?? '';
}

/** One connection of an app, which acknowledges only when a test says so. */
function connect(url: string) {
  const socket = new WebSocket(url);
  onTestFinished(() => socket.close());
  const once = (type: string) => new Promise<Event>((resolve) => socket.addEventListener(type, resolve));
  /** Resolves with the next frame of a type. */
  const next = (type: string) =>
    new Promise<{ reason?: string; envelope_id: string }>((resolve) => {
      socket.addEventListener('message', ({ data }) => {
        const frame = JSON.parse(String(data));
        if (frame.type === type) resolve(frame);
      });
    });
  return { once, next, ack: (envelope_id: string) => socket.send(JSON.stringify({ envelope_id })) };
}

it('opens connections with the token of the app only, and each address once', async () => {
  const slack = await start();
  const withBotToken = clientOf(slack, slack.token).apps.connections.open();
  expect(await errorOf(withBotToken)).toBe('not_allowed_token_type');
  const url = await openUrl(slack);
  for (const outcome of ['open', 'error']) await connect(url).once(outcome);
});

it('refuses an eleventh connection', async () => {
  const slack = await start();
  for (let count = 0; count < 10; count += 1) await connect(await openUrl(slack)).next('hello');
  const late = connect(await openUrl(slack));
  const closed = late.once('close');
  expect(await late.next('disconnect')).toMatchObject({ reason: 'too_many_websockets' });
  await closed;
  expect(slack.connections()).toHaveLength(10);
});

it('warns of a refresh, delivers on meanwhile, and closes the connection ten seconds later', async () => {
  const slack = await start();
  const old = connect(await openUrl(slack));
  await old.next('hello');
  const [warned, envelope, closed] = [old.next('disconnect'), old.next('slash_commands'), old.once('close')];
  slack.refreshConnections();
  expect(await warned).toMatchObject({ reason: 'warning' });
  const typed = slack.as('T0ACME', 'U0ANNA').command('deploys', '/deckhand');
  old.ack((await envelope).envelope_id);
  expect((await typed).outcome).toBe('ok');
  slack.advance(9000);
  expect(slack.connections()).toEqual([{ id: expect.any(String), ending: true }]);
  slack.advance(1000);
  await closed;
  await slack.until(() => slack.connections().length === 0);
});
