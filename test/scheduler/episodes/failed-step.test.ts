import { describe, expect } from 'vitest';
import { z } from 'zod';
import { HOUR_MS, systemClock } from '../../../src/core/time/clock.ts';
import { ask } from '../../support/asking.ts';
import { jobsToEnd } from '../../support/jobs-to-end.ts';
import { ACCOUNT, CHANNEL, TEAM, type TestWorld } from '../../support/test-world.ts';
import { OTHER, say, test } from '../channel.ts';

const PROJECT = { account: ACCOUNT, project: 'storefront' };
const LIST = `/${ACCOUNT}/projects/*/deployments`;
const LOG = `${LIST}/*/steps/*/logs`;

/** Waits are so much shorter. */
const hasty = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 20, signal),
};

type Failure = NonNullable<Parameters<TestWorld['service']['world']['addDeployment']>[0]['failure']>;

let deployed = 0;
function fail({ service }: TestWorld, failure: Failure = { cause: 'build' }, more = {}): void {
  deployed += 1;
  const commit = { author: 'Ben Sommer', message: 'Fix cart rounding\n\nHalf cents.' };
  const endRef = `d4fc${100 + deployed}00`;
  service.world.addDeployment({
    ...PROJECT,
    succeeded: false,
    endRef,
    user: 'Marta Reis',
    failure,
    commit,
    ...more,
  });
}

const root = ({ slack }: TestWorld, channel = CHANNEL) =>
  slack.messages(TEAM, channel).findLast(({ text }) => /failed at|failing since/.test(text));
const blocks = (world: TestWorld, channel = CHANNEL) =>
  JSON.stringify(root(world, channel)?.blocks ?? []).replaceAll('\\"', '"');
const shows = (world: TestWorld, words: string, channel = CHANNEL) =>
  world.slack.until(() => blocks(world, channel).includes(words), { what: words });

/** Requests about deployments. */
const calls = ({ service }: TestWorld) =>
  service.requests.all.filter(({ path }) => path.includes('/deployments')).map(({ path }) => path);
const tests = ({ service }: TestWorld) =>
  service.requests.all.filter(({ path, method }) => method === 'POST' && path.endsWith('/test_access'));

