import { describe, expect } from 'vitest';
import { BRISK } from '../../support/faults.ts';
import { test as base } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, TEAM, type TestWorld } from '../../support/test-world.ts';

const STATUS = `/${ACCOUNT}/projects/*/test_access/*`;
const test = base.extend('connected', true).extend('worldOptions', BRISK);

const run = (world: TestWorld, inputs: Record<string, unknown>, name = 'test_access') =>
  world.slack.runFunction(TEAM, name, inputs).id;
const state = (world: TestWorld, id: string) => world.slack.functionRun(TEAM, id);
const ended = (world: TestWorld, id: string) =>
  world.slack.until(() => state(world, id)?.state !== 'running' && state(world, id), {
    what: 'the step to end',
  });
const roots = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);

describe('the workflow step "Test access"', () => {
  test('ends with the run: status, counts, what fails, and a link to the message', async ({ world }) => {
    const { setOutcome, setRunOutcome } = world.service.world;
    const storefront = { account: ACCOUNT, project: 'storefront' };
    setOutcome({ ...storefront, server: 'web-2', status: 'error', message: 'refused' });
    const step = await ended(world, run(world, { project: 'Storefront', channel: CHANNEL, server: '' }));
    expect(step).toMatchObject({
      state: 'succeeded',
      outputs: { status: 'completed', reachable: 1, total: 2, failing: 'web-2: refused' },
    });
    expect(step?.outputs?.permalink).toMatch(/^http/);
    await world.slack.until(() => roots(world).at(-1)?.text.includes('1 of 2 servers is unreachable'));
    expect(JSON.stringify(roots(world).at(-1)?.blocks)).toContain('asked by a workflow');
    // A failed run is an outcome too, also where no channel is told.
    setRunOutcome({ ...storefront, status: 'failed' });
    const failed = await ended(world, run(world, { project: 'storefront', server: 'web-1' }));
    expect(failed).toMatchObject({
      state: 'succeeded',
      outputs: { status: 'failed', reachable: 0, total: 0 },
    });
    expect(roots(world)).toHaveLength(1);
  });

  test('waits for the run of the same target that goes on already', async ({ world }) => {
    const fault = world.service.faults.add({ path: STATUS, status: 503, retryAfter: '0' });
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.slack.until(() => roots(world).at(-1)?.text.includes('running'));
    const [one, other] = [run(world, { project: 'storefront' }), run(world, { project: 'storefront' })];
    await expect
      .poll(async () => (await world.app.workspaces.open(TEAM).runs.newest(100))[0]?.steps)
      .toEqual(expect.arrayContaining([one, other]));
    expect(state(world, one)?.state).toBe('running');
    fault.remove();
    for (const id of [one, other])
      expect((await ended(world, id))?.outputs).toMatchObject({
        reachable: 2,
        permalink: expect.any(String),
      });
    expect(roots(world)).toHaveLength(1);
  });

  test.for([
    ['a project that is not there', { project: 'nope' }, /no project nope/],
    ['a server that is not there', { project: 'storefront', server: 'nope' }, /no server nope/],
    [
      'a channel that it is not in',
      { project: 'storefront', channel: 'C0NOWHERE' },
      /is not in this channel/,
    ],
  ] as const)('ends with the reason for %s', async ([_, inputs, reason], { world }) => {
    const step = await ended(world, run(world, inputs));
    expect(step).toMatchObject({ state: 'failed', error: expect.stringMatching(reason) });
    expect(step?.error).not.toMatch(/[`*<]/);
  });

  test('is refused for a channel that does not allow `test`, and the audit log says so', async ({
    world,
  }) => {
    const { channels, audit } = world.app.workspaces.open(TEAM);
    await channels.change(CHANNEL, (current) => ({ ...current, commands: ['projects'] }));
    const step = await ended(world, run(world, { project: 'storefront', channel: CHANNEL }));
    expect(step).toMatchObject({ state: 'failed', error: expect.stringContaining('switched off') });
    expect(roots(world)).toEqual([]);
    const [latest] = await audit.latest(1);
    expect(latest?.entry).toMatchObject({ requestedBy: 'a workflow', what: 'test', result: 'refused' });
  });

  test('ends although Slack was away for a moment, and keeps no token', async ({ world }) => {
    world.slack.fault({ method: 'functions.completeSuccess', status: 500, times: 2 });
    const id = run(world, { project: 'storefront' });
    expect((await ended(world, id))?.state).toBe('succeeded');
    expect(world.logs.join('')).not.toContain('xwfp-');
  });
});

test('the menus of the steps list projects, and the servers of the chosen one, before the ack', async ({
  world,
}) => {
  const choices = async (name: string, inputs: Record<string, string>) => {
    const id = run(world, inputs, name);
    const delivery = () => world.slack.deliveries.find(({ payload }) => JSON.stringify(payload).includes(id));
    await world.slack.until(() => delivery()?.outcome === 'ok', { what: 'the ack' });
    return JSON.stringify(state(world, id)?.outputs?.options);
  };
  const choice = (text: string, value: string) => ({
    text: { type: 'plain_text', text, emoji: false },
    value,
  });
  expect(await choices('list_projects', { query: 'store' })).toBe(
    JSON.stringify([choice('Storefront', 'storefront')]),
  );
  expect(await choices('list_servers', { query: '', project: 'storefront' })).toMatch(/"web-1".*"web-2"/);
  expect(await choices('list_servers', { query: '', project: '' })).toBe('[]');
  const refused = await ended(world, run(world, { query: '', account: 'nope' }, 'list_projects'));
  expect(refused).toMatchObject({ state: 'failed', error: expect.stringContaining('nope') });
});

describe('the workflow step "Get deployment statistics"', () => {
  test('gives the figures of the range, and leaves out what has nothing to tell', async ({ world }) => {
    const known = { total_deployments: 4, total_deployments_delta: -2, active_servers: 3 };
    world.service.faults.add({
      path: `/${ACCOUNT}/activity`,
      status: 200,
      body: {
        events: [],
        stats: { ...known, success_rate: null, success_rate_delta: null, avg_duration: '1m 12s' },
      },
    });
    const step = await ended(world, run(world, { range: 'last_30_days' }, 'deployment_statistics'));
    expect(step?.outputs).toEqual({ ...known, average_duration: '1m 12s' });
    const asked = world.service.requests.all.findLast(({ path }) => path.includes('activity'));
    expect(asked?.query).toMatchObject({ range: 'last_30_days', include: 'stats' });
    const other = await ended(world, run(world, { range: 'fortnight' }, 'deployment_statistics'));
    expect(other?.error).toContain('last_7_days');
  });
});
