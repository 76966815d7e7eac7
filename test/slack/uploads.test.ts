import { MockAgent } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { createLog } from '../../src/observability/log.ts';
import type { Call } from '../../src/slack/rate-limit.ts';
import { createSlack, type WorkspaceSlack } from '../../src/slack/slack.ts';
import { uploadFile } from '../../src/slack/uploads.ts';
import { createWeb, type Web } from '../../src/slack/web.ts';
import { startSlack } from '../support/start-slack.ts';
import { furnish, TEAM } from '../support/test-world.ts';

const CHANNEL = 'C0DEPLOYS';
const FILE = { filename: 'a.pdf', bytes: Buffer.from('%PDF-1.7 a'), title: 'A', channel: CHANNEL };

describe('uploading a file', () => {
  let local: LocalSlack;
  let slack: WorkspaceSlack;
  let web: Web;
  beforeEach(async () => {
    local = await startSlack();
    const { botToken } = furnish(local);
    const log = createLog('silent', () => undefined);
    web = createWeb(local.apiUrl, systemClock, log);
    const installations = { token: async () => botToken };
    slack = createSlack({ web, installations, clock: systemClock, log, responseHosts: [] }).of(TEAM);
    local.invite(TEAM, CHANNEL, 'bot');
  });
  afterEach(async () => {
    await web.close();
    await local.stop();
  });

  it('puts it into a channel or thread, byte by byte, with its title and comment', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 0, 128]);
    await slack.upload({ ...FILE, bytes, comment: 'Look' });
    const [uploaded] = local.files(TEAM);
    expect(uploaded?.bytes?.equals(bytes)).toBe(true);
    expect(uploaded).toMatchObject({ name: 'a.pdf', title: 'A' });
    expect(uploaded?.shares).toHaveLength(1);
    const root = local.messages(TEAM, CHANNEL).at(-1);
    expect(root?.text).toBe('Look');
    await slack.upload({ ...FILE, threadTs: root?.ts ?? '' });
    expect(local.thread(TEAM, CHANNEL, root?.ts ?? '')).toHaveLength(1);
  });

  it('shares once even where Slack’s answer to the sharing is lost', async () => {
    local.fault({ method: 'files.completeUploadExternal', drop: 'after', times: 1 });
    await expect(slack.upload(FILE)).rejects.toMatchObject({ kind: 'unreachable' });
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

const GOV = 'https://slack-gov.com/api/';
const COMMERCIAL = 'https://slack.com/api/';
const HERE = 'http://127.0.0.1:9/api/';

/** Uploads where Slack names this address; the addresses that got the bytes. */
async function uploadTo(apiUrl: string, address: string): Promise<string[]> {
  const sent: string[] = [];
  const agent = new MockAgent();
  agent.disableNetConnect();
  const { origin = 'https://slack.com', pathname: path = '/' } = URL.parse(address) ?? {};
  const take = ({ path }: { path: string }): string => String(sent.push(`${origin}${path}`));
  agent.get(origin).intercept({ path, method: 'POST' }).reply(200, take);
  const call = (async () => ({ ok: true, upload_url: address, file_id: 'F0' })) as unknown as Call;
  const web = { agent, origin: new URL(apiUrl).origin } as unknown as Web;
  await uploadFile({ call, web, clock: systemClock }, FILE);
  return sent;
}

it.each([
  [COMMERCIAL, 'https://evilslack.com/upload', false],
  [COMMERCIAL, 'http://files.slack.com/upload', false],
  [COMMERCIAL, 'https://files.slack.com:8443/upload', false],
  [COMMERCIAL, 'nonsense', false],
  [COMMERCIAL, 'https://user:word@files.slack.com/upload', false],
  [COMMERCIAL, 'https://files.slack-gov.com/u/1', false],
  [COMMERCIAL, 'https://files.slack.com/upload', true],
  [GOV, 'https://files.slack-gov.com/u/1', true],
  [GOV, 'https://evilslack-gov.com/u', false],
  [HERE, 'http://127.0.0.1:4000/upload', true],
])('%s takes files at %s: %s', async (apiUrl, address, isTaken) => {
  const sent = uploadTo(apiUrl, address);
  if (isTaken) expect(await sent).toEqual([address]);
  else await expect(sent).rejects.toMatchObject({ kind: 'rejected', reason: 'foreign_upload_url' });
});
