import { expect, test } from 'vitest';
import { openAcme } from './caller.ts';

const STOREFRONT = { account: 'acme', project: 'storefront' };
const DEPLOYMENTS = '/projects/storefront/deployments';
const MINUTE_MS = 60_000;

type Acme = Awaited<ReturnType<typeof openAcme>>;

/** The deployment's failed step, and its log. */
async function readFailure({ caller }: Acme, identifier: string) {
  const { body } = await caller.get(`${DEPLOYMENTS}/${identifier}`);
  const failed = body.steps.filter(({ status }: { status: string }) => status === 'failed');
  expect(failed).toHaveLength(1);
  const log = (await caller.get(`${DEPLOYMENTS}/${identifier}/steps/${failed[0].identifier}/logs`)).body;
  return { step: failed[0], last: log.at(-1), body };
}

test('deployments come in pages, the latest first, or those to one server', async () => {
  const { caller, world, clock, project } = await openAcme();
  for (let n = 1; n <= 5; n += 1) {
    clock.advance(MINUTE_MS);
    world.addDeployment({ ...STOREFRONT, endRef: `r${n}`, servers: [n % 2 === 0 ? 'web-2' : 'web-1'] });
  }
  const read = async (query: string) => {
    const { pagination, records } = (await caller.get(`${DEPLOYMENTS}?${query}`)).body;
    const refs = records.map(({ end_revision: { ref } }: { end_revision: { ref: string } }) => ref);
    return [pagination.total_pages, pagination.total_records, refs];
  };
  expect(await read('per_page=2&page=2')).toEqual([3, 5, ['r3', 'r2']]);
  expect(await read(`to=${project.servers[1]?.identifier}`)).toEqual([1, 2, ['r4', 'r2']]);
  expect(await read('currently_running=true')).toEqual([1, 0, []]);
});

test('a failure is in the step in which it happened, with its log', async () => {
  const acme = await openAcme();
  const { world } = acme;
  const fail = (cause: 'build' | 'check') =>
    world.addDeployment({
      ...STOREFRONT,
      succeeded: false,
      failure: { cause },
      commit: { author: 'Ben Sommer' },
    });
  const build = await readFailure(acme, fail('build').identifier);
  expect(build.step).toMatchObject({ stage: 'building', server: null, logs: true });
  expect(build.last).toMatchObject({
    type: 'error',
    detail: expect.stringContaining('Missing script: "build"'),
  });
  expect(build.body).toMatchObject({ status: 'failed', end_revision: { author: 'Ben Sommer' } });
  expect(build.body.steps.at(-1)).toMatchObject({ status: 'pending', logs: false });
  expect((await readFailure(acme, fail('check').identifier)).step).toMatchObject({ stage: 'finishing' });
});

test('a deployment meets the servers as a test of the project meets them', async () => {
  const acme = await openAcme();
  const refusal = { server: 'web-2', status: 'error', message: 'No route to host' } as const;
  acme.world.setOutcome({ ...STOREFRONT, ...refusal });
  const { identifier } = acme.world.addDeployment({ ...STOREFRONT, succeeded: false });
  const { step, last } = await readFailure(acme, identifier);
  expect(step).toMatchObject({ stage: 'transferring', server: 'web-2' });
  expect(last).toMatchObject({ message: 'No route to host' });
});

test('an archived deployment has a summary, and no steps', async () => {
  const { caller, world } = await openAcme();
  const { identifier } = world.addDeployment({ ...STOREFRONT, succeeded: false, archived: true });
  const { body } = await caller.get(`${DEPLOYMENTS}/${identifier}`);
  expect(body).toMatchObject({ archived: true, log_summary: expect.any(String) });
  expect(body).not.toHaveProperty('steps');
});

test('commits wait until a deployment brings them to a server', async () => {
  const { caller, world, clock } = await openAcme();
  world.addCommits({ ...STOREFRONT, count: 60, message: 'Fix cart rounding\n\nHalf cents.' });
  const read = async () => (await caller.get('/projects/storefront/undeployed_changes')).body;
  const before = await read();
  expect(before).toMatchObject({ count: 60, truncated: true, check_in_progress: false });
  expect(before.commits).toHaveLength(50);
  expect(before.commits[0]).toMatchObject({
    ref: before.current_revision,
    short_message: 'Fix cart rounding',
  });
  clock.advance(MINUTE_MS);
  world.setWaiting({ ...STOREFRONT, isChecking: true });
  world.addDeployment(STOREFRONT);
  expect(await read()).toMatchObject({ count: 0, commits: [], check_in_progress: true });
});
