import { describe, expect, onTestFinished, test } from 'vitest';
import type { Engine } from '../../src/jobs/jobs.ts';
import { collect, ENGINES, ONCE, type Site, started, type TestData, untilAborted } from './fixtures.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

describe.each(ENGINES)('the $name engine', ({ site: open }) => {
  test('runs a job once, with its data, also one that was sent before the start', async () => {
    const site = await open();
    const handled = collect();
    const { engine } = await site.engine();
    await engine.send('q', { workspace: 'T1', n: 1 });
    engine.work('q', handled.handler, ONCE);
    await engine.start();
    onTestFinished(() => engine.stop(0));
    await engine.send('q', { workspace: 'T1', n: 2 });
    await handled.given(2);
    await site.advance(25 * SECOND);

    const seen = handled.jobs.map(({ data, attempt, key }) => ({ data, attempt, key }));
    expect(seen.sort((a, b) => a.data.n - b.data.n)).toEqual([
      { data: { workspace: 'T1', n: 1 }, attempt: 1, key: undefined },
      { data: { workspace: 'T1', n: 2 }, attempt: 1, key: undefined },
    ]);
    expect((await engine.stats()).queues.q).toEqual({ waiting: 0, running: 0, oldestDueMs: 0 });
  });

  test('takes a key once while its job waits or runs, and again after', async () => {
    const site = await open();
    const release = Promise.withResolvers<void>();
    const handled = collect(() => release.promise);
    const { engine } = await started(site, (e) => e.work('q', handled.handler, ONCE));
    const send = (startAfter?: number): Promise<boolean> =>
      engine.send('q', { workspace: 'T1', n: 1 }, { key: 'k', ...(startAfter ? { startAfter } : {}) });

    const atOnce = await Promise.all([send(), send(), send()]);
    expect(atOnce.filter(Boolean)).toHaveLength(1);
    await handled.given(1);
    expect(await send()).toBe(false);
    expect(await engine.send('other', { workspace: 'T1', n: 1 }, { key: 'k' })).toBe(true);

    release.resolve();
    await idle(engine, site);
    expect(await send(site.now() + 10 * SECOND)).toBe(true);
    expect(await send()).toBe(false);
    await site.advance(15 * SECOND);
    await handled.given(2);
    expect(handled.jobs[1]?.key).toBe('T1 k');
  });

  test('keeps a key taken for as long after the end of its job as the queue wants, whatever dies meanwhile', async () => {
    const site = await open();
    const options = { ...ONCE, attempts: 1, keyStaysMs: 30 * SECOND };
    const handled = collect(async ({ data }) => {
      if (data.n === 2) throw new Error('this one is dead');
    });
    const first = await started(site, (e) => e.work('q', handled.handler, options));
    const send = (engine: Engine, n: number): Promise<boolean> =>
      engine.send('q', { workspace: 'T1', n }, { key: `k${n}` });

    // One after the other, because two that are sent together may begin in either order.
    expect(await send(first.engine, 1)).toBe(true);
    await handled.given(1);
    expect(await send(first.engine, 2)).toBe(true);
    await handled.given(2);
    await idle(first.engine, site, 2);
    await first.kill();
    const { engine } = await started(site, (e) => e.work('q', handled.handler, options));
    await site.advance(20 * SECOND);
    expect([await send(engine, 1), await send(engine, 2), await send(engine, 3)]).toEqual([
      false,
      false,
      true,
    ]);
    await handled.given(3);

    for (let tries = 0; tries < 60 && !(await send(engine, 1)); tries += 1) await site.advance(SECOND);
    await handled.given(4);
    expect(handled.jobs.map(({ data, attempt }) => [data.n, attempt])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [1, 1],
    ]);
  });

  test('starts a job no earlier than asked', async () => {
    const site = await open();
    const startedAt: number[] = [];
    const handled = collect(async () => void startedAt.push(site.now()));
    const { engine } = await started(site, (e) => e.work('q', handled.handler, ONCE));
    const due = site.now() + 20 * SECOND;
    await engine.send('q', { workspace: 'T1', n: 1 }, { startAfter: due });

    await site.advance(19 * SECOND);
    expect(handled.jobs).toHaveLength(0);
    expect((await engine.stats()).queues.q?.waiting).toBe(1);
    await site.advance(5 * SECOND);
    await handled.given(1);
    expect(startedAt[0]).toBeGreaterThanOrEqual(due);
  });

  test('starts a job in time, though one that is due later was sent before', async () => {
    const site = await open();
    const handled = collect();
    const { engine } = await started(site, (e) => e.work('q', handled.handler, ONCE));
    for (const [n, seconds] of [50, 10, 30].entries()) {
      const startAfter = site.now() + seconds * SECOND;
      await engine.send('q', { workspace: 'T1', n }, { startAfter });
    }

    for (const [count, n] of [1, 2, 0].entries()) {
      await site.advance((count === 0 ? 15 : 20) * SECOND);
      await handled.given(count + 1);
      expect(handled.jobs[count]?.data.n).toBe(n);
    }
  });

  test('runs no more at once than the concurrency, and all in the end', async () => {
    const site = await open();
    let running = 0;
    let most = 0;
    const full = Promise.withResolvers<void>();
    const handled = collect(async () => {
      running += 1;
      most = Math.max(most, running);
      if (running === 3) full.resolve();
      await full.promise;
      await new Promise(setImmediate);
      running -= 1;
    });
    const { engine } = await started(site, (e) => e.work('q', handled.handler, { ...ONCE, concurrency: 3 }));
    await Promise.all(Array.from({ length: 20 }, (_, n) => engine.send('q', { workspace: `T${n % 4}`, n })));
    await idle(engine, site);

    expect(most).toBe(3);
    expect(handled.jobs.map((job) => job.data.n).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n),
    );
  });

  test('tries a failed job again, later each time, then reports it dead once', async () => {
    const site = await open();
    const startedAt: number[] = [];
    const dead: Array<{ data: TestData; error: unknown }> = [];
    const handled = collect(async (job) => {
      startedAt.push(site.now());
      throw new Error(`attempt ${job.attempt} failed`);
    });
    const { engine } = await started(site, (e) =>
      e.work('q', handled.handler, {
        ...ONCE,
        onDeadLetter: async (data, error) => void dead.push({ data, error }),
      }),
    );
    await engine.send('q', { workspace: 'T1', n: 1 }, { key: 'k' });
    await idle(engine, site);

    expect(handled.jobs.map((job) => job.attempt)).toEqual([1, 2, 3]);
    const [first = 0, second = 0, third = 0] = startedAt;
    expect(second - first).toBeGreaterThanOrEqual(750);
    expect(third - second).toBeGreaterThanOrEqual(1_500);
    expect(dead).toEqual([
      { data: { workspace: 'T1', n: 1 }, error: expect.objectContaining({ message: 'attempt 3 failed' }) },
    ]);
    expect(await engine.send('q', { workspace: 'T1', n: 2 }, { key: 'k' })).toBe(true);
  });

  test('goes on from what was saved after a kill, though it was killed more often than it may fail', async () => {
    const site = await open();
    const kills = 4;
    for (let life = 1; life <= kills; life += 1) {
      const saved = Promise.withResolvers<void>();
      const handled = collect(async (job) => {
        await job.save({ ...job.data, n: job.data.n + 1 });
        saved.resolve();
        await untilAborted(job);
      });
      const replica = await started(site, (e) => e.work('q', handled.handler, ONCE));
      if (life === 1) await replica.engine.send('q', { workspace: 'T1', n: 0 }, { key: 'k' });
      await takenOver(site, saved.promise);
      expect(handled.jobs[0]).toMatchObject({ key: 'T1 k', attempt: life });
      await replica.kill();
    }

    const end = Promise.withResolvers<void>();
    const handled = collect(() => end.promise);
    const { engine } = await started(site, (e) => e.work('q', handled.handler, ONCE));
    expect(await engine.send('q', { workspace: 'T1', n: 0 }, { key: 'k' })).toBe(false);
    end.resolve();
    await takenOver(site, handled.given(1));
    expect(handled.jobs[0]).toMatchObject({ attempt: kills + 1, data: { workspace: 'T1', n: kills } });
  });

  test('hands back at a stop what does not end in time, and that counts as no attempt', async () => {
    const site = await open();
    const aborted: unknown[] = [];
    const handled = collect(async (job) => {
      await job.save({ ...job.data, n: 7 });
      await untilAborted(job).catch((error) => {
        aborted.push(error);
        throw error;
      });
    });
    const first = await started(site, (e) => e.work('q', handled.handler, ONCE));
    await first.engine.send('q', { workspace: 'T1', n: 1 }, { key: 'k' });
    await handled.given(1);
    await first.engine.stop(0);
    expect(aborted).toEqual([expect.objectContaining({ code: 'job_aborted', reason: 'draining' })]);
    await expect(first.engine.ping()).rejects.toThrow();
    await first.kill();

    const again = collect();
    await started(site, (e) => e.work('q', again.handler, ONCE));
    await takenOver(site, again.given(1));
    expect(again.jobs[0]).toMatchObject({ attempt: 1, key: 'T1 k', data: { workspace: 'T1', n: 7 } });
  });

  test('hands back at once at a stop what may be stopped at any time, and waits for the rest', async () => {
    const site = await open();
    const release = Promise.withResolvers<void>();
    const rest = collect(() => release.promise);
    const handled = collect(async (job) => {
      if (job.data.n === 1) await job.save({ ...job.data, n: 2 });
      // Frees the other job: nothing here would end by itself, and no time passes.
      await untilAborted(job).finally(release.resolve);
    });
    const first = await started(site, (e) => {
      e.work('q', handled.handler, { ...ONCE, resumable: true });
      e.work('rest', rest.handler, ONCE);
    });
    await first.engine.send('rest', { workspace: 'T1', n: 1 });
    await first.engine.send('q', { workspace: 'T1', n: 1 }, { key: 'k' });
    await Promise.all([handled.given(1), rest.given(1)]);

    await first.engine.stop(10 * SECOND);
    expect(rest.jobs[0]?.signal.aborted).toBe(false);
    await first.kill();

    const again = collect();
    await started(site, (e) => e.work('q', again.handler, ONCE));
    await takenOver(site, again.given(1));
    expect(again.jobs[0]).toMatchObject({ attempt: 1, key: 'T1 k', data: { workspace: 'T1', n: 2 } });
  });

  test('waits at a stop for what ends in time', async () => {
    const site = await open();
    const release = Promise.withResolvers<void>();
    const handled = collect(() => release.promise);
    const { engine } = await started(site, (e) => e.work('q', handled.handler, ONCE));
    await engine.send('q', { workspace: 'T1', n: 1 });
    await handled.given(1);

    const stopped = engine.stop(10 * SECOND);
    release.resolve();
    await stopped;

    expect(handled.jobs[0]?.signal.aborted).toBe(false);
    expect((await engine.stats()).queues.q).toMatchObject({ waiting: 0, running: 0 });
  });

  test('erases the jobs and schedules of one workspace, running ones too', async () => {
    const site = await open('2026-03-02T09:00:40Z');
    const aborted: unknown[] = [];
    const handled = collect(async (job) => {
      if (job.data.slotAt !== undefined) return;
      await untilAborted(job).catch(async (error) => {
        aborted.push(error);
        await job.save(job.data).catch(() => aborted.push('not saved'));
        throw error;
      });
    });
    const { engine, kill } = await started(site, (e) => e.work('q', handled.handler, ONCE));
    for (const workspace of ['T1', 'T2']) {
      await engine.send('q', { workspace, n: 1 }, { key: `running ${workspace}` });
      await engine.send('q', { workspace, n: 2 }, { key: workspace, startAfter: site.now() + 20 * SECOND });
      const data = { workspace, n: 3 };
      await engine.schedule(workspace, 'daily', { cron: '1 9 * * *', zone: 'UTC', queue: 'q', data });
    }
    await handled.given(2);

    await engine.erase('T1');
    await site.advance(2 * SECOND);
    expect(aborted).toEqual([
      expect.objectContaining({ code: 'job_aborted', reason: 'erased' }),
      'not saved',
    ]);
    expect(
      await engine.send('q', { workspace: 'T1', n: 4 }, { key: 'T1', startAfter: site.now() + 9 * MINUTE }),
    ).toBe(true);
    await engine.erase('T1');
    await site.advance(30 * SECOND);
    await handled.given(4);
    expect(handled.jobs.slice(2).map((job) => job.data.workspace)).toEqual(['T2', 'T2']);

    await kill();
    const later = collect(untilAborted);
    await started(site, (e) => e.work('q', later.handler, ONCE));
    await takenOver(site, later.given(2));
    await site.advance(25 * SECOND);
    expect(later.jobs.map((job) => job.data.workspace)).toEqual(['T2', 'T2']);
  });

  test('answers a ping only while it can run jobs', async () => {
    const site = await open();
    const { engine } = await site.engine();
    await expect(engine.ping()).rejects.toThrow();
    await engine.start();
    await engine.ping();
    await engine.stop(0);
    await expect(engine.ping()).rejects.toThrow();
  });

  test('counts what waits, what runs, and how long the oldest has been due', async () => {
    const site = await open();
    const release = Promise.withResolvers<void>();
    const handled = collect(() => release.promise);
    const { engine } = await started(site, (e) => e.work('q', handled.handler, { ...ONCE, concurrency: 1 }));
    for (const n of [1, 2, 3]) await engine.send('q', { workspace: 'T1', n });
    await engine.send('q', { workspace: 'T1', n: 4 }, { startAfter: site.now() + MINUTE });
    await handled.given(1);
    await site.advance(5 * SECOND);

    const { waiting, running, oldestDueMs } = (await engine.stats()).queues.q ?? { oldestDueMs: 0 };
    expect({ waiting, running }).toEqual({ waiting: 3, running: 1 });
    expect(oldestDueMs).toBeGreaterThanOrEqual(5 * SECOND);
    release.resolve();
  });
});

/** Lets time pass until nothing runs, and nothing waits but keys that stay taken. */
async function idle(engine: Engine, site: Site, kept = 0): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const { queues } = await engine.stats();
    if (
      Object.entries(queues).every(
        ([name, { waiting, running }]) => name !== 'q' || (waiting === kept && running === 0),
      )
    )
      return;
    await site.advance(100);
  }
  throw new Error('the engine did not come to rest');
}

/** Lets time pass until another engine has taken over from a killed one: at most 30 s. */
async function takenOver(site: Site, event: Promise<void>): Promise<void> {
  let isOver = false;
  void event.then(() => {
    isOver = true;
  });
  for (let passed = 0; passed <= 30 * SECOND; passed += SECOND) {
    await new Promise(setImmediate);
    if (isOver) return;
    await site.advance(SECOND);
  }
  await new Promise(setImmediate);
  if (!isOver) throw new Error('not taken over within 30 s');
}
