import { describe, expect, test } from 'vitest';
import { addAcme, startBench } from './caller.ts';

/** Longer than any run of two servers takes. */
const LONG_ENOUGH = 10_000;
const RUNS = '/projects/storefront/test_access';
const STOREFRONT = { account: 'acme', project: 'storefront' };

/** A run that was begun; `outcome` says how it is to go, beyond what the service documents. */
async function startRun(outcome?: object, path = RUNS) {
  const bench = await startBench();
  const parts = addAcme(bench);
  const { world, clock } = bench.service;
  if (outcome !== undefined) world.setRunOutcome({ ...STOREFRONT, ...outcome });
  const caller = bench[outcome === undefined ? 'as' : 'unchecked']('acme', parts.member);
  const begin = async (where = path) => {
    const { body: run } = await caller.post(where);
    const look = async () => (await caller.get(`${RUNS}/${run.identifier}`)).body;
    return { run, look };
  };
  return { ...bench, ...parts, world, clock, caller, begin, ...(await begin()) };
}

describe('a run', () => {
  test('of one server has no repository', async () => {
    const { project, begin, clock } = await startRun();
    const server = project.servers[1]?.identifier;
    const { look } = await begin(`/projects/${project.identifier}/servers/${server}/test_access`);
    clock.advance(LONG_ENOUGH);
    const { results } = await look();
    expect(results).toEqual({ servers: [expect.objectContaining({ name: 'web-2' })] });
  });

  test('that nobody started, and a server that nobody has, are not found', async () => {
    const { caller } = await startRun();
    expect((await caller.get(`${RUNS}/none`)).status).toBe(404);
    expect((await caller.post('/projects/storefront/servers/none/test_access')).status).toBe(404);
    expect((await caller.post('/projects/none/test_access')).status).toBe(404);
  });
});

describe('a run that was asked for', () => {
  const results = { servers: [{ status: 'ok' }, { status: 'ok' }] };
  const unreachable = { status: 'error', message: expect.any(String) };

  test.each([
    ['to fail', { status: 'failed', withResults: false }, 'failed', undefined],
    ['to fail with results', { status: 'failed', withResults: true }, 'failed', results],
    ['without any result', { results: 'none' }, 'completed', undefined],
    ['to end in a word of no document', { status: 'finished' }, 'finished', results],
    [
      'with its repository alone out of reach',
      { results: 'repository_unreachable' },
      'completed',
      { ...results, repository: unreachable },
    ],
  ])('%s does, and has its time of completion', async (_what, outcome, status, expected) => {
    const { look, world, clock } = await startRun(outcome);
    if ('results' in outcome && outcome.results === 'repository_unreachable')
      world.setOutcome({ ...STOREFRONT, server: 'web-1', status: 'error' });
    clock.advance(LONG_ENOUGH);
    const ended = await look();
    expect(ended).toMatchObject({ status, completed_at: expect.any(String) });
    if (expected === undefined) expect(ended).not.toHaveProperty('results');
    else expect(ended.results).toMatchObject(expected);
  });
});
