import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { checkMessageBlocks } from '../../sandbox/slack/block-kit/message.ts';
import { checkView } from '../../sandbox/slack/block-kit/view.ts';
import { shortcodes } from '../../sandbox/slack/web/src/emoji/shortcodes.ts';
import { ask } from '../support/asking.ts';
import { RECORDING } from '../support/sent.ts';
import { startSlack } from '../support/start-slack.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { CHANNEL, furnish, openTestWorld, PEOPLE, TEAM } from '../support/test-world.ts';
import { proveIn } from './prove.ts';
import { type Entry, pickShapes, readRecording } from './recording.ts';

const ROOT = join(import.meta.dirname, '..', '..');

it.each([
  [
    'a header of 151 characters',
    'x',
    [{ type: 'header', text: { type: 'plain_text', text: 'x'.repeat(151) } }],
  ],
  ['no text for the notification', '', [{ type: 'divider' }]],
  ['a text that cannot be updated', 'x'.repeat(4_001), [{ type: 'divider' }]],
  [
    'blocks of more than 13,000 characters',
    'x',
    Array.from({ length: 5 }, () => ({ type: 'section', text: { type: 'mrkdwn', text: 'x'.repeat(2_900) } })),
  ],
])('a test fails whose messages have %s', async (_what, text, blocks) => {
  const slack = await startSlack();
  const { botToken } = furnish(slack);
  await fetch(`${slack.apiUrl}chat.postMessage`, {
    method: 'POST',
    headers: { authorization: `Bearer ${botToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ channel: CHANNEL, text, blocks }),
  });
  await expect(slack.stop()).rejects.toThrow('Slack rejects what Deckhand sent');
});

it('every emoji has its picture in the local Slack', () => {
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  );
  const names = sources.flatMap((source) =>
    [...source.matchAll(/[`'( ]:([a-z_]+):[`' ]/g)].map(([, name]) => name),
  );
  expect(names).toContain('white_check_mark');
  expect(
    names.filter((name = '') => shortcodes[name] === undefined),
    'Add its picture to sandbox/slack/web/src/emoji/shortcodes.ts.',
  ).toEqual([]);
});

/** Slack's method as documented: a form post with one payload as JSON, each fault by pointer; charts are unknown to it. */
async function startValidator(token: string) {
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const answer =
      request.headers.authorization === `Bearer ${token}`
        ? validate(form)
        : { ok: false, error: 'invalid_auth' };
    calls.push(`${request.url} ${[...form.keys()].join()}`);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/` };
}

function validate(form: URLSearchParams) {
  const [[kind, text] = []] = form;
  if (kind === undefined || text === undefined) return { ok: true };
  const payload = JSON.parse(text);
  const faults = kind === 'view' ? checkView(payload, payload.type) : checkMessageBlocks(payload.blocks);
  const errors = faults.map((message) => ({ pointer: '/blocks', code: 'failed_constraint', message }));
  for (const [at, { type }] of payload.blocks.entries())
    if (type === 'data_visualization')
      errors.push({ pointer: `/blocks/${at}/type`, code: 'failed_constraint', message: 'unknown type' });
  return errors.length === 0 ? { ok: true } : { ok: false, error: `invalid_${kind}`, errors };
}

/** Entries as a test records them. */
async function recordWorld(): Promise<Entry[]> {
  const folder = await temporaryFolder();
  vi.stubEnv(RECORDING, folder);
  const world = await openTestWorld({ connected: true });
  for (const succeeded of [true, false])
    world.service.world.addDeployment({
      account: 'acme',
      project: 'storefront',
      servers: ['web-1'],
      succeeded,
    });
  await ask(world, '/deckhand activity 7d stats');
  await ask(world, '/deckhand server show web-1 storefront');
  await ask(world, '/deckhand server show web-2 storefront');
  await world.as('admin').command(CHANNEL, '/deckhand roles');
  await world.slack.until(() => world.slack.modals(TEAM, PEOPLE.admin).length > 0);
  await world.stop();
  return readRecording(folder);
}

describe('npm run prove:slack', () => {
  it('says how to get a token if it has none', async () => {
    const { code, text } = await proveIn(await temporaryFolder(), {});
    expect(code).toBe(78);
    expect(text).toContain('SLACK_PROVE_TOKEN=xoxb-');
  });

  it('has Slack check what tests sent, each shape once, and reports what it rejects', async () => {
    const [recorded, folder] = [await recordWorld(), await temporaryFolder()];
    const { calls, url } = await startValidator('xoxb-proof');
    const env = { SLACK_PROVE_TOKEN: 'xoxb-proof', SLACK_API_URL: url };
    const { code, text } = await proveIn(folder, env, () => recorded);
    const [file = ''] = globSync('slack-proof-*.md', { cwd: folder });
    const report = readFileSync(join(folder, file), 'utf8');
    expect(code).toBe(1);
    expect(text).toContain(file);
    expect(new Set(calls)).toEqual(
      new Set(['/api/auth.test ', '/api/blocks.validate message', '/api/blocks.validate view']),
    );
    expect(report).toMatch(/^# Slack rejects 1 of \d+ messages/);
    expect(report).toMatch(/\| input \| [1-9]\d* \| 0 \|/);
    expect(report).toMatch(/\| data_visualization \| 1 \| 1 \|/);
    expect(report).toMatch(
      /- message: Activity of .*\n {2}- `\/blocks\/\d+\/type` failed_constraint: unknown type/,
    );
    expect(report).not.toContain('xoxb-proof');
    expect(calls).toHaveLength(1 + pickShapes(recorded).length);
    expect(
      pickShapes(recorded).filter(({ content }) => JSON.stringify(content).includes('*web-')),
    ).toHaveLength(1);
  });

  it('ends before it runs a test if Slack rejects the token', async () => {
    const { url } = await startValidator('another');
    const env = { SLACK_PROVE_TOKEN: 'xoxb-proof', SLACK_API_URL: url };
    const open = vi.fn(() => []);
    await expect(proveIn(await temporaryFolder(), env, open)).rejects.toThrow('invalid_auth');
    expect(open).not.toHaveBeenCalled();
  });
});
