import { randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import process from 'node:process';
import { Agent, request } from 'undici';
import { describe, expect, onTestFinished } from 'vitest';
import { startDeckhand } from '../support/deckhand-process.ts';
import { test } from '../support/fixtures.ts';
import { byLength } from '../support/length.ts';
import { memoryMb } from '../support/memory.ts';
import { sendSigned } from '../support/signed.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { CHANNEL, environment, PEOPLE, TEAM } from '../support/test-world.ts';

/** `DECKHAND_HOSTILE_MINUTES` takes the place of the ten. */
const MINUTES = byLength(0, Number(process.env.DECKHAND_HOSTILE_MINUTES ?? 10));
const MEMORY_MB = 256;
/** Slack waits no longer for an ack. */
const MAX_ACK_MS = 3_000;
const WARM_MS = 20_000;
const SETTLE_MS = 40_000;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Signed by somebody who has the secret, and nothing that Slack would send. */
const JUNK: ReadonlyArray<() => string> = [
  () => 'payload=%7B',
  () => `payload=${encodeURIComponent(JSON.stringify({ type: 'block_actions', actions: [{}], user: 7 }))}`,
  () => `{"type":"event_callback","event_id":"${'E'.repeat(500)}","event":${'['.repeat(5_000)}`,
  () => new URLSearchParams({ command: '/deckhand', text: '"\u202e'.repeat(200_000) }).toString(),
  () => `{"type":"event_callback","event":{"type":"${randomBytes(20).toString('hex')}"}}`,
  () => `payload=${encodeURIComponent(`{"type":"view_submission","view":${'{"a":'.repeat(2_000)}`)}`,
  () => randomBytes(900_000).toString('latin1'),
];

describe.runIf(MINUTES > 0)('hostile traffic', () => {
  test(`people are answered within ${MAX_ACK_MS / 1000} s throughout, in ${MEMORY_MB} MB, which come back`, async ({
    world,
  }) => {
    const { slack, service, config } = world;
    const deckhand = await startDeckhand(
      {
        ...environment(slack, service, config.SLACK_BOT_TOKEN ?? '', await temporaryFolder()),
        SERVICE_OAUTH_CLIENT_ID: 'client',
        SERVICE_OAUTH_CLIENT_SECRET: 'secret',
        PUBLIC_URL: 'https://deckhand.test',
        MCP: 'on',
        LOG_LEVEL: 'error',
      },
      // As the launcher and the image start it, where the machine has this much.
      ['--max-semi-space-size=16', `--max-old-space-size=${MEMORY_MB / 2}`],
    );
    const { origin, pid } = deckhand;
    const { hostname, port } = new URL(origin);
    const agent = new Agent({ connections: 50, headersTimeout: 20_000 });
    onTestFinished(() => agent.close());
    let isOver = false;
    const counts: Record<string, number> = {};

    /** Asks again and again, so often at once, and takes any answer. */
    const attack = (name: string, atOnce: number, pauseMs: number, act: () => Promise<unknown>) =>
      Array.from({ length: atOnce }, async () => {
        while (!isOver) {
          await act().catch(() => undefined);
          counts[name] = (counts[name] ?? 0) + 1;
          await wait(pauseMs);
        }
      });
    const post = async (path: string, body: string, headers: Record<string, string> = {}) => {
      const type = { 'content-type': 'application/x-www-form-urlencoded', ...headers };
      const options = { dispatcher: agent, method: 'POST', body, headers: type } as const;
      await (await request(`${origin}${path}`, options)).body.dump();
    };
    const lookSigned = () => ({
      'x-slack-request-timestamp': String(Math.floor(Date.now() / 1000)),
      'x-slack-signature': `v0=${'0'.repeat(64)}`,
    });
    const large = 'x'.repeat(900_000);
    const tooLarge = 'x'.repeat(3_000_000);
    /** Sends a byte now and then until it is cut. */
    const dribble = (head: string) =>
      new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname, () => socket.write(head));
        const more = setInterval(() => (isOver ? socket.destroy() : socket.write('x')), 500);
        const end = (): void => {
          clearInterval(more);
          resolve();
        };
        socket.on('error', end).on('close', end).resume();
      });
    const slowBody = `POST /slack/events HTTP/1.1\r\nhost: x\r\ncontent-length: 900000\r\ncontent-type: application/json\r\nx-slack-request-timestamp: ${Math.floor(Date.now() / 1000)}\r\nx-slack-signature: v0=${'0'.repeat(64)}\r\n\r\n`;

    const acks: number[] = [];
    async function askAsPeopleDo(): Promise<void> {
      for (let at = 0; !isOver; at += 1) {
        const text = at % 2 === 0 ? 'help' : 'use none';
        const who = { team_id: TEAM, user_id: PEOPLE.admin, channel_id: CHANNEL };
        const form = new URLSearchParams({ command: '/deckhand', text, trigger_id: randomUUID(), ...who });
        const begun = performance.now();
        const { status } = await sendSigned({ slack, origin }, form.toString());
        expect(status).toBe(200);
        acks.push(performance.now() - begun);
        await wait(250);
      }
    }

    // What is loaded with the first requests belongs to the start.
    const warm = askAsPeopleDo();
    for (const junk of JUNK) await sendSigned({ slack, origin }, junk());
    for (const path of ['/slack/events', '/service/oauth/start', '/mcp'])
      for (let at = 0; at < 20; at += 1) await post(path, large, lookSigned());
    await Promise.race([wait(WARM_MS), warm]);
    isOver = true;
    await warm;
    isOver = false;
    acks.length = 0;
    const before = memoryMb(pid);
    let most = before;
    const looking = setInterval(() => {
      most = Math.max(most, memoryMb(pid));
    }, 500);
    const attacks = [
      ...attack('unsigned', 4, 20, () => post('/slack/events', 'command=/deckhand')),
      ...attack('falsely signed', 6, 50, () => post('/slack/events', large, lookSigned())),
      ...attack('too large', 2, 200, () => post('/slack/events', tooLarge, lookSigned())),
      ...attack('forms', 2, 50, () => post('/service/oauth/start', large)),
      ...attack('assistant', 2, 50, () => post('/mcp', large, lookSigned())),
      ...attack('install', 2, 20, async () => void (await (await fetch(`${origin}/slack/install`)).text())),
      ...attack('signed junk', 2, 100, async () => {
        const junk = JUNK[Math.floor(Math.random() * JUNK.length)]?.() ?? '';
        const type = junk.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded';
        await sendSigned({ slack, origin }, junk, { type });
      }),
      ...attack('slow headers', 60, 0, () => dribble('POST /slack/events HTTP/1.1\r\nx-a: ')),
      ...attack('slow bodies', 60, 0, () => dribble(slowBody)),
    ];
    const people = askAsPeopleDo();
    await Promise.race([wait(MINUTES * 60_000), people]);
    isOver = true;
    await people;
    await Promise.all(attacks);
    await wait(SETTLE_MS);
    clearInterval(looking);
    const after = memoryMb(pid);
    const slowest = Math.max(...acks);
    process.stdout.write(`${JSON.stringify({ before, most, after, slowest, acks: acks.length, counts })}\n`);

    expect(acks.length).toBeGreaterThan(MINUTES * 60);
    expect(slowest).toBeLessThan(MAX_ACK_MS);
    expect(most).toBeLessThan(MEMORY_MB);
    expect(after).toBeLessThan(before * 1.2);
    expect(deckhand.log.filter((line) => line.includes('"event":"bug"'))).toEqual([]);
  });
});
