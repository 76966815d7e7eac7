import { MockAgent } from 'undici';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import type { Call } from '../../src/slack/rate-limit.ts';
import { type Upload, uploadFile } from '../../src/slack/uploads.ts';
import type { Web } from '../../src/slack/web.ts';
import { test } from '../support/fixtures.ts';
import { CHANNEL, TEAM, type TestWorld } from '../support/test-world.ts';

const FILE = { filename: 'a.pdf', bytes: Buffer.from('%PDF-1.7 a'), title: 'A', channel: CHANNEL };

describe('uploading a file', () => {
  const upload = ({ app }: TestWorld, change: Partial<Upload> = {}) =>
    app.parts.slack.of(TEAM).upload({ ...FILE, ...change });
  test.beforeEach(({ world }) => world.slack.invite(TEAM, CHANNEL, 'bot'));

  test('puts it into a channel or thread, byte by byte, with its title and comment', async ({ world }) => {
    const { slack } = world;
    const bytes = Buffer.from([0, 255, 10, 13, 0, 128]);
    await upload(world, { bytes, comment: 'Look' });
    const [uploaded] = slack.files(TEAM);
    expect(uploaded?.bytes?.equals(bytes)).toBe(true);
    expect(uploaded).toMatchObject({ name: 'a.pdf', title: 'A' });
    expect(uploaded?.shares).toHaveLength(1);
    const root = slack.messages(TEAM, CHANNEL).at(-1);
    expect(root?.text).toBe('Look');
    await upload(world, { threadTs: root?.ts ?? '' });
    expect(slack.thread(TEAM, CHANNEL, root?.ts ?? '')).toHaveLength(1);
  });

  test('begins again where the announcement gets no answer, but shares once although that answer is lost', async ({
    world,
  }) => {
    const roots = () => world.slack.messages(TEAM, CHANNEL);
    world.slack.fault({ method: 'files.getUploadURLExternal', status: 503, times: 1 });
    await upload(world);
    expect(roots()).toHaveLength(1);
    world.slack.fault({ method: 'files.completeUploadExternal', drop: 'after', times: 1 });
    await expect(upload(world)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(roots()).toHaveLength(2);
  });

  test.for([
    [0, 'empty'],
    [25 * 1024 * 1024 + 1, 'too_large'],
  ] as const)('refuses %i bytes before Slack hears of them', async ([length, reason], { world }) => {
    const refused = upload(world, { bytes: Buffer.alloc(length) });
    await expect(refused).rejects.toMatchObject({ kind: 'rejected', reason });
    expect(world.slack.calls.filter((call) => call.method.startsWith('files.'))).toEqual([]);
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
