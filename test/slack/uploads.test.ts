import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { createLog } from '../../src/observability/log.ts';
import { createSlack, type WorkspaceSlack } from '../../src/slack/slack.ts';
import { createWeb, type Web } from '../../src/slack/web.ts';
import { startSlack } from '../support/start-slack.ts';
import { furnish, TEAM } from '../support/test-world.ts';

const CHANNEL = 'C0DEPLOYS';
const FILE = { filename: 'a.pdf', bytes: Buffer.from('%PDF-1.7 a'), title: 'A', channel: CHANNEL };

function slackAt(apiUrl: string, token: string): { slack: WorkspaceSlack; web: Web } {
  const log = createLog('debug', () => undefined);
  const web = createWeb(apiUrl, systemClock, log);
  const installations = { token: async () => token };
  const slack = createSlack({ web, installations, clock: systemClock, log, responseHosts: [] });
  return { slack: slack.of(TEAM), web };
}

describe('uploading a file', () => {
  let local: LocalSlack;
  let slack: WorkspaceSlack;
  let web: Web;
  beforeEach(async () => {
    local = await startSlack();
    const { botToken } = furnish(local);
    ({ slack, web } = slackAt(local.apiUrl, botToken));
    local.invite(TEAM, CHANNEL, 'bot');
  });
  afterEach(async () => {
    await web.close();
    await local.stop();
  });

  it('puts it into a channel or thread, byte by byte, with its title and comment', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 0, 128]);
    const file = { filename: 'invoice.pdf', bytes, title: 'An invoice', channel: CHANNEL };
    await slack.upload({ ...file, comment: 'Look' });
    const [uploaded] = local.files(TEAM);
    expect(uploaded?.bytes?.equals(bytes)).toBe(true);
    expect(uploaded).toMatchObject({ name: 'invoice.pdf', title: 'An invoice' });
    expect(uploaded?.shares).toHaveLength(1);
    const root = local.messages(TEAM, CHANNEL).at(-1);
    expect(root?.text).toBe('Look');
    await slack.upload({ ...FILE, threadTs: root?.ts ?? '' });
    expect(local.thread(TEAM, CHANNEL, root?.ts ?? '')).toHaveLength(1);
  });

  it('shares once even where Slack’s answer to the sharing is lost', async () => {
    local.fault({ method: 'files.completeUploadExternal', drop: 'after', times: 1 });
    await expect(slack.upload(FILE)).rejects.toMatchObject({
      kind: 'unreachable',
    });
    expect(local.messages(TEAM, CHANNEL)).toHaveLength(1);
  });

  it('begins again where the announcement gets no answer', async () => {
    local.fault({ method: 'files.getUploadURLExternal', status: 503, times: 1 });
    await slack.upload(FILE);
    expect(local.messages(TEAM, CHANNEL)).toHaveLength(1);
  });

  it.each([
    [0, 'empty'],
    [25 * 1024 * 1024 + 1, 'too_large'],
  ])('refuses %i bytes before Slack hears of them', async (length, reason) => {
    const upload = slack.upload({ ...FILE, bytes: Buffer.alloc(length) });
    await expect(upload).rejects.toMatchObject({ kind: 'rejected', reason });
    expect(local.calls.filter((call) => call.method.startsWith('files.'))).toEqual([]);
  });
});

describe('the address that Slack names for the bytes', () => {
  it.each([
    'https://evilslack.com/upload',
    'http://files.slack.com/upload',
    'https://files.slack.com:8443/upload',
    'nonsense',
    'https://user:word@files.slack.com/upload',
  ])('is not followed to %j', async (address) => {
    const api = await listening((_, response) => answer(response, address));
    const { slack, web } = slackAt(`${api.origin}/api/`, 'xoxb-1');
    await expect(slack.upload(FILE)).rejects.toMatchObject({
      kind: 'rejected',
      reason: 'foreign_upload_url',
    });
    await web.close();
    api.stop();
  });

  it('may be another port of this machine where Slack itself is on this machine', async () => {
    const taken: string[] = [];
    const files = await listening((request, response) => {
      request.on('data', (bytes: Buffer) => taken.push(bytes.toString()));
      request.on('end', () => response.end('OK'));
    });
    const api = await listening((_, response) => answer(response, `${files.origin}/upload`));
    const { slack, web } = slackAt(`${api.origin}/api/`, 'xoxb-1');
    await slack.upload(FILE);
    expect(taken.join('')).toBe('%PDF-1.7 a');
    await web.close();
    for (const server of [api, files]) server.stop();
  });
});

/** Slack's answer to every method, so that only the address matters. */
function answer(response: ServerResponse, address: string): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ ok: true, upload_url: address, file_id: 'F0FOREIGN1' }));
}

async function listening(handler: RequestListener): Promise<{ origin: string; stop(): void }> {
  const server = createServer(handler);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