describe('the message of a failed deployment', () => {
  test('says in which step it failed, why, and by whose commit', async ({ world }) => {
    await say(world, 'watch storefront failures');
    fail(world);
    await shows(world, 'Failed in *Building: npm run build*: npm ERR! Missing script: "build"');
    await shows(world, '`d4fc101` *Fix cart rounding* by Ben Sommer, deployed by Marta Reis');
    expect(root(world)?.text).toContain(
      'Failed in Building: npm run build: npm ERR! Missing script: "build". d4fc101 Fix cart rounding by Ben Sommer',
    );
    await jobsToEnd(world);
    expect(calls(world)).toHaveLength(3);
    // A build needs no connection.
    expect(tests(world)).toHaveLength(0);

    fail(world, { cause: 'host', server: 'web-2', message: 'No route to host' });
    await shows(world, 'Failed in *Transferring: Uploading files* on web-2: No route to host');
    expect(blocks(world)).not.toContain('npm ERR!');
    await shows(world, 'so the connection is not the cause');
    expect(tests(world)).toHaveLength(1);

    world.service.world.addDeployment({ ...PROJECT, user: 'Marta Reis' });
    const last = () => world.slack.messages(TEAM, CHANNEL).at(-1);
    await world.slack.until(() => last()?.text.includes('recovered'));
    expect(JSON.stringify(last()?.blocks)).not.toContain('Failed in');
  });

  test('costs four calls at most for all its channels, and two logs are read if the first says no error', async ({
    world,
  }) => {
    await say(world, 'watch storefront failures');
    await say(world, 'watch all failures', OTHER);
    const page = (word: string) =>
      Array.from({ length: 200 }, (_, at) => ({ id: `${word}${at}`, message: `${word} ${at}`, type: 'x' }));
    const earlier = [...page('copied'), { id: 'e', message: 'Error: disk quota', type: 'x' }];
    world.service.faults.add({ path: LOG, status: 200, body: page('cleaned'), times: 1 });
    world.service.faults.add({ path: LOG, status: 200, body: earlier });
    fail(world);
    for (const channel of [CHANNEL, OTHER]) await shows(world, 'npm run build*: Error: disk quota', channel);
    await jobsToEnd(world);
    expect(calls(world)).toHaveLength(4);
  });

  test('has no secret of a log, and stores and logs none', async ({ world }) => {
    await say(world, 'watch storefront failures');
    const secret = ['hunter', '2x9'].join('');
    const detail = `connecting\nError: cannot reach postgres://app:${secret}@db:5432/shop\npassword=${secret} refused`;
    fail(
      world,
      { cause: 'build', message: 'Ended', detail },
      { commit: { message: `token=${secret}`, author: 'Ben' } },
    );
    await shows(world, 'password=[masked] refused');
    await jobsToEnd(world);
    expect(JSON.stringify(world.slack.calls)).not.toContain(secret);
    expect(world.logs.join('\n')).not.toContain(secret);
    const stored = await world.app.workspaces.open(TEAM).store.collection('episodes', z.unknown()).list();
    expect(JSON.stringify(stored)).not.toContain(secret);
    expect(JSON.stringify(stored)).not.toContain('connecting');
  });

  test('says why where the clock of the service is ahead', async ({ world }) => {
    await say(world, 'watch storefront failures');
    world.service.clock.advance(HOUR_MS);
    fail(world);
    await shows(world, 'Failed in *Building: npm run build*: npm ERR! Missing script: "build"');
  });

  test('shows foreign text letter for letter', async ({ world }) => {
    await say(world, 'watch storefront failures');
    fail(world, {
      cause: 'build',
      message: 'Error: <!channel> *now* :tada: <https://evil.example|x>',
      detail: null,
    });
    await shows(world, 'Failed in *Building');
    expect(blocks(world)).not.toMatch(/<!channel>|<https:\/\/evil/);
  });

  test.for<[string, (world: TestWorld) => void, shown: string[], not: string[]]>([
    [
      'no description',
      ({ service }) => service.world.setDescription({ description: 'none' }),
      [],
      ['Failed in'],
    ],
    ['a hostile description', answers('/docs.json', HOSTILE), [], ['Failed in']],
    ['half a description', describesHalf, ['*Building: npm run build*', 'Fix cart'], ['npm ERR!']],
    ['a refused list', refuses(LIST, 403), [], ['Failed in']],
    ['no such list', refuses(LIST, 404), [], ['Failed in']],
    ['a refused log', refuses(LOG, 403), ['*Building: npm run build*', 'Fix cart'], ['npm ERR!']],
    ['an archived deployment', archives, ['Fix cart'], ['Failed in']],
    ['a log that is no list', answers(LOG, { a: 1 }), ['*Building: npm run build*'], ['npm ERR!']],
  ])('is what the service allows with %s', async ([, change, shown, not], { world }) => {
    change(world);
    await say(world, 'watch storefront failures');
    fail(world, { cause: 'build' }, { archived: change === archives });
    const needed = shown.at(0) ?? 'the connection is not the cause';
    await shows(world, needed);
    for (const words of shown) expect(blocks(world)).toContain(words);
    for (const words of not) expect(blocks(world)).not.toContain(words);
  });

  test('in a channel that another organisation reads names only the step', async ({ world }) => {
    world.slack.addWorkspace({ id: 'T0PARTNER', name: 'Partner', users: [], channels: [] });
    world.slack.shareChannel(TEAM, CHANNEL, 'T0PARTNER');
    await say(world, 'watch storefront failures');
    fail(world);
    await shows(world, 'Failed in *Building: npm run build*');
    expect(blocks(world)).not.toMatch(/npm ERR!|Fix cart|Ben Sommer/);
  });

  test('is not explained where diagnosis is switched off', async ({ world }) => {
    await say(world, 'watch storefront failures');
    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ diagnose: false }));
    fail(world);
    await world.slack.until(() => root(world) !== undefined);
    await jobsToEnd(world);
    expect(calls(world)).toEqual([]);
  });
});

