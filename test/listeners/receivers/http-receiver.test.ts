import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { failingDatabase } from '../../support/failing-database.ts';
import { test } from '../../support/fixtures.ts';
import { sendEvent } from '../../support/signed.ts';
import { PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const OPENED = { type: 'app_home_opened', user: PEOPLE.member, tab: 'home' };

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

test('an event that could not be stored is not acknowledged, and is carried out by Slack’s retry', async ({
  world,
}) => {
  const database = failingDatabase(world);
  database.refuse('deckhand_jobs');
  expect((await sendEvent(world, OPENED, { event_id: 'Ev0AGAIN' })).status).toBe(500);
  expect(world.slack.home(TEAM, PEOPLE.member)).toBeUndefined();
  database.accept();
  expect((await sendEvent(world, OPENED, { event_id: 'Ev0AGAIN' })).status).toBe(200);
  await world.slack.until(() => world.slack.home(TEAM, PEOPLE.member) !== undefined);
});
