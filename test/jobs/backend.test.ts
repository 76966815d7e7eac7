import { StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ClaimedJob, JobsBackend, NewJob } from '../../src/jobs/jobs-backend.ts';
import { collect, ENGINES, ONCE, type Site, started, type TestData } from './fixtures.ts';

const MINUTE = 60_000;
const ANY = { full: [], busy: [] };

function job(workspace: string, n: number, changes: Partial<NewJob> = {}): NewJob {
  const data = JSON.stringify({ workspace, n } satisfies TestData);
  return { workspace, key: undefined, data, delayMs: 0, traceparent: undefined, ...changes };
}

function numbers(jobs: readonly ClaimedJob[]): number[] {
  return jobs.map(({ data }) => (JSON.parse(data) as TestData).n).sort((a, b) => a - b);
}

async function openBackend(open: () => Promise<Site>): Promise<JobsBackend> {
  const site = await open();
  const { backend } = await site.engine();
  await backend.start(['q']);
  return backend;
}

describe.each(ENGINES)('the jobs that $name keeps', ({ site: open }) => {
  test('are stored several at once, and the answer says of each whether its key was free', async () => {
    const backend = await openBackend(open);

    const stored = await backend.insert('q', [
      job('T1', 1, { key: 'a' }),
      job('T1', 2, { key: 'b' }),
      job('T1', 3, { key: 'a' }),
    ]);
    const again = await backend.insert('q', [job('T1', 4, { key: 'b' }), job('T1', 5)]);

    expect([stored, again]).toEqual([
      [true, true, false],
      [false, true],
    ]);
    expect(numbers((await backend.claim('q', 10, ANY)).jobs)).toEqual([1, 2, 5]);
  });

  test('are claimed once, those of busy workspaces after all others, and those of full ones not at all', async () => {
    const backend = await openBackend(open);
    for (const [n, workspace] of ['T1', 'T1', 'T1', 'T2', 'T4', 'T1', 'T3'].entries())
      await backend.insert('q', [job(workspace, n)]);

    expect(numbers((await backend.claim('q', 3, { full: ['T3'], busy: ['T1'] })).jobs)).toEqual([0, 3, 4]);
    expect(numbers((await backend.claim('q', 10, { full: ['T3'], busy: ['T1', 'T2'] })).jobs)).toEqual([
      1, 2, 5,
    ]);
    expect(numbers((await backend.claim('q', 10, ANY)).jobs)).toEqual([6]);
    expect((await backend.claim('q', 10, ANY)).jobs).toEqual([]);
  });

  test('are changed by the claim that stands alone', async () => {
    const backend = await openBackend(open);
    await backend.insert('q', [job('T1', 1, { key: 'k' })]);
    const [first] = (await backend.claim('q', 1, ANY)).jobs;
    if (first === undefined) throw new Error('nothing was claimed');
    await backend.release({ ...first, data: job('T1', 2).data, failures: 1 }, 0);
    const [second] = (await backend.claim('q', 1, ANY)).jobs;

    await expect(backend.save(first)).rejects.toMatchObject({ code: 'job_aborted' });
    await expect(backend.release(first, 0)).rejects.toMatchObject({ code: 'job_aborted' });
    await backend.finish(first).catch(() => undefined);
    expect(second).toMatchObject({ id: first.id, key: 'k', failures: 1, claims: 2 });
    expect(second?.data).toBe(job('T1', 2).data);
    expect((await backend.count()).q).toMatchObject({ waiting: 0, running: 1 });
    if (second !== undefined) await backend.finish(second);
    expect((await backend.count()).q ?? { waiting: 0, running: 0 }).toMatchObject({ waiting: 0, running: 0 });
    expect(await backend.insert('q', [job('T1', 3, { key: 'k' })])).toEqual([true]);
  });

  test('are set aside one by one where they cannot be read, counted, and keep no others from their turn', async () => {
    const site = await open();
    const outcomes: string[] = [];
    const handled = collect();
    const { engine, backend } = await started(
      site,
      (e) => e.work('q', handled.handler, ONCE),
      (_, outcome) => outcomes.push(outcome),
    );
    const unreadable = ['not JSON', '"no object"', '{"n":1}'].map((data, n) =>
      job('T1', n, { data, key: `T1 k${n}` }),
    );
    await backend.insert('q', unreadable);
    await engine.send('q', { workspace: 'T2', n: 1 });
    await site.advance(10_000);
    await handled.given(1);

    expect(outcomes.filter((outcome) => outcome === 'set_aside')).toHaveLength(3);
    expect((await engine.stats()).queues.q).toMatchObject({ waiting: 0, running: 0 });
    expect(await engine.send('q', { workspace: 'T1', n: 2 }, { key: 'k0' })).toBe(true);
    await handled.given(2);
  });

  test('come of every schedule but one whose zone is unknown, which stops no start', async () => {
    const site = await open('2026-03-02T09:00:45Z');
    const { backend, kill } = await site.engine();
    const every = {
      workspace: 'T1',
      cron: '* * * * *',
      queue: 'q',
      data: job('T1', 1).data,
      nextAt: site.now(),
    };
    await backend.schedules.put({ ...every, key: 'bad', zone: 'Mars/Base' });
    await backend.schedules.put({ ...every, key: 'good', zone: 'UTC' });
    await kill();

    const handled = collect();
    await started(site, (e) => e.work('q', handled.handler, ONCE));
    await handled.given(1);
    await site.advance(20_000);
    await handled.given(2);
    expect(handled.jobs.map(({ data }) => data.n)).toEqual([1, 1]);
  });
});