describe('the step of a failed deployment', () => {
  test.override({
    worldOptions: {
      clock: hasty,
      serviceTimeoutMs: 600_000,
      env: { NOTICE_INTERVAL_MS: '800', POLL_INTERVAL_MS: '800' },
    },
  });

  test.for([
    ['403', 403, { error_code: 'permission_denied' }, 1],
    ['404', 404, { error_code: 'invalid_api_method' }, 1],
    ['a record that is not there', 404, { error_code: 'record_not_found' }, 2],
  ] as const)('asks again after %s only if it is no refusal', async ([, status, body, amount], { world }) => {
    world.service.faults.add({ path: `${LIST}/*`, status, body });
    await say(world, 'watch storefront failures');
    fail(world);
    await shows(world, 'the connection is not the cause');
    const records = () => calls(world).filter((path) => path.split('/').length === 5).length;
    if (amount === 1) await jobsToEnd(world);
    const before = records();
    fail(world);
    await world.slack.until(() => root(world)?.text.includes('2 deployments failed') === true);
    if (amount === 1) await jobsToEnd(world);
    else await expect.poll(records).toBeGreaterThan(before);
    if (amount === 1) expect(records()).toBe(1);
  });

  test.for([
    ['another shape', { records: 5 }],
    ['rows that are no deployments', { records: [null, 7, { identifier: { a: 1 } }, []] }],
  ])('is not shown if the list has %s', async ([, body], { world }) => {
    world.service.faults.add({ path: LIST, status: 200, body });
    await say(world, 'watch storefront failures');
    fail(world);
    await shows(world, 'the connection is not the cause');
    expect(blocks(world)).not.toContain('Failed in');
  });

  test('is looked for again if the service lists the deployment late, and the test does not wait for it', async ({
    world,
  }) => {
    const empty = world.service.faults.add({ path: LIST, status: 200, body: { records: [] }, times: 2 });
    await say(world, 'watch storefront failures');
    fail(world, { cause: 'host' });
    await shows(world, 'the connection is not the cause');
    await shows(world, 'Failed in *Transferring: Uploading files*');
    expect(empty.hits()).toBe(2);
    await jobsToEnd(world);
    // The log has no call left.
    expect(calls(world)).toHaveLength(4);
  });

  test('is given up after three looks', async ({ world }) => {
    world.service.faults.add({ path: LIST, status: 200, body: { records: [] } });
    await say(world, 'watch storefront failures');
    fail(world);
    await shows(world, 'the connection is not the cause');
    await jobsToEnd(world);
    expect(calls(world)).toHaveLength(3);
    expect(blocks(world)).not.toContain('Failed in');
  });

  test('is read for 120 calls an hour', async ({ world }) => {
    const workspace = world.app.workspaces.open(TEAM);
    const budget = workspace.store.collection('step-calls', z.unknown());
    await budget.put(ACCOUNT, { at: Array(118).fill(systemClock.now()) });
    await say(world, 'watch storefront failures');
    fail(world);
    await shows(world, 'Failed in *Building: npm run build*');
    expect(blocks(world)).not.toContain('npm ERR!');
    await jobsToEnd(world);
    expect(calls(world)).toHaveLength(2);
    await budget.put(ACCOUNT, {
      at: [systemClock.now() - HOUR_MS, ...Array(119).fill(systemClock.now() - HOUR_MS)],
    });
    fail(world);
    await shows(world, 'npm ERR!');
    expect(await ask(world, '/deckhand failing')).toContain('2 deployments failed');
  });
});

/** References that lead to themselves, and values of other types than they should have. */
const HOSTILE = {
  paths: {
    '/projects/{p}/deployments': { $ref: '#/paths/~1projects~1{p}~1deployments' },
    '/projects/{p}/deployments/{d}': { get: { $ref: '#' }, post: [[[{}]]] },
    '/projects/{p}/deployments/{d}/steps/{s}/logs': 7,
    constructor: { get: {} },
  },
};

function describesHalf({ service }: TestWorld): void {
  const paths = {
    '/projects/{p}/deployments': { get: {} },
    '/projects/{p}/deployments/{d}': { get: {} },
  };
  service.faults.add({ path: '/docs.json', status: 200, body: { paths } });
}

function refuses(path: string, status: number) {
  return ({ service }: TestWorld): void => {
    const body = { error_code: status === 403 ? 'permission_denied' : 'invalid_api_method' };
    service.faults.add({ path, status, body });
  };
}

function answers(path: string, body: unknown) {
  return ({ service }: TestWorld): void => {
    service.faults.add({ path, status: 200, body });
  };
}

function archives(): void {
  // The deployment itself says it.
}
