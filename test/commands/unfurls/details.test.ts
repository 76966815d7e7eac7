import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { BRISK } from '../../support/faults.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const ELSEWHERE = 'C0BILLING';

const address = (world: TestWorld, project: string, account = ACCOUNT) =>
  `${world.service.baseUrl.replace('{account}', account)}/projects/${project}`;
const cardUnder = (world: TestWorld, ts: string, channel = CHANNEL) =>
  world.slack.messages(TEAM, channel).find((message) => message.ts === ts)?.attachments?.[0];
const callsOf = (world: TestWorld, name: string) => world.slack.calls.filter(({ method }) => method === name);

/** A link whose unfurl is there. */
async function pasted(world: TestWorld, channel = CHANNEL): Promise<{ channel: string; ts: string }> {
  const { ts } = await world.as('member').postMessage(channel, address(world, 'storefront'));
  await world.slack.until(() => cardUnder(world, ts, channel), { what: 'the unfurl' });
  return { channel, ts };
}

/** What the pane says once Deckhand has answered. */
async function opened(
  world: TestWorld,
  who: keyof typeof PEOPLE,
  on: { channel: string; ts: string },
): Promise<string> {
  await world.as(who).openDetails(on);
  const pane = () => world.slack.pane(TEAM, PEOPLE[who]);
  await world.slack.until(() => pane()?.details ?? pane()?.error, { what: 'the pane' });
  return JSON.stringify([pane()?.details, pane()?.error]);
}

/** The latest request for the details of a link. */
function requested(world: TestWorld) {
  const delivery = world.slack.deliveries.findLast(({ name }) => name === 'entity_details_requested');
  if (delivery === undefined) throw new Error('Slack asked for no details');
  const { event } = delivery.payload as { event: { type: string; trigger_id: string } };
  return { delivery, event };
}

describe('the pane of a linked project', () => {
  test.override({
    worldOptions: { ...BRISK, slackApp: { unfurlDomains: ['127.0.0.1'] } },
    connected: true,
  });

  test('shows when it was deployed, its last deployments, and its latest test with a button that runs it', async ({
    world,
  }) => {
    const now = world.service.clock.now();
    const deploy = (more: { project: string; user: string; endedAt: number; succeeded?: boolean }) =>
      world.service.world.addDeployment({ account: ACCOUNT, ...more });
    const kim = { project: 'storefront', user: 'Kim *<!here>' };
    deploy({ ...kim, endedAt: now - 60_000 });
    deploy({ ...kim, endedAt: now - 120_000, succeeded: false });
    deploy({ project: 'billing-api', user: 'Sam', endedAt: now });
    const shown = await opened(world, 'member', await pasted(world));
    expect(shown).toContain('"title":{"text":"Storefront"}');
    expect(shown).toMatch(/"label":"Last deployed"/);
    expect(shown).toContain('"value":"Not tested with Deckhand yet"');
    expect(shown).toMatch(/Deploy completed .*by Kim \*<!here>/);
    expect(shown).toMatch(/Deploy failed .*by Kim/);
    expect(shown).not.toContain('Sam');
    expect(shown).toContain('"text":"Test access","action_id":"test:project"');
    await world.as('member').click('pane', { text: 'Test access' });
    await world.slack.until(() =>
      world.slack.messages(TEAM, CHANNEL).at(-1)?.text.includes('both servers are reachable'),
    );
  });

  test('says the same of an account that is not connected and of a project that is not there', async ({
    world,
  }) => {
    const { ts } = await pasted(world);
    await world.as('member').openDetails({ channel: CHANNEL, ts });
    await world.slack.until(() => callsOf(world, 'entity.presentDetails').length === 1);
    for (const entity_url of [
      address(world, 'storefront', 'other'),
      address(world, 'gone'),
      'https://else.example/',
    ])
      await world.slack.sendEvent(TEAM, { ...requested(world).event, entity_url });
    const answers = () => callsOf(world, 'entity.presentDetails').slice(1);
    await world.slack.until(() => answers().length === 3);
    for (const { args } of answers())
      expect(JSON.stringify(args)).toContain(
        'There is no such project in an account that is connected here.',
      );
  });

  test('is filled once, however often Slack sends the event, and its handle is stored nowhere', async ({
    world,
  }) => {
    await opened(world, 'member', await pasted(world));
    const { delivery, event } = requested(world);
    await world.slack.redeliver(delivery);
    await opened(world, 'admin', await pasted(world, ELSEWHERE));
    expect(callsOf(world, 'entity.presentDetails')).toHaveLength(2);
    const files = await readdir(world.folder, { recursive: true, withFileTypes: true });
    const stored = await Promise.all(
      files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name))),
    );
    expect(Buffer.concat(stored).includes('storefront')).toBe(true);
    expect(Buffer.concat(stored).includes(event.trigger_id)).toBe(false);
    expect(world.logs.join('\n')).not.toContain(event.trigger_id);
  });
});

describe('where Slack takes no work objects', () => {
  test.override({
    worldOptions: { ...BRISK, slackApp: { unfurlDomains: ['127.0.0.1'] } },
    connected: true,
  });

  test('the unfurl is as it was, and they are not tried again', async ({ world }) => {
    world.slack.fault({ method: 'chat.unfurl', error: 'error_processing_metadata', times: 1 });
    const { ts } = await pasted(world);
    expect(JSON.stringify(cardUnder(world, ts))).toContain('*Storefront*');
    expect(cardUnder(world, ts)).not.toHaveProperty('work_object_entity');
    await world.logged('"kind":"work_object"');
    const other = await pasted(world, ELSEWHERE);
    expect(cardUnder(world, other.ts, ELSEWHERE)).not.toHaveProperty('work_object_entity');
    expect(callsOf(world, 'chat.unfurl')).toHaveLength(3);
  });
});
