import { MockAgent } from 'undici';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { createLog } from '../../src/observability/log.ts';
import type { Call } from '../../src/slack/rate-limit.ts';
import { listResponseHosts, uploadFile } from '../../src/slack/uploads.ts';
import { postToResponseUrl, type Web } from '../../src/slack/web.ts';

const GOV = 'https://slack-gov.com/api/';
const COMMERCIAL = 'https://slack.com/api/';
const log = createLog('silent', () => undefined);

/** Uploads where Slack answers with this address; the addresses that got the bytes. */
async function upload(apiUrl: string, address: string): Promise<string[]> {
  const sent: string[] = [];
  const agent = new MockAgent();
  agent.disableNetConnect();
  const { origin, pathname: path } = new URL(address);
  const take = ({ path }: { path: string }): string => String(sent.push(`${origin}${path}`));
  agent.get(origin).intercept({ path, method: 'POST' }).reply(200, take);
  const call = (async () => ({ ok: true, upload_url: address, file_id: 'F0' })) as unknown as Call;
  const web = { agent, origin: new URL(apiUrl).origin } as unknown as Web;
  const file = { filename: 'a.pdf', bytes: Buffer.from('%PDF'), title: 'A', channel: 'C1' };
  await uploadFile({ call, web, clock: systemClock }, file);
  return sent;
}

it.each([
  [GOV, 'https://files.slack-gov.com/u/1', true],
  [GOV, 'https://evilslack-gov.com/u', false],
  [COMMERCIAL, 'https://files.slack-gov.com/u/1', false],
])('%s takes files at %s: %s', async (apiUrl, address, isTaken) => {
  const sent = upload(apiUrl, address);
  if (isTaken) expect(await sent).toEqual([address]);
  else await expect(sent).rejects.toMatchObject({ reason: 'foreign_upload_url' });
});

it('GovSlack’s response_urls are answered where its Web API is used, and refused otherwise', async () => {
  const agent = new MockAgent();
  agent.disableNetConnect();
  agent
    .get('https://hooks.slack-gov.com')
    .intercept({ path: '/actions/T/1/s', method: 'POST' })
    .reply(200, 'ok');
  const respond = (apiUrl: string) =>
    postToResponseUrl(
      agent,
      'https://hooks.slack-gov.com/actions/T/1/s',
      { message: { text: 'hello', blocks: [] }, mode: 'ephemeral' },
      listResponseHosts('hooks.slack.com', apiUrl),
      log,
    );
  expect(await respond(COMMERCIAL)).toBe(false);
  expect(agent.pendingInterceptors()).toHaveLength(1);
  expect(await respond(GOV)).toBe(true);
});
