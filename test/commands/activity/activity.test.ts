import { describe, expect } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
import { test as base } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const test = base.extend('connected', true);

const lastSeen = (world: TestWorld) => world.slack.ephemerals(TEAM, PEOPLE.member).at(-1);
const seen = (world: TestWorld) => JSON.stringify(lastSeen(world)?.blocks);
const click = (world: TestWorld, actionId: string) =>
  world.as('member').click({ channel: CHANNEL, ts: lastSeen(world)?.ts ?? '' }, { actionId });
const shared = (world: TestWorld) =>
  world.slack.messages(TEAM, CHANNEL).filter(({ text }) => text.includes('Activity of'));

describe('activity', () => {
  test.beforeEach(async ({ world }) => {
    const { clock, world: account } = world.service;
    const deploy = (project: string, succeeded: boolean, ago: number, user = 'Kim') =>
      account.addDeployment({ account: ACCOUNT, project, succeeded, endedAt: clock.now() - ago, user });
    for (let at = 0; at < 14; at += 1) deploy('storefront', true, at * HOUR, `Kim ${at}`);
    for (const ago of [40 * DAY, 8 * DAY]) deploy('billing-api', false, ago);
  });

  test('shows the last seven days to one person alone, in their zone, and turns pages in place', async ({
    world,
  }) => {
    const shown = await ask(world, '/deckhand activity');
    expect(shown).toContain('Activity of acme, the last 7 days: 14 events');
    expect(shown).toContain('America/New_York');
    expect(shown).toContain('page 1 of 2');
    expect(shown).not.toContain('data_visualization');
    expect(world.service.requests.all.at(-1)?.query).toEqual({ range: 'last_7_days' });
    await click(world, 'activity:page#older');
    await world.slack.until(() => seen(world).includes('page 2 of 2'));
    expect(seen(world)).toContain('Kim 13');
    expect(world.slack.ephemerals(TEAM, PEOPLE.member)).toHaveLength(1);
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
  });

  test('takes a range, figures and a project in any order', async ({ world }) => {
    const shown = await ask(world, '/deckhand activity billing-api stats 30d');
    expect(shown).toContain('the last 30 days: 1 event');
    expect(shown).toContain('1 deployment: 1 failed');
    expect(shown).not.toContain('Whole account');
    expect(shown).not.toContain('*Deployments*');
    expect(await ask(world, '/deckhand activity storefrnt')).toContain('Did you mean `storefront`?');
  });

  test('is shared with the channel once, without its buttons, and again only after Slack refused', async ({
    world,
  }) => {
    world.slack.kick(TEAM, CHANNEL, 'bot');
    await ask(world, '/deckhand activity 7d stats');
    const { ts = '' } = lastSeen(world) ?? {};
    const press = () => world.as('member').click({ channel: CHANNEL, ts }, { actionId: 'activity:share' });
    expect(await answerTo(world, 'member', press)).toContain('Invite it');
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await Promise.all([press(), press()]);
    const read = () => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.member));
    await world.slack.until(() => read().includes('shared with this channel'));
    await world.slack.until(() => read().includes('used already'));
    expect(shared(world)).toHaveLength(1);
    const blocks = shared(world)[0]?.blocks;
    expect(JSON.stringify(blocks)).toContain(`shared by <@${PEOPLE.member}>`);
    expect(JSON.stringify(blocks)).not.toContain('activity:');
    expect(blocks).toContainEqual(expect.objectContaining({ type: 'data_visualization' }));
  });
});

describe('the chart of activity stats', () => {
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

  test('has how many succeeded and failed each day, but of no project or day alone', async ({ world }) => {
    const week = await ask(world, '/deckhand activity 7d stats');
    const chart = lastSeen(world)?.blocks?.find(({ type }) => type === 'data_visualization');
    expect(chart).toMatchObject({ title: 'Deployments per day', chart: { type: 'bar' } });
    expect(week.match(/"name":"(\w+)"/g)).toEqual(['"name":"Succeeded"', '"name":"Failed"']);
    for (const without of ['7d stats billing-api', 'today stats'])
      expect(await ask(world, `/deckhand activity ${without}`)).not.toContain('data_visualization');
  });
});
