import { describe, expect } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { rawJob } from '../../support/raw-job.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';

const NONE_LISTED = [
  ['sizes', { status: 503, retryAfter: '60' }],
  ['sizes', { status: 200, body: { sizes: [] } }],
  ['sizes', { delayMs: 2_500 }],
] as const;

describe('hosting', () => {
  test.override({ connected: true });
  test.beforeEach(async ({ world }) => {
    world.service.world.addHostedResource({
      account: ACCOUNT,
      name: 'box one',
      identifier: 'r-1',
      size: 'medium',
    });
    world.service.world.addHostedResource({
      account: ACCOUNT,
      name: 'box two',
      identifier: 'r-2',
      status: 'error',
      ipAddress: null,
    });
  });

  test.for(['/deckhand hosting', '/deckhand hosting list', '/deckhand HOSTING List'])(
    'hosting lists what there is as a table, on %s',
    async (line, { world }) => {
      const said = await ask(world, line);
      expect(said).toContain('2 managed servers of acme');
      expect(said).toContain('"type":"table"');
      expect(said).toContain('{"type":"raw_text","text":"box one"}');
      expect(said).toContain('24.00 USD');
      expect(said).toContain('"text":"error"');
    },
  );

  test('hosting has pages where there is much, and a plain table where Slack refuses those', async ({
    world,
  }) => {
    for (let at = 3; at <= 12; at += 1)
      world.service.world.addHostedResource({ account: ACCOUNT, name: `box ${at}`, identifier: `r-${at}` });
    const paged = await ask(world, '/deckhand hosting');
    expect(paged).toContain('"type":"data_table","caption":"Managed servers","page_size":10');
    world.slack.policy(TEAM, { refusedBlocks: ['data_table'] });
    const plain = await ask(world, '/deckhand hosting');
    expect(plain).toContain('"type":"table"');
    expect(plain).toContain('{"type":"raw_text","text":"box 12"}');
    const refusals = () => world.slack.calls.filter(({ error }) => error === 'invalid_blocks').length;
    const before = refusals();
    world.slack.fault({ method: 'response_url', error: 'used_url', times: 1 });
    expect(await ask(world, '/deckhand hosting')).toContain('"type":"table"');
    expect(refusals()).toBe(before);
  });

  test.for(NONE_LISTED)(
    'hosting shows plain amounts where the price list is no help: %s %j',
    async ([path, fault], { world }) => {
      world.service.faults.add({ path: `/${ACCOUNT}/managed_hosting/${path}`, ...fault });
      const said = await ask(world, '/deckhand hosting');
      expect(said).toContain('"text":"24.00"');
      expect(said).not.toContain('USD');
    },
  );

  test('hosting shows regions and sizes as they are now', async ({ world }) => {
    for (const what of ['regions', 'sizes']) {
      await ask(world, `/deckhand hosting ${what}`);
      world.service.faults.add({ path: `/${ACCOUNT}/managed_hosting/${what}`, status: 403, body: {} });
      expect(await ask(world, `/deckhand hosting ${what}`)).toContain('The service refused');
    }
  });

  test('hosting says so where there is nothing', async ({ world }) => {
    world.service.faults.add({ path: `/${ACCOUNT}/hosted_resources`, status: 200, body: [] });
    expect(await ask(world, '/deckhand hosting')).toContain('`/deckhand server add`');
  });

  test('hosting shows one, by identifier or by name', async ({ world }) => {
    for (const named of ['r-1', 'Box One']) {
      const said = await ask(world, `/deckhand hosting show ${named}`);
      expect(said).toContain('*active*: running and ready for deployments');
      expect(said).toContain('*Cost*  24.00 USD a month');
      expect(said).not.toMatch(/SHA256:|"Sync"/);
    }
    const shown = world.slack.ephemerals(TEAM, PEOPLE.member).at(-1);
    await world
      .as('member')
      .click({ channel: CHANNEL, ts: shown?.ts ?? '' }, { actionId: 'start:at-once#key' });
    await world.slack.until(() =>
      JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.member).at(-1)).includes('SHA256:'),
    );
  });

  test('hosting names what was not found, and the list', async ({ world }) => {
    const said = await ask(world, '/deckhand hosting show r-9');
    expect(said).toContain('There is no managed server `r-9` at `acme`.');
    expect(said).toContain('`/deckhand hosting list`');
  });

  test('hosting answers words that it does not know with its usage', async ({ world }) => {
    expect(await ask(world, '/deckhand hosting paint r-1')).toContain(
      'There is no `hosting paint`. Use `list`, `show`',
    );
  });

  test('hosting offers the regions that can be chosen', async ({ world }) => {
    const regions = [
      { slug: 'fra1', name: 'Frankfurt' },
      { slug: 'syd1', name: 'Sydney', available: false },
    ];
    world.service.faults.add({ path: '/*/managed_hosting/regions', status: 200, body: { regions } });
    const said = await ask(world, '/deckhand hosting regions');
    expect(said).toContain('*Frankfurt*  `fra1`');
    expect(said).not.toContain('Sydney');
  });

  test('hosting prices the sizes in their own currency', async ({ world }) => {
    const sizes = [
      { slug: 's', label: '1 vCPU', monthly_cost: 7.6, currency: 'eur' },
      { slug: 'm', label: '2 vCPU', monthly_cost: 900, currency: 'jpy' },
    ];
    world.service.faults.add({ path: `/${ACCOUNT}/managed_hosting/sizes`, status: 200, body: { sizes } });
    const said = await ask(world, '/deckhand hosting sizes');
    expect(said).toContain('7.60 EUR');
    expect(said).toContain('900 JPY');
  });

  describe('sync', () => {
    test('hosting sync confirms the request, then shows the card again once it has changed', async ({
      world,
    }) => {
      const { service, slack } = world;
      service.world.setProviderState({ account: ACCOUNT, resource: 'r-2', status: 'active' });
      const said = await ask(world, '/deckhand hosting sync r-2', 'admin');
      expect(said).toContain('The sync is requested');
      expect(said).toContain('*error*');
      await service.clock.advance(3_000);
      const seen = () => slack.ephemerals(TEAM, PEOPLE.admin).map(({ blocks }) => JSON.stringify(blocks));
      await slack.until(() => seen().some((blocks) => blocks.includes('is done')));
      expect(seen().at(-1)).toContain('*active*: running and ready for deployments');
      expect(service.requests.all.filter(({ path }) => path.endsWith('/sync'))).toHaveLength(1);
    });

    test('hosting sync goes on through failures of the service', async ({ world }) => {
      const { service, slack } = world;
      await ask(world, '/deckhand hosting sync r-1', 'admin');
      service.faults.add({ path: `/${ACCOUNT}/hosted_resources/r-1`, status: 500, times: 2 });
      await service.clock.advance(3_000);
      await slack.until(() =>
        slack.ephemerals(TEAM, PEOPLE.admin).some(({ text }) => text.includes('is done')),
      );
    });

    test('hosting sync works from the card, once', async ({ world }) => {
      const { slack, service } = world;
      await ask(world, '/deckhand hosting show r-1', 'admin');
      const card = slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
      await world.as('admin').click({ channel: CHANNEL, ts: card?.ts ?? '' }, { actionId: 'hosting:sync' });
      await slack.until(() =>
        slack.ephemerals(TEAM, PEOPLE.admin).some(({ text }) => text.includes('The sync is requested')),
      );
      expect(service.requests.all.filter(({ path }) => path.endsWith('/sync'))).toHaveLength(1);
    });

    test('hosting sync is carried out again where the process died over the click, but not for a second click', async ({
      world,
    }) => {
      const { slack, service, app } = world;
      const caller = { workspace: TEAM, user: PEOPLE.admin, channel: CHANNEL, messageTs: '1.2' };
      const value = JSON.stringify({ account: ACCOUNT, id: 'r-1' });
      const synced = () => service.requests.all.filter(({ path }) => path.endsWith('/sync')).length;
      const said = () => slack.ephemerals(TEAM, PEOPLE.admin).map(({ text }) => text);
      const click = async (requestId: string, answer: string) => {
        const before = said().length;
        await app.parts.engine.send(TEAM, rawJob('requests'), {
          kind: 'action',
          caller: { ...caller, requestId },
          actionId: 'hosting:sync',
          value,
        });
        await slack.until(() =>
          said()
            .slice(before)
            .some((text) => text.includes(answer)),
        );
      };
      await click('t-1', 'The sync is requested');
      await click('t-1', 'The sync is requested');
      await click('t-2', 'That button was used already.');
      expect(synced()).toBe(2);
    });

    test('hosting sync names what was not found', async ({ world }) => {
      const said = await answerTo(world, 'admin', () =>
        world.as('admin').command(CHANNEL, '/deckhand hosting sync r-9'),
      );
      expect(said).toContain('There is no managed server `r-9` at `acme`.');
    });
  });
});
