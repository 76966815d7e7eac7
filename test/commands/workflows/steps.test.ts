import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT, CHANNEL, openTestWorld, TEAM, type TestWorld } from '../../support/test-world.ts';

const STATUS = `/${ACCOUNT}/projects/*/test_access/*`;

let house: TestWorld;
beforeEach(async () => {
  house = await openTestWorld();
  await house.connect();
});
afterEach(() => house.stop());

const run = (inputs: Record<string, unknown>, name = 'test_access') =>
  house.slack.runFunction(TEAM, name, inputs).id;
const state = (id: string) => house.slack.functionRun(TEAM, id);
const ended = (id: string) =>
  house.slack.until(() => state(id)?.state !== 'running' && state(id), { what: 'the step to end' });
const roots = () => house.slack.messages(TEAM, CHANNEL);

describe('the workflow step "Run test access"', () => {
  it('ends with the run: status, counts, what fails, and a link to the message', async () => {
    house.service.world.setOutcome({
      account: ACCOUNT,
      project: 'storefront',
      server: 'web-2',
      status: 'error',
      message: 'refused',
    });
    const step = await ended(run({ project: 'Storefront', channel: CHANNEL, server: '' }));
    expect(step).toMatchObject({
      state: 'succeeded',
      outputs: { status: 'completed', reachable: 1, total: 2, failing: 'web-2: refused' },
    });
    expect(step?.outputs?.permalink).toMatch(/^http/);
    await house.slack.until(() => roots().at(-1)?.text.includes('1 of 2 reachable'));
    expect(JSON.stringify(roots().at(-1)?.blocks)).toContain('asked by a workflow');
  });

  it('tests one server, and posts nowhere where no channel is given', async () => {
    const step = await ended(run({ project: 'storefront', server: 'web-1' }));
    expect(step?.outputs).toEqual({ status: 'completed', reachable: 1, total: 1, failing: '' });
    expect(house.slack.calls.some(({ method }) => method === 'chat.postMessage')).toBe(false);
  });

  it('gives a failed run as its outcome', async () => {
    house.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', status: 'failed' });
    const step = await ended(run({ project: 'storefront' }));
    expect(step).toMatchObject({ state: 'succeeded', outputs: { status: 'failed', reachable: 0, total: 0 } });
  });

  it('waits for the run of the same target that goes on already', async () => {
    const fault = house.service.faults.add({ path: STATUS, status: 503, retryAfter: '0' });
    await house.as('member').command(CHANNEL, '/deckhand test storefront');
    await house.slack.until(() => roots().at(-1)?.text.includes('running'));
    const [one, other] = [run({ project: 'storefront' }), run({ project: 'storefront' })];
    await expect
      .poll(async () => (await house.app.workspaces.open(TEAM).runs.list())[0]?.steps)
      .toEqual(expect.arrayContaining([one, other]));
    expect(state(one)?.state).toBe('running');
    fault.remove();
    for (const id of [one, other])
      expect((await ended(id))?.outputs).toMatchObject({ reachable: 2, permalink: expect.any(String) });
    expect(roots()).toHaveLength(1);
  });

  it.each([
    ['a project that is not there', { project: 'nope' }, /no project nope/],
    ['no project', { project: ' ' }, /Name the project/],
    ['a server that is not there', { project: 'storefront', server: 'nope' }, /no server nope/],
    ['an account that is not there', { project: 'storefront', account: 'nope' }, /No account named nope/],
    ['a channel that it is not in', { project: 'storefront', channel: 'C0NOWHERE' }, /cannot post/],
  ])('ends with the reason for %s', async (_, inputs, reason) => {
    const step = await ended(run(inputs));
    expect(step).toMatchObject({ state: 'failed', error: expect.stringMatching(reason) });
    expect(step?.error).not.toMatch(/[`*<]/);
  });

  it('ends with the reason where the service refuses the test', async () => {
    house.service.faults.add({
      method: 'POST',
      path: `/${ACCOUNT}/projects/storefront/test_access`,
      status: 403,
    });
    expect((await ended(run({ project: 'storefront' })))?.error).toContain('refused');
  });

  it('ends although Slack was away for a moment, and keeps no token', async () => {
    house.slack.fault({ method: 'functions.completeSuccess', status: 500, times: 2 });
    const id = run({ project: 'storefront' });
    expect((await ended(id))?.state).toBe('succeeded');
    expect(house.logs.join('')).not.toContain('xwfp-');
  });
});

describe('the workflow step "Get deployment statistics"', () => {
  it('gives the figures of the range, and leaves out what has nothing to tell', async () => {
    house.service.faults.add({
      path: `/${ACCOUNT}/activity`,
      status: 200,
      body: {
        events: [],
        stats: {
          total_deployments: 4,
          total_deployments_delta: -2,
          success_rate: null,
          success_rate_delta: null,
          avg_duration: '1m 12s',
          active_servers: 3,
        },
      },
    });
    const step = await ended(run({ range: 'last_30_days' }, 'deployment_statistics'));
    expect(step?.outputs).toEqual({
      total_deployments: 4,
      total_deployments_delta: -2,
      average_duration: '1m 12s',
      active_servers: 3,
    });
    const asked = house.service.requests.all.findLast(({ path }) => path.includes('activity'));
    expect(asked?.query).toMatchObject({ range: 'last_30_days', include: 'stats' });
  });

  it('names the ranges where it is given another', async () => {
    expect((await ended(run({ range: 'fortnight' }, 'deployment_statistics')))?.error).toContain(
      'last_7_days',
    );
  });
});
