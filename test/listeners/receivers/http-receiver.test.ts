import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { failingDatabase } from '../../support/failing-database.ts';
import { test } from '../../support/fixtures.ts';
import { sendJson, signedOnce } from '../../support/signed.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const EVENT = JSON.stringify({
  type: 'event_callback',
  event_id: 'Ev0SIGNED',
  event_time: 1,
  team_id: TEAM,
  event: { type: 'app_home_opened', user: PEOPLE.member, tab: 'home' },
});

/** Sends the head of a request and no byte of its body. */
async function answerToHead({ origin }: TestWorld, path: string, headers: Record<string, string>) {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${lines.join('')}\r\n`);
  return text(socket);
}

const looksSigned = () => ({
  'x-slack-request-timestamp': String(Math.floor(Date.now() / 1000)),
  'x-slack-signature': `v0=${'0'.repeat(64)}`,
});

describe('a request of a stranger', () => {
  test.override({ worldOptions: { env: { MCP: 'on' } } });

  test.for(['/slack/events', '/mcp'])(
    'to %s is refused by its headers, before anything of its body was read',
    async (path, { world }) => {
      const length = { 'content-length': '5000' };
      expect(await answerToHead(world, path, length)).toMatch(/^HTTP\/1\.1 401 /);
      const old = { ...length, ...looksSigned(), 'x-slack-request-timestamp': '1700000000' };
      expect(await answerToHead(world, path, old)).toMatch(/^HTTP\/1\.1 401 /);
      const long = { ...looksSigned(), 'content-length': '1000001' };
      expect(await answerToHead(world, path, long)).toMatch(/^HTTP\/1\.1 413 .*connection: close/is);
    },
  );
});

describe('an event', () => {
  test('that could not be stored is not acknowledged, and is carried out by Slack’s retry', async ({
    world,
  }) => {
    const send = signedOnce(world.slack.app.signingSecret, EVENT);
    const database = failingDatabase(world);
    database.refuse('deckhand_jobs');
    expect(await send(world.origin)).toBe(500);
    expect(world.slack.home(TEAM, PEOPLE.member)).toBeUndefined();
    database.accept();
    expect(await send(world.origin, { 'x-slack-retry-num': '1' })).toBe(200);
    await world.slack.until(() => world.slack.home(TEAM, PEOPLE.member) !== undefined);
  });

  test('that is replayed is carried out once, after a restart too', async ({ world }) => {
    const send = signedOnce(world.slack.app.signingSecret, EVENT);
    const published = () => world.slack.calls.filter(({ method }) => method === 'views.publish').length;
    expect(await send(world.origin)).toBe(200);
    await world.slack.until(() => published() > 0);
    // Which lets the job end.
    await world.restart(async () => undefined);
    const byOne = published();
    expect(await send(world.origin)).toBe(200);
    // A job that comes later ends later.
    await sendJson(world, { ...JSON.parse(EVENT), event_id: 'Ev0NEXT' });
    await world.slack.until(() => published() > byOne);
    await world.app.stop(60_000);
    expect(published()).toBe(2 * byOne);
  });
});

test('a change that is replayed is carried out once', async ({ world }) => {
  await world.connect();
  const asked = {
    command: '/deckhand',
    text: 'use storefront',
    team_id: TEAM,
    user_id: PEOPLE.admin,
    channel_id: CHANNEL,
    trigger_id: '1.2.replayed',
  };
  const send = signedOnce(world.slack.app.signingSecret, new URLSearchParams(asked).toString());
  expect(await Promise.all([send(world.origin), send(world.origin)])).toEqual([200, 200]);
  const bound = () =>
    world.slack.messages(TEAM, CHANNEL).filter(({ text }) => text.includes('bound this channel'));
  await world.slack.until(() => bound().length > 0);
  expect(await send(world.origin)).toBe(200);
  await world.app.stop(60_000);
  expect(bound()).toHaveLength(1);
});
