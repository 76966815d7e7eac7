import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unfurlLinks } from '../../../src/commands/unfurls/unfurl.ts';
import { type Clock, systemClock } from '../../../src/core/time/clock.ts';
import { EventBody } from '../../../src/listeners/payloads/schemas.ts';
import { createContext } from '../../../src/listeners/pipeline/pipeline.ts';
import { BRISK } from '../../support/faults.ts';
import {
  ACCOUNT,
  API_KEY,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';

const ELSEWHERE = 'C0BILLING';
const WEB_9 = `/${ACCOUNT}/projects/storefront/servers/web-9`;

let world: TestWorld;
let passed = 0;
/** The system's, except that a test may say that time has passed. */
const clock: Clock = { ...BRISK.clock, now: () => systemClock.now() + passed };
beforeEach(async () => {
  passed = 0;
  world = await openTestWorld({
    slackApp: { unfurlDomains: ['127.0.0.1'] },
    ...BRISK,
    clock,
    connected: true,
  });
});
afterEach(() => world.stop());

const address = (path: string, account = ACCOUNT) =>
  `${world.service.baseUrl.replace('{account}', account)}/projects/${path}`;
const paste = (text: string, channel = CHANNEL) => world.as('member').postMessage(channel, text);
const under = (ts: string) =>
  [CHANNEL, ELSEWHERE]
    .flatMap((channel) => world.slack.messages(TEAM, channel))
    .filter((message) => message.ts === ts)
    .flatMap((message) => message.attachments ?? []);
const unfurled = async (ts: string, count = 1) => {
  await world.slack.until(() => under(ts).length === count, { what: `${count} unfurls` });
  return JSON.stringify(under(ts));
};
const contextHere = () =>
  createContext(world.app.workspaces.open(TEAM), { user: '', channel: undefined, requestId: 'event' });
const answerWith = (fields: object) =>
  world.service.faults.add({ path: WEB_9, status: 200, body: { identifier: 'web-9', ...fields } });
const skipped = (reason: string) => world.logged(`"reason":"${reason}"`);

const eventOf = (ts: string) =>
  EventBody.parse(
    world.slack.deliveries.findLast(({ payload }) => JSON.stringify(payload).includes(ts))?.payload,
  );

/** The admin tests a project where nobody else reads it. */
async function testInDirectMessage(): Promise<void> {
  const { slack, runs } = world.app.workspaces.open(TEAM);
  const channel = await slack.openDirect(PEOPLE.admin);
  await world.as('admin').command(channel, '/deckhand test storefront');
  await expect.poll(async () => (await runs.newest(1))[0]?.status).toBe('completed');
}

describe('a pasted link', () => {
  it('to a project shows its name, when it was deployed, and its latest test', async () => {
    await testInDirectMessage();
    const before = await unfurled((await paste(`look: ${address('storefront')}/deployments`)).ts);
    expect(before).toContain('*Storefront*');
    expect(before).toContain('Not tested with Deckhand yet');
    expect(before).toContain('"action_id":"test:project"');
    await world.as('member').command(ELSEWHERE, '/deckhand test storefront');
    await world.slack.until(() =>
      world.slack.messages(TEAM, ELSEWHERE).at(-1)?.text.includes('both servers are reachable'),
    );
    const after = await unfurled((await paste(address('storefront'), ELSEWHERE)).ts);
    expect(after).toContain('both servers are reachable');
  });

  it('to a server shows its name, protocol and status', async () => {
    const managed_vps = { status: 'provisioning', ip_address: null, region: 'nbg1', size: 'cx22' };
    answerWith({ name: 'box <!channel>', protocol_type: 'managed_vps', managed_vps });
    const shown = await unfurled((await paste(address('storefront/servers/web-9'))).ts);
    expect(shown).toContain('*box &lt;!channel&gt;*  managed server');
    expect(shown).toContain('provisioning');
  });

  it('unfurls again only after half an hour, or in another channel', async () => {
    await unfurled((await paste(address('storefront'))).ts);
    const { ts } = await paste(`again ${address('storefront')}`);
    await skipped('shown here lately');
    expect(under(ts)).toEqual([]);
    await unfurled((await paste(address('storefront'), ELSEWHERE)).ts);
    passed += 30 * 60_000 + 1;
    // Carried out by hand, since no request of Slack's is signed for that hour.
    await unfurlLinks(contextHere(), eventOf(ts));
    await unfurled(ts);
  });

  it('unfurls at most three a message, each project once', async () => {
    for (const name of ['one', 'two']) world.service.world.addProject({ account: ACCOUNT, name });
    const paths = ['one', 'one/deployments', 'two', 'storefront', 'billing-api'];
    const { ts } = await paste(paths.map((path) => address(path)).join(' '));
    await skipped('many in one message');
    const shown = await unfurled(ts, 3);
    for (const name of ['one', 'two', 'Storefront']) expect(shown).toContain(`*${name}*`);
  });

  it('into an account that is not connected here shows nothing, and asks nothing', async () => {
    world.service.world.addAccount({
      name: 'other',
      users: [{ email: EMAIL, apiKey: API_KEY, role: 'admin' }],
      projects: [{ name: 'Secret', permalink: 'storefront' }],
    });
    const { ts } = await paste(address('storefront', 'other'));
    await skipped('nothing of a connected account');
    expect(under(ts)).toEqual([]);
    expect(world.service.requests.all.some(({ account }) => account === 'other')).toBe(false);
  });

  it('shows nothing where another company reads along', async () => {
    const { ts } = await paste(address('storefront', 'nobody'));
    await skipped('nothing of a connected account');
    const event = { ...eventOf(ts).event, links: [{ url: address('storefront') }] };
    await unfurlLinks(contextHere(), {
      ...eventOf(ts),
      event,
      is_ext_shared_channel: true,
    });
    await skipped('shared channel');
    expect(world.slack.calls.some(({ method }) => method === 'chat.unfurl')).toBe(false);
  });

  it('that fails is silent for people, logged, and tried again with the next', async () => {
    const fault = world.service.faults.add({ path: WEB_9, status: 500 });
    const { ts } = await paste(address('storefront/servers/web-9'));
    await world.logged('"job":"unfurl"');
    expect(under(ts)).toEqual([]);
    expect(world.slack.ephemerals(TEAM, PEOPLE.member)).toEqual([]);
    fault.remove();
    answerWith({ name: 'box' });
    await unfurled((await paste(address('storefront/servers/web-9'))).ts);
  });
});
