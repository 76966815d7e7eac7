import { describe, expect } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const HOUR = 3_600_000;

describe('activity', () => {
  test.override({ connected: true });
  test.beforeEach(async ({ world }) => {
    const now = world.service.clock.now();
    for (let at = 0; at < 14; at += 1)
      world.service.world.addDeployment({
        account: ACCOUNT,
        project: 'storefront',
        endedAt: now - at * HOUR,
        user: `Kim ${at}`,
      });
    world.service.world.addDeployment({
      account: ACCOUNT,
      project: 'billing-api',
      succeeded: false,
      endedAt: now - 40 * 24 * HOUR,
    });
    world.service.world.addDeployment({
      account: ACCOUNT,
      project: 'billing-api',
      succeeded: false,
      endedAt: now - 8 * 24 * HOUR,
    });
  });

  const lastSeen = (world: TestWorld) => world.slack.ephemerals(TEAM, PEOPLE.member).at(-1);
  const click = (world: TestWorld, actionId: string) =>
    world.as('member').click({ channel: CHANNEL, ts: lastSeen(world)?.ts ?? '' }, { actionId });

  test('activity asks for the last seven days, and shows them to the asker alone, in their own zone', async ({
    world,
  }) => {
    const shown = await ask(world, '/deckhand activity');
    expect(shown).toContain('Activity of `acme`, the last 7 days: 14 events');
    expect(shown).toContain('America/New_York');
    expect(shown).toContain(':white_check_mark:');
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
    expect(world.service.requests.all.at(-1)?.query).toEqual({ range: 'last_7_days' });
  });

  test('activity takes a range, figures and a project in any order', async ({ world }) => {
    const shown = await ask(world, '/deckhand activity billing-api stats 30d');
    expect(shown).toContain('the last 30 days: 1 event');
    expect(shown).toContain('1 deployment: 1 failed');
    expect(shown).toContain('Whole account: 15 deployments');
    expect(shown).not.toContain('*Deployments*');
  });

  test('activity counts a deployment once that the service reports twice', async ({ world }) => {
    const deployment = { account: ACCOUNT, project: 'storefront', succeeded: false, endRef: 'twin001' };
    const before = await ask(world, '/deckhand activity storefront stats');
    const amount = Number(/(\d+) failed/.exec(before)?.[1] ?? 0);
    for (const secondsAgo of [65, 62])
      world.service.world.addDeployment({
        ...deployment,
        endedAt: Date.now() - secondsAgo * 1_000,
        user: 'Kim',
      });
    const after = await ask(world, '/deckhand activity storefront stats');
    expect(after).toContain(`${amount + 1} failed`);
    expect(after.split('twin001')).toHaveLength(2);
  });

  test('activity names the nearest project where there is none of that name', async ({ world }) => {
    expect(await ask(world, '/deckhand activity storefrnt')).toContain('Did you mean `storefront`?');
  });

  test('activity turns pages in place', async ({ world }) => {
    expect(await ask(world, '/deckhand activity 7d')).toContain('page 1 of 2');
    await click(world, 'activity:page#older');
    await world.slack.until(() => JSON.stringify(lastSeen(world)?.blocks).includes('page 2 of 2'));
    expect(JSON.stringify(lastSeen(world)?.blocks)).toContain('Kim 13');
    expect(world.slack.ephemerals(TEAM, PEOPLE.member)).toHaveLength(1);
  });

  test('activity is shared with the channel once, without its buttons', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await ask(world, '/deckhand activity 7d stats');
    const shared = () =>
      world.slack.messages(TEAM, CHANNEL).filter(({ text }) => text.includes('Activity of'));
    await Promise.all([click(world, 'activity:share'), click(world, 'activity:share')]);
    const read = () => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.member));
    await world.slack.until(() => read().includes('shared with this channel'));
    await world.slack.until(() => read().includes('used already'));
    expect(shared()).toHaveLength(1);
    expect(JSON.stringify(shared()[0]?.blocks)).toContain(`shared by <@${PEOPLE.member}>`);
    expect(JSON.stringify(shared()[0]?.blocks)).not.toContain('activity:');
    expect(shared()[0]?.blocks).toContainEqual(expect.objectContaining({ type: 'data_visualization' }));
    expect(world.slack.files(TEAM)).toEqual([]);
  });

  test('activity can be shared again after Slack refused', async ({ world }) => {
    world.slack.kick(TEAM, CHANNEL, 'bot');
    await ask(world, '/deckhand activity');
    const card = lastSeen(world)?.ts ?? '';
    const press = () =>
      world.as('member').click({ channel: CHANNEL, ts: card }, { actionId: 'activity:share' });
    expect(await answerTo(world, 'member', press)).toContain('Invite it');
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await press();
    await world.slack.until(() =>
      world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('Activity of')),
    );
  });

  test.for([
    ['an older shape', { events: [], stats: { deployments: 3 } }],
    ['a list where figures were asked for', []],
    ['figures of another kind', { events: [], stats: 'many' }],
  ] as const)('activity shows %s without a fault', async ([_what, body], { world }) => {
    world.service.faults.add({ path: '/*/activity', status: 200, body });
    expect(await ask(world, '/deckhand activity stats')).toContain('No readable figures');
  });
});

