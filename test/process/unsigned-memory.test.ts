import { connect, type Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { startDeckhand } from '../support/deckhand-process.ts';
import { test } from '../support/fixtures.ts';
import { byLength } from '../support/length.ts';
import { memoryMb } from '../support/memory.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { CHANNEL, environment, PEOPLE, TEAM } from '../support/test-world.ts';

const CONNECTIONS = byLength(400, 600);
/** What may be held, as much again while bodies are put together, and what 600 connections and the runtime take. */
const MAX_MORE_MB = 200;

/** A stranger's request; resolves when its last byte but one is sent, or when it was answered. */
function holdBack(origin: string, path: string, bytes: number): Promise<{ socket: Socket; answer: string }> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const held = { socket, answer: '' };
  const at = Math.floor(Date.now() / 1000);
  const signature = `x-slack-request-timestamp: ${at}\r\nx-slack-signature: v0=${'0'.repeat(64)}`;
  const type = 'content-type: application/x-www-form-urlencoded';
  const { promise, resolve } = Promise.withResolvers<typeof held>();
  socket.on('data', (chunk) => {
    held.answer += chunk.toString('latin1');
    resolve(held);
  });
  socket.on('error', () => resolve(held)).on('close', () => resolve(held));
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\n${type}\r\n${signature}\r\ncontent-length: ${bytes}\r\n\r\n`,
  );
  socket.write('x'.repeat(bytes - 1), () => resolve(held));
  return promise;
}

test.for(byLength(['/slack/events'], ['/slack/events', '/service/oauth/start', '/mcp']))(
  'memory stays bounded beside many unsigned connections that hold back the end of a body at %s',
  async (path, { world }) => {
    const { slack, service, config } = world;
    const deckhand = await startDeckhand({
      ...environment(slack, service, config.SLACK_BOT_TOKEN ?? '', await temporaryFolder()),
      SERVICE_OAUTH_CLIENT_ID: 'client',
      SERVICE_OAUTH_CLIENT_SECRET: 'secret',
      PUBLIC_URL: 'https://deckhand.test',
      MCP: 'on',
    });
    slack.deliverTo(`${deckhand.origin}/slack/events`);
    const before = memoryMb(deckhand.pid);
    let most = before;
    const held = await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        const one = await holdBack(deckhand.origin, path, 900_000);
        most = Math.max(most, memoryMb(deckhand.pid));
        return one;
      }),
    );
    const { outcome } = await slack.as(TEAM, PEOPLE.member).command(CHANNEL, '/deckhand help');
    expect(outcome).toBe('ok');
    expect(Math.max(most, memoryMb(deckhand.pid)) - before).toBeLessThan(MAX_MORE_MB);
    // Who is still sending may not read the answer before the connection ends.
    const cut = held.filter(({ socket, answer }) => socket.destroyed || answer !== '');
    expect(cut.length).toBeGreaterThan(CONNECTIONS / 2);
    const answers = new Set(held.flatMap(({ answer }) => answer.slice(9, 12) || []));
    expect([...answers]).toEqual(['503']);
  },
);
