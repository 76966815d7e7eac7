import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { rawJob } from '../../support/raw-job.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

describe('hosting', () => {
  test.override({ connected: true });
  test.beforeEach(async ({ world }) => {
    const box = (more: { name: string; identifier: string }) =>
      world.service.world.addHostedResource({ account: ACCOUNT, size: 'medium', ...more });
    box({ name: 'box one', identifier: 'r-1' });
    box({ name: 'box two', identifier: 'r-2', ...{ status: 'error', ipAddress: null } });
  });

  const answerWith = (world: TestWorld, path: string, body: object) =>
    world.service.faults.add({ path: `/${ACCOUNT}/${path}`, status: 200, body });
  const syncs = ({ service }: TestWorld) =>
    service.requests.all.filter(({ path }) => path.endsWith('/sync')).length;
  const latest = (world: TestWorld, who: 'admin' | 'member') =>
    world.slack.ephemerals(TEAM, PEOPLE[who]).at(-1);
  const told = (world: TestWorld) => world.slack.ephemerals(TEAM, PEOPLE.admin).map(({ text }) => text);

  test('lists what there is as a table, in any letter case', async ({ world }) => {
    const said = await ask(world, '/deckhand HOSTING List');
    expect(said).toContain('2 managed servers of acme');
    expect(said).toContain('"type":"table"');
    expect(said).toContain('{"type":"raw_text","text":"box one"}');
    expect(said).toContain('24.00 USD');
    expect(said).toContain('Together *48.00 USD a month*');
    expect(said).toContain('"text":"error"');
    expect(await ask(world, '/deckhand hosting paint r-1')).toContain(
      'There is no `hosting paint`. Use `list`, `show`',
    );
    answerWith(world, 'hosted_resources', []);
    expect(await ask(world, '/deckhand hosting')).toContain('`/deckhand server add`');
  });

  test('has pages where there is much, and a plain table where Slack refuses those', async ({ world }) => {
    for (let at = 3; at <= 12; at += 1)
      world.service.world.addHostedResource({ account: ACCOUNT, name: `box ${at}`, identifier: `r-${at}` });
    const paged = await ask(world, '/deckhand hosting');
    expect(paged).toContain('"type":"data_table","caption":"Managed servers","page_size":10');
    expect(paged).toContain('{"type":"raw_number","value":24,"text":"24.00 USD"}');
    world.slack.policy(TEAM, { refusedBlocks: ['data_table'] });
    const plain = await ask(world, '/deckhand hosting');
    expect(plain).toContain('"type":"table"');
    expect(plain).toContain('{"type":"raw_text","text":"box 12"}');
  });

  test('shows plain amounts where the price list is no help', async ({ world }) => {
    const path = `/${ACCOUNT}/managed_hosting/sizes`;
    world.service.faults.add({ path, status: 503, retryAfter: '60' });
    const said = await ask(world, '/deckhand hosting');
    expect(said).toContain('"text":"24.00"');
    expect(said).toContain('Together *48.00 a month*');
    expect(said).not.toContain('USD');
  });

  test('shows one, by identifier or by name', async ({ world }) => {
    for (const named of ['r-1', 'Box One']) {
      const said = await ask(world, `/deckhand hosting show ${named}`);
      expect(said).toContain('*active*: running and ready for deployments');
      expect(said).toContain('*Cost*  24.00 USD a month');
      expect(said).not.toMatch(/SHA256:|"Sync"/);
    }
    const place = { channel: CHANNEL, ts: latest(world, 'member')?.ts ?? '' };
    await world.as('member').click(place, { actionId: 'start:at-once#key' });
    await world.slack.until(() => JSON.stringify(latest(world, 'member')).includes('SHA256:'));
  });

  test('offers the regions that can be chosen, as they are now', async ({ world }) => {
    await ask(world, '/deckhand hosting regions');
    const closed = { slug: 'syd1', name: 'Sydney', available: false };
    const regions = [{ slug: 'fra1', name: 'Frankfurt' }, closed];
    answerWith(world, 'managed_hosting/regions', { regions });
    const offered = await ask(world, '/deckhand hosting regions');
    expect(offered).toContain('*Frankfurt*  `fra1`');
    expect(offered).not.toContain('Sydney');
  });

  test('sync confirms the request, then shows the card again once it has changed, also through failures of the service', async ({
    world,
  }) => {
    const { service, slack } = world;
    service.world.setProviderState({ account: ACCOUNT, resource: 'r-2', status: 'active' });
    const said = await ask(world, '/deckhand hosting sync r-2', 'admin');
    expect(said).toContain('The sync is requested');
    expect(said).toContain('*error*');
    service.faults.add({ path: `/${ACCOUNT}/hosted_resources/r-2`, status: 500, times: 2 });
    await service.clock.advance(3_000);
    await slack.until(() => JSON.stringify(latest(world, 'admin')).includes('is done'));
    expect(JSON.stringify(latest(world, 'admin'))).toContain('*active*: running and ready for deployments');
    expect(syncs(world)).toBe(1);
  });

  test('sync is carried out again where the process died over the click, but not for a second click', async ({
    world,
  }) => {
    const invocation = { workspace: TEAM, user: PEOPLE.admin, channel: CHANNEL, messageTs: '1.2' };
    const value = JSON.stringify({ account: ACCOUNT, id: 'r-1' });
    const click = async (requestId: string, answer: string) => {
      const before = told(world).length;
      const job = {
        kind: 'action',
        invocation: { ...invocation, requestId },
        actionId: 'hosting:sync',
        value,
      };
      await world.app.parts.engine.send(TEAM, rawJob('requests'), job);
      await world.slack.until(() =>
        told(world)
          .slice(before)
          .some((text) => text.includes(answer)),
      );
    };
    await click('t-1', 'The sync is requested');
    await click('t-1', 'The sync is requested');
    await click('t-2', 'That button was used already.');
    expect(syncs(world)).toBe(2);
  });
});