describe('the chart of activity stats', () => {
  test.override({ connected: true });
  test.beforeEach(({ world }) => {
    const now = world.service.clock.now();
    for (const [at, succeeded] of [true, true, false].entries())
      world.service.world.addDeployment({
        account: ACCOUNT,
        project: 'storefront',
        succeeded,
        endedAt: now - at * 1000,
      });
  });
  const lastSeen = (world: TestWorld) => world.slack.ephemerals(TEAM, PEOPLE.member).at(-1);
  const typesSeen = (world: TestWorld) => (lastSeen(world)?.blocks ?? []).map(({ type }) => type);
  const answers = (world: TestWorld) => world.slack.ephemerals(TEAM, PEOPLE.member).length;

  test('the chart is drawn by Slack, with how many succeeded and failed each day', async ({ world }) => {
    const shown = await ask(world, '/deckhand activity 7d stats');
    const chart = lastSeen(world)?.blocks?.find(({ type }) => type === 'data_visualization');
    expect(chart).toMatchObject({ title: 'Deployments per day', chart: { type: 'bar' } });
    expect(shown.match(/"name":"(\w+)"/g)).toEqual(['"name":"Succeeded"', '"name":"Failed"']);
    expect(world.slack.files(TEAM)).toEqual([]);
  });

  test('the chart is left out without figures, without deployments, and for a single day', async ({
    world,
  }) => {
    await ask(world, '/deckhand activity 7d');
    expect(typesSeen(world)).not.toContain('data_visualization');
    for (const words of ['7d stats billing-api', 'today stats']) {
      await ask(world, `/deckhand activity ${words}`);
      expect(typesSeen(world)).not.toContain('data_visualization');
    }
  });

  test('the chart of 30 days has two days a bar, and every deployment', async ({ world }) => {
    const shown = await ask(world, '/deckhand activity 30d stats');
    expect(shown).toContain('"title":"Deployments, 2 days a bar"');
    const values = (name: string) => {
      const [, data = '[]'] = new RegExp(`"name":"${name}","data":(\\[.*?\\])`).exec(shown) ?? [];
      return (JSON.parse(data) as { value: number }[]).map(({ value }) => value);
    };
    expect(values('Succeeded')).toHaveLength(15);
    expect([values('Succeeded').at(-1), values('Failed').at(-1)]).toEqual([2, 1]);
  });

  test('where Slack refuses charts, words stand for them, and Slack is asked once', async ({ world }) => {
    world.slack.policy(TEAM, { refusedBlocks: ['data_visualization', 'data_table'] });
    const remembered = world.logged('"kind":"data_visualization"');
    const shown = await ask(world, '/deckhand activity 7d stats');
    await remembered;
    expect(shown).toContain('*Deployments per day*');
    expect(shown).toMatch(/▇ 2 succeeded, 1 failed/);
    expect(typesSeen(world)).not.toContain('data_visualization');
    expect(answers(world)).toBe(1);
    world.slack.policy(TEAM, { responseUrls: 'used_url' });
    expect(await ask(world, '/deckhand activity 30d stats')).toMatch(/▇ 2 succeeded, 1 failed/);
    const ephemeral = world.slack.calls.filter(({ method }) => method === 'chat.postEphemeral');
    expect(ephemeral.map(({ error }) => error)).toEqual([undefined]);
  });
});