describe.each(ENGINES)('a due slot of the $name engine', ({ site: open, replicas }) => {
  test('is not marked done where its job cannot be stored', async () => {
    const site = await open();
    const { backend } = await site.engine();
    await backend.start(['q']);
    const data = job('T1', 1).data;
    const at = site.now();
    await backend.schedules.put({
      workspace: 'T1',
      key: 'k',
      cron: '* * * * *',
      zone: 'UTC',
      queue: 'q',
      data,
      nextAt: at,
    });
    const [schedule] = await backend.schedules.due(at, 1);
    if (schedule === undefined) throw new Error('nothing is due');
    // SQLite takes no value that is undefined, and Postgres no null character.
    const refused = replicas ? '\0' : (undefined as unknown as string);
    const unstorable = { data: refused, at };
    const advanced = backend.schedules.advance([{ schedule, nextAt: at + MINUTE, job: unstorable }]);
    await expect(advanced).rejects.toThrow();
    expect(await backend.schedules.due(at, 1)).toHaveLength(1);
    const stored = { data, at };
    await backend.schedules.advance([{ schedule, nextAt: at + MINUTE, job: stored }]);
    expect(await backend.schedules.due(at, 1)).toHaveLength(0);
    expect(numbers((await backend.claim('q', 10, ANY)).jobs)).toEqual([1]);
  });
});

test('the whole life of a job on SQLite takes three statements, and waiting for the next takes none', async () => {
  const site = await ENGINES[0]?.site();
  if (site === undefined) throw new Error('there is no engine');
  const handled = collect();
  const { engine } = await started(site, (e) => e.work('q', handled.handler, ONCE));
  await engine.send('q', { workspace: 'T1', n: 0 }, { startAfter: site.now() + 60 * MINUTE });
  await site.advance(1_000);
  const runs = (['run', 'all', 'get'] as const).map((name) => vi.spyOn(StatementSync.prototype, name));
  onTestFinished(() => void vi.restoreAllMocks());
  const statements = (): number => runs.reduce((sum, { mock }) => sum + mock.calls.length, 0);

  await engine.send('q', { workspace: 'T1', n: 1 });
  await handled.given(1);
  await site.advance(1_000);
  expect(statements()).toBe(3);
  await site.advance(30 * MINUTE);
  expect(statements()).toBe(3);
});

/** Jobs of as many workspaces that run, sixteen at once, until they are let go one by one. */
async function oneByOne(count: number) {
  const [local] = ENGINES;
  if (local === undefined) throw new Error('there is no engine');
  const running: Array<() => void> = [];
  const handled = collect(() => new Promise((resolve) => running.push(resolve)));
  const options = { ...ONCE, concurrency: 16 };
  const { engine } = await started(await local.site(), (e) => e.work('q', handled.handler, options));
  // Before the engine stops, which waits for them.
  onTestFinished(() => {
    for (const letGo of running) letGo();
  });
  const sent = Array.from({ length: count }, (_, n) => engine.send('q', { workspace: `T${n}`, n }));
  await Promise.all(sent);
  await handled.given(16);
  return { handled, letGo: () => running.shift()?.() };
}

test('while many jobs are due, a claim on SQLite takes several', async () => {
  const { handled, letGo } = await oneByOne(48);
  const claims = vi.spyOn(StatementSync.prototype, 'all');
  onTestFinished(() => void vi.restoreAllMocks());
  for (let ended = 0; ended < 32; ended += 1) {
    letGo();
    await nextTurn();
    await nextTurn();
  }
  await handled.given(48);
  expect(claims.mock.calls.length).toBeLessThanOrEqual(20);
});

test('the room of a job that ended is taken soon, also where no other ends', async () => {
  const { handled, letGo } = await oneByOne(17);
  letGo();
  await handled.given(17);
});
