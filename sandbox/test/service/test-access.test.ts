import { describe, expect, test } from 'vitest';
import { addAcme, startBench } from './caller.ts';

/** Longer than any run of two servers takes. */
const LONG_ENOUGH = 10_000;

async function startRun(path = '/projects/storefront/test_access') {
  const bench = await startBench();
  const parts = addAcme(bench);
  const caller = bench.as('acme', parts.member);
  const { body } = await caller.post(path);
  const look = async () => (await caller.get(`/projects/storefront/test_access/${body.identifier}`)).body;
  return { ...bench, ...parts, caller, run: body, look };
}

describe('a run', () => {
  test('shows no results while it runs, all of them at its end', async () => {
    const { run, look, service, project } = await startRun();
    expect(run).toMatchObject({ status: 'running', completed_at: null });
    expect(await look()).not.toHaveProperty('results');
    service.clock.advance(LONG_ENOUGH);
    const ended = await look();
    expect(ended.status).toBe('completed');
    expect(Date.parse(ended.completed_at)).toBeGreaterThan(Date.parse(ended.created_at));
    expect(ended.results).toEqual({
      repository: { status: 'ok', message: null },
      servers: project.servers.map(({ name, identifier }) => ({
        name,
        identifier,
        status: 'ok',
        message: null,
      })),
    });
  });

  test('takes longer the slower its servers are', async () => {
    const { look, service, caller } = await startRun();
    service.clock.advance(LONG_ENOUGH);
    service.world.setOutcome({ account: 'acme', project: 'storefront', server: 'web-2', durationMs: 60_000 });
    const { body } = await caller.post('/projects/storefront/test_access');
    service.clock.advance(59_000);
    const path = `/projects/storefront/test_access/${body.identifier}`;
    expect((await caller.get(path)).body.status).toBe('running');
    service.clock.advance(5_000);
    expect((await caller.get(path)).body.status).toBe('completed');
    expect((await look()).status).toBe('completed');
  });

  test('tells which server and why, and is completed all the same', async () => {
    const { look, service } = await startRun();
    const failing = { account: 'acme', project: 'storefront', server: 'web-2' };
    service.world.setOutcome({ ...failing, status: 'error', message: 'Permission denied (publickey)' });
    service.world.setOutcome({
      account: 'acme',
      project: 'storefront',
      status: 'error',
      message: 'No access',
    });
    service.clock.advance(LONG_ENOUGH);
    const { status, results } = await look();
    expect(status).toBe('completed');
    expect(results.repository).toEqual({ status: 'error', message: 'No access' });
    expect(results.servers).toMatchObject([
      { name: 'web-1', status: 'ok', message: null },
      { name: 'web-2', status: 'error', message: 'Permission denied (publickey)' },
    ]);
  });

  test.each([
    [false, undefined],
    [true, expect.objectContaining({ servers: expect.any(Array) })],
  ])('can fail, with results: %s', async (withResults, results) => {
    const { look, service } = await startRun();
    service.world.setRunOutcome({ account: 'acme', project: 'storefront', status: 'failed', withResults });
    service.clock.advance(LONG_ENOUGH);
    const ended = await look();
    expect(ended.status).toBe('failed');
    expect(ended.completed_at).not.toBeNull();
    expect(ended.results).toEqual(results);
  });

  test('of one server has no repository', async () => {
    const bench = await startBench();
    const { member, project } = addAcme(bench);
    const caller = bench.as('acme', member);
    const server = project.servers[1]?.identifier;
    const { body } = await caller.post(`/projects/${project.identifier}/servers/${server}/test_access`);
    bench.service.clock.advance(LONG_ENOUGH);
    const ended = await caller.get(`/projects/storefront/test_access/${body.identifier}`);
    expect(Object.keys(ended.body.results)).toEqual(['servers']);
    expect(ended.body.results.servers).toMatchObject([{ name: 'web-2' }]);
  });

  test('waits for a free worker', async () => {
    const bench = await startBench();
    const { member } = addAcme(bench);
    bench.service.world.updateAccount({ account: 'acme', workers: 1 });
    bench.service.world.setRunOutcome({ account: 'acme', project: 'storefront', durationMs: 1_000 });
    const caller = bench.as('acme', member);
    const runs = [
      await caller.post('/projects/storefront/test_access'),
      await caller.post('/projects/storefront/test_access'),
    ];
    const looks = () =>
      Promise.all(runs.map(({ body }) => caller.get(`/projects/storefront/test_access/${body.identifier}`)));
    bench.service.clock.advance(1_500);
    expect((await looks()).map(({ body }) => body.status)).toEqual(['completed', 'running']);
    bench.service.clock.advance(1_000);
    expect((await looks()).map(({ body }) => body.status)).toEqual(['completed', 'completed']);
  });

  test('that nobody started, and a server that nobody has, are not found', async () => {
    const { caller } = await startRun();
    expect((await caller.get('/projects/storefront/test_access/none')).status).toBe(404);
    expect((await caller.post('/projects/storefront/servers/none/test_access')).status).toBe(404);
    expect((await caller.post('/projects/none/test_access')).status).toBe(404);
  });
});

