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
  test('shows no results while it runs, all of them at its end', async () => {
    const { run, look, clock, project } = await startRun();
    expect(run).toMatchObject({ status: 'running', completed_at: null });
    expect(await look()).not.toHaveProperty('results');
    clock.advance(LONG_ENOUGH);
    const { status, completed_at: to, created_at: from, results } = await look();
    expect(status).toBe('completed');
    expect(Date.parse(to)).toBeGreaterThan(Date.parse(from));
    const well = { status: 'ok', message: null };
    const servers = project.servers.map(({ name, identifier }) => ({ name, identifier, ...well }));
    expect(results).toEqual({ repository: well, servers });
  });

  test('takes longer the slower its servers are', async () => {
    const { world, clock, begin } = await startRun();
    world.setOutcome({ ...STOREFRONT, server: 'web-2', durationMs: 60_000 });
    const { look } = await begin();
    clock.advance(59_000);
    expect((await look()).status).toBe('running');
    clock.advance(5_000);
    expect((await look()).status).toBe('completed');
  });

  test('tells which server and why, and is completed all the same', async () => {
    const { look, world, clock } = await startRun();
    const denied = { status: 'error', message: 'Permission denied (publickey)' } as const;
    const away = { status: 'error', message: 'No access' } as const;
    world.setOutcome({ ...STOREFRONT, server: 'web-2', ...denied });
    world.setOutcome({ ...STOREFRONT, ...away });
    clock.advance(LONG_ENOUGH);
    const well = { name: 'web-1', status: 'ok', message: null };
    const servers = [well, { name: 'web-2', ...denied }];
    expect(await look()).toMatchObject({ status: 'completed', results: { repository: away, servers } });
  });

  test('of one server has no repository', async () => {
    const { project, begin, clock } = await startRun();
    const server = project.servers[1]?.identifier;
    const { look } = await begin(`/projects/${project.identifier}/servers/${server}/test_access`);
    clock.advance(LONG_ENOUGH);
    const { results } = await look();
    expect(results).toEqual({ servers: [expect.objectContaining({ name: 'web-2' })] });
  });

  test('waits for a free worker', async () => {
    const { world, clock, begin } = await startRun();
    clock.advance(LONG_ENOUGH);
    world.updateAccount({ account: 'acme', workers: 1 });
    world.setRunOutcome({ ...STOREFRONT, durationMs: 1_000 });
    const runs = [await begin(), await begin()];
    const statuses = () => Promise.all(runs.map(async ({ look }) => (await look()).status));
    clock.advance(1_500);
    expect(await statuses()).toEqual(['completed', 'running']);
    clock.advance(1_000);
    expect(await statuses()).toEqual(['completed', 'completed']);
  });

  test('that nobody started, and a server that nobody has, are not found', async () => {
    const { caller } = await startRun();
    expect((await caller.get(`${RUNS}/none`)).status).toBe(404);
    expect((await caller.post('/projects/storefront/servers/none/test_access')).status).toBe(404);
    expect((await caller.post('/projects/none/test_access')).status).toBe(404);
  });

  test('ends by itself while real time passes', async () => {
    const bench = await startBench({ speed: 1_000 });
    const caller = bench.as('acme', addAcme(bench).member);
    const { identifier } = (await caller.post(RUNS)).body;
    const status = async () => (await caller.get(`${RUNS}/${identifier}`)).body.status;
    await expect.poll(status).toBe('completed');
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

  test('to take five minutes says so by its two times, whatever it really took', async () => {
    const { look, clock } = await startRun({ tookMs: 300_000 });
    clock.advance(LONG_ENOUGH);
    const { created_at: from, completed_at: to } = await look();
    expect(Date.parse(to) - Date.parse(from)).toBe(300_000);
    expect(Date.parse(to)).toBeLessThanOrEqual(clock.now());
  });

  test('with words of its own goes through them, each for its part of the time', async () => {
    const outcome = { words: ['pending', 'queued', 'running'], durationMs: 3_000 };
    const { run, look, clock } = await startRun(outcome);
    const words = [run.status];
    for (const ms of [500, 1_000, 1_000, 1_000]) {
      clock.advance(ms);
      words.push((await look()).status);
    }
    expect(words).toEqual(['pending', 'pending', 'queued', 'running', 'completed']);
  });
});
