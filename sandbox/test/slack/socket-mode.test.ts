import { afterEach, describe, expect, it } from 'vitest';
import type { LocalSlack } from '../../slack/local-slack.ts';
import { startLocalSlack } from '../../slack/server.ts';
import { ACME, clientOf, errorOf } from './setting.ts';

interface Frame {
  type: string;
  reason?: string;
  envelope_id: string;
  num_connections?: number;
  accepts_response_payload?: boolean;
  payload?: { command?: string };
}

/** One connection of an app, which acknowledges only when a test says so. */
interface Link {
  frames: Frame[];
  /** Resolves with the next frame of a type. */
  next(type: string): Promise<Frame>;
  ack(envelopeId: string, payload?: object): void;
  closed: Promise<void>;
}

const toStop: (() => unknown)[] = [];

afterEach(async () => {
  for (const stop of toStop.splice(0).reverse()) await stop();
});

async function start(): Promise<LocalSlack & { token: string }> {
  const slack = await startLocalSlack({ app: { socketMode: true }, ackTimeoutMs: 2000 });
  toStop.push(slack.stop);
  return { ...slack, token: slack.addWorkspace(ACME).botToken };
}

async function connect(slack: LocalSlack): Promise<Link> {
  const { url = '' } = await clientOf(slack, slack.appToken).apps.connections.open();
  const socket = new WebSocket(url);
  toStop.push(() => socket.close());
  const frames: Frame[] = [];
  const waiting: { type: string; resolve: (frame: Frame) => void }[] = [];
  socket.addEventListener('message', ({ data }) => {
    const frame = JSON.parse(String(data)) as Frame;
    const at = waiting.findIndex((one) => one.type === frame.type);
    if (at < 0) frames.push(frame);
    else waiting.splice(at, 1)[0]?.resolve(frame);
  });
  const closed = new Promise<void>((resolve) => socket.addEventListener('close', () => resolve()));
  return {
    frames,
    closed,
    next: (type) => {
      const at = frames.findIndex((frame) => frame.type === type);
      const [come] = at < 0 ? [] : frames.splice(at, 1);
      return come ? Promise.resolve(come) : new Promise((resolve) => waiting.push({ type, resolve }));
    },
    ack: (envelope_id, payload) => socket.send(JSON.stringify({ envelope_id, payload })),
  };
}

/** A connection that Slack has said hello to. */
async function greeted(slack: LocalSlack): Promise<Link> {
  const link = await connect(slack);
  await link.next('hello');
  return link;
}
const type = (slack: LocalSlack, line: string) => slack.as('T0ACME', 'U0ANNA').command('deploys', line);

describe('Socket Mode', () => {
  it('opens connections with the token of the app only, and each address once', async () => {
    const slack = await start();
    const withBotToken = clientOf(slack, slack.token).apps.connections.open();
    expect(await errorOf(withBotToken)).toBe('not_allowed_token_type');
    const { url = '' } = await clientOf(slack, slack.appToken).apps.connections.open();
    for (const outcome of ['open', 'error'] as const) {
      const socket = new WebSocket(url);
      toStop.push(() => socket.close());
      await new Promise((resolve) => socket.addEventListener(outcome, resolve));
    }
  });

  it('refuses an eleventh connection', async () => {
    const slack = await start();
    for (let count = 0; count < 10; count += 1) await greeted(slack);
    const late = await connect(slack);
    expect(await late.next('disconnect')).toMatchObject({ reason: 'too_many_websockets' });
    await late.closed;
    expect(slack.connections()).toHaveLength(10);
  });

  it('warns of a refresh, delivers on meanwhile, and closes the connection later', async () => {
    const slack = await start();
    const old = await greeted(slack);
    slack.refreshConnections();
    expect(await old.next('disconnect')).toMatchObject({ reason: 'warning' });
    const typed = type(slack, '/deckhand');
    old.ack((await old.next('slash_commands')).envelope_id);
    expect((await typed).outcome).toBe('ok');
    slack.advance(9000);
    expect(slack.connections()).toEqual([{ id: expect.any(String), ending: true }]);
    slack.advance(1000);
    await old.closed;
    await slack.until(() => slack.connections().length === 0);
  });

  it('sends an envelope without an ack again over another connection', async () => {
    const slack = await start();
    const one = await greeted(slack);
    const typed = type(slack, '/deckhand lost');
    const { envelope_id } = await one.next('slash_commands');
    const two = await greeted(slack);
    const [first] = slack.connections();
    slack.dropConnections({ connection: first?.id ?? '' });
    expect(await two.next('slash_commands')).toMatchObject({ envelope_id });
    two.ack(envelope_id, { text: 'found' });
    const { outcome, delivery } = await typed;
    expect(outcome).toBe('ok');
    expect(delivery?.connections).toHaveLength(2);
    expect(slack.ephemerals('T0ACME', 'U0ANNA').at(-1)?.text).toBe('found');
  });
});