describe('a run that was asked for', () => {
  const RUNS = { account: 'acme', project: 'storefront' };

  async function startOdd(outcome: object) {
    const bench = await startBench();
    const { member } = addAcme(bench);
    bench.service.world.setRunOutcome({ ...RUNS, ...outcome });
    const caller = bench.unchecked('acme', member);
    const { body } = await caller.post('/projects/storefront/test_access');
    const look = async () => (await caller.get(`/projects/storefront/test_access/${body.identifier}`)).body;
    return { ...bench, run: body, look };
  }

  test('with its repository alone out of reach has all servers well', async () => {
    const { look, service } = await startOdd({ results: 'repository_unreachable' });
    service.world.setOutcome({ ...RUNS, server: 'web-1', status: 'error' });
    service.clock.advance(LONG_ENOUGH);
    const { status, results } = await look();
    expect(status).toBe('completed');
    expect(results.repository).toMatchObject({ status: 'error', message: expect.any(String) });
    expect(results.servers).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
  });

  test('without any result is completed all the same', async () => {
    const { look, service } = await startOdd({ results: 'none' });
    service.clock.advance(LONG_ENOUGH);
    const ended = await look();
    expect(ended).toMatchObject({ status: 'completed', completed_at: expect.any(String) });
    expect(ended).not.toHaveProperty('results');
  });

  test('to end in a word that is in no document has its time of completion', async () => {
    const { look, service } = await startOdd({ status: 'finished' });
    service.clock.advance(LONG_ENOUGH);
    expect(await look()).toMatchObject({ status: 'finished', completed_at: expect.any(String) });
  });

  test('to take five minutes says so by its two times, whatever it really took', async () => {
    const { look, service } = await startOdd({ tookMs: 300_000 });
    service.clock.advance(LONG_ENOUGH);
    const { created_at: from, completed_at: to } = await look();
    expect(Date.parse(to) - Date.parse(from)).toBe(300_000);
    expect(Date.parse(to)).toBeLessThanOrEqual(service.clock.now());
  });

  test('with words of its own goes through them, each for its part of the time', async () => {
    const { run, look, service } = await startOdd({
      words: ['pending', 'queued', 'running'],
      durationMs: 3_000,
    });
    const words = [run.status];
    for (let second = 0; second < 3; second += 1) {
      service.clock.advance(second === 0 ? 500 : 1_000);
      words.push((await look()).status);
    }
    service.clock.advance(1_000);
    words.push((await look()).status);
    expect(words).toEqual(['pending', 'pending', 'queued', 'running', 'completed']);
  });
});

test('ends by itself while real time passes', async () => {
  const bench = await startBench({ speed: 1_000 });
  const { member } = addAcme(bench);
  const caller = bench.as('acme', member);
  const { body } = await caller.post('/projects/storefront/test_access');
  await expect
    .poll(async () => (await caller.get(`/projects/storefront/test_access/${body.identifier}`)).body.status)
    .toBe('completed');
});
