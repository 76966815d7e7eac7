import { describe, expect, onTestFinished, test } from 'vitest';
import type { Engine, JobOptions, NewJob } from '../../src/jobs/jobs.ts';
import {
  collect,
  ENGINES,
  type Handled,
  ONCE,
  Q,
  type Site,
  send,
  started,
  untilAborted,
} from './fixtures.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

function work({ handle }: Handled, options: JobOptions = ONCE): (engine: Engine) => void {
  return (engine) => engine.work(Q, { handle, options });
}

describe.each(ENGINES)('the $name engine', ({ site: open }) => {
  test('runs a job once, with its data, also one that was sent before the start', async () => {
    const site = await open();
    const handled = collect();
    const { engine } = await site.engine();
    await send(engine, 1);
    work(handled)(engine);
    await engine.start();
    onTestFinished(() => engine.stop(0));
    await send(engine, 2, { key: 'k' });
    await handled.given(2);
    await site.advance(25 * SECOND);

    const seen = handled.jobs.map(({ data, attempt, key }) => ({ n: data.n, attempt, key }));
    expect(seen.sort((a, b) => a.n - b.n)).toEqual([
      { n: 1, attempt: 1, key: undefined },
      { n: 2, attempt: 1, key: 'k' },
    ]);
    expect((await engine.stats()).q).toEqual({ waiting: 0, later: 0, running: 0, oldestDueMs: 0 });
  });

  test('takes a key of a workspace once while its job waits or runs, and again after', async () => {
    const site = await open();
    const release = Promise.withResolvers<void>();
    const handled = collect(() => release.promise);
    const { engine } = await started(site, work(handled));
    const sendKeyed = (more: object = {}) => send(engine, 1, { key: 'k', ...more });

    const atOnce = await Promise.all([sendKeyed(), sendKeyed(), sendKeyed()]);
    expect(atOnce.filter(Boolean)).toHaveLength(1);
    await handled.given(1);
    expect(await sendKeyed()).toBe(false);
    expect(await engine.send('T1', { ...Q, queue: 'other' }, { n: 1 }, { key: 'k' })).toBe(true);
    expect(await send(engine, 2, { key: 'k' }, 'T2')).toBe(true);

    release.resolve();
    await idle(engine, site);
    expect(await sendKeyed({ at: site.now() + 10 * SECOND })).toBe(true);
    expect(await sendKeyed()).toBe(false);
    await site.advance(15 * SECOND);
    await handled.given(3);
  });

  test('keeps a key taken for as long after the end of its job as the queue wants, whatever dies meanwhile', async () => {
    const site = await open();
    const options = { ...ONCE, attempts: 1, keyStaysMs: 30 * SECOND };
    const handled = collect(async ({ data }) => {
      if (data.n === 2) throw new Error('this one fails for good');
    });
    const first = await started(site, work(handled, options));
    const sendKeyed = (engine: Engine, n: number): Promise<boolean> => send(engine, n, { key: `k${n}` });

    // One after the other, because two that are sent together may begin in either order.
    for (const n of [1, 2]) {
      expect(await sendKeyed(first.engine, n)).toBe(true);
      await handled.given(n);
    }
    await idle(first.engine, site);
    await first.kill();
    const { engine } = await started(site, work(handled, options));
    await site.advance(20 * SECOND);
    const isTaken: boolean[] = [];
    for (const n of [1, 2, 3]) isTaken.push(!(await sendKeyed(engine, n)));
    expect(isTaken).toEqual([true, true, false]);
    await handled.given(3);

    // pg-boss looks once a minute for what is to be deleted.
    for (let passed = 0; passed < 15 && !(await sendKeyed(engine, 1)); passed += 1)
      await site.advance(10 * SECOND);
    await handled.given(4);
    expect(handled.jobs.map(({ data, attempt }) => `${data.n} ${attempt}`).join()).toBe('1 1,2 1,3 1,1 1');
  });

  test('starts a job no earlier than asked, and in time, though one that is due later was sent before', async () => {
    const site = await open();
    const startedAt: number[] = [];
    const handled = collect(async () => void startedAt.push(site.now()));
    const { engine } = await started(site, work(handled));
    const due = [50, 10, 30].map((seconds) => site.now() + seconds * SECOND);
    for (const [n, at] of due.entries()) await send(engine, n, { at });

    await site.advance(9 * SECOND);
    expect(handled.jobs).toHaveLength(0);
    for (const [count, n] of [1, 2, 0].entries()) {
      await site.advance((count === 0 ? 6 : 20) * SECOND);
      await handled.given(count + 1);
      expect(handled.jobs[count]?.data.n).toBe(n);
      expect(startedAt[count]).toBeGreaterThanOrEqual(due[n] ?? Infinity);
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
    const { engine } = await started(site, work(handled, { ...ONCE, concurrency: 3 }));
    await Promise.all(Array.from({ length: 20 }, (_, n) => send(engine, n, {}, `T${n % 4}`)));
    await idle(engine, site);

    expect(most).toBe(3);
    expect(handled.jobs.map((job) => job.data.n).sort((a, b) => a - b)).toEqual([...Array(20).keys()]);
  });

  test('begins a job at once beside any number of slow ones of another workspace, which all begin in the end', async () => {
    const site = await open();
    const slow = Promise.withResolvers<void>();
    const handled = collect(({ data }) => (data.n === 0 ? Promise.resolve() : slow.promise));
    const { engine } = await started(site, work(handled, { ...ONCE, concurrency: 20 }));
    for (let n = 1; n <= 60; n += 1) await send(engine, n, {}, 'busy');
    await handled.given(5);
    await send(engine, 0, {}, 'other');
    await site.advance(3 * SECOND);

    expect(handled.workspaces).toContain('other');
    expect(handled.jobs.length).toBeLessThan(12);
    slow.resolve();
    await idle(engine, site);
    expect(handled.jobs).toHaveLength(61);
  });

  test('runs all sleepers of a workspace at once', async () => {
    const site = await open();
    const handled = collect(untilAborted);
    const { engine } = await started(site, work(handled, { ...ONCE, concurrency: 50, isSleeper: true }));
    for (let n = 0; n < 30; n += 1) await send(engine, n);
    await handled.given(30);
  });

  test('tries a failed job again, later each time, then reports that it failed for good, once', async () => {
    const site = await open();
    const startedAt: number[] = [];
    const failed: unknown[] = [];
    const handled = collect(async (job) => {
      startedAt.push(site.now());
      throw new Error(`attempt ${job.attempt} failed`);
    });
    const onDeadLetter = async (workspace: string, data: unknown, error: unknown) =>
      void failed.push({ workspace, data, error });
    const { engine } = await started(site, (e) =>
      e.work(Q, { handle: handled.handle, options: ONCE, onDeadLetter }),
    );
    await send(engine, 1, { key: 'k' });
    for (let tries = 0; tries < 100 && failed.length === 0; tries += 1) await site.advance(100);
    await idle(engine, site);

    expect(handled.jobs.map((job) => job.attempt)).toEqual([1, 2, 3]);
    const [first = 0, second = 0, third = 0] = startedAt;
    expect(second - first).toBeGreaterThanOrEqual(750);
    expect(third - second).toBeGreaterThanOrEqual(1_500);
    const error = expect.objectContaining({ message: 'attempt 3 failed' });
    expect(failed).toEqual([{ workspace: 'T1', data: { n: 1 }, error }]);
    expect(await send(engine, 2, { key: 'k' })).toBe(true);
  });

  test('stores the outcome of a job once the database takes it again, and runs the job once', async () => {
    const site = await open();
    const handled = collect();
    const { engine, backend } = await started(site, work(handled));
    const { finish } = backend;
    let refusals = 0;
    backend.finish = async (...outcome) => {
      refusals += 1;
      if (refusals <= 2) throw new Error('the database is away');
      await finish(...outcome);
    };
    await send(engine, 1, { key: 'k' });
    await handled.given(1);
    await idle(engine, site);
    expect(await send(engine, 2, { key: 'k' })).toBe(true);
    await handled.given(2);
    expect(handled.jobs.map(({ data, attempt }) => `${data.n} ${attempt}`)).toEqual(['1 1', '2 1']);
  });

  test('takes over what a killed process ran, more often than it may fail', async () => {
    const site = await open();
    const kills = 4;
    for (let life = 1; life <= kills; life += 1) {
      const handled = collect(untilAborted);
      const replica = await started(site, work(handled));
      if (life === 1) await send(replica.engine, 7, { key: 'k' });
      await takenOver(site, handled.given(1));
      expect(handled.jobs[0]).toMatchObject({ key: 'k', attempt: life });
      await replica.kill();
    }

    const end = Promise.withResolvers<void>();
    const handled = collect(() => end.promise);
    const { engine } = await started(site, work(handled));
    expect(await send(engine, 0, { key: 'k' })).toBe(false);
    end.resolve();
    await takenOver(site, handled.given(1));
    expect(handled.jobs[0]).toMatchObject({ attempt: kills + 1, data: { n: 7 } });
  });

  test('hands back at a stop what does not end in time, sleepers at once, and waits for the rest', async () => {
    const site = await open();
    const slow = collect(untilAborted);
    const release = Promise.withResolvers<void>();
    const quick = collect(() => release.promise);
    // Frees the other job: no time passes.
    const sleeper = collect((job) => untilAborted(job).finally(release.resolve));
    const declare = (all: Record<string, Handled>) => (engine: Engine) => {
      for (const [queue, { handle }] of Object.entries(all))
        engine.work({ ...Q, queue }, { handle, options: { ...ONCE, isSleeper: queue === 'sleeper' } });
    };
    const ends: string[] = [];
    const note = (queue: string, outcome: string) => ends.push(`${queue} ${outcome}`);
    const first = await started(site, declare({ slow, quick, sleeper }), note);
    for (const queue of ['slow', 'quick', 'sleeper'])
      await first.engine.send('T1', { ...Q, queue }, { n: 1 }, { key: 'k' });
    await Promise.all([slow, quick, sleeper].map((handled) => handled.given(1)));
    const stopped = first.engine.stop(10 * SECOND);
    await release.promise;
    await site.advance(10 * SECOND);
    await stopped;
    expect(quick.jobs[0]?.signal.aborted).toBe(false);
    expect(slow.jobs[0]?.signal.reason).toMatchObject({ code: 'job_aborted', reason: 'draining' });
    // A job that is claimed again as the stop begins is handed back once more.
    expect(new Set(ends)).toEqual(new Set(['quick done', 'sleeper handed_back', 'slow handed_back']));
    await expect(first.engine.ping()).rejects.toThrow();
    // What comes in meanwhile is for another.
    expect(await first.engine.send('T1', { ...Q, queue: 'quick' }, { n: 2 })).toBe(true);
    await first.kill();

    const again = { slow: collect(), quick: collect(), sleeper: collect() };
    await started(site, declare(again));
    await takenOver(site, Promise.all(Object.values(again).map(({ given }) => given(1))));
    expect([again.slow.jobs[0]?.key, again.sleeper.jobs[0]?.key]).toEqual(['k', 'k']);
    expect(again.quick.jobs[0]?.data).toEqual({ n: 2 });
  });

  test('does again what ends after the stop, when what it works with is closed', async () => {
    const site = await open();
    const closed = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const late = collect(() => closed.promise);
    const first = await started(site, work(late), () => ended.resolve());
    await send(first.engine, 7, { key: 'k' });
    await late.given(1);
    const stopped = first.engine.stop(0);
    await site.advance(10 * SECOND);
    await stopped;
    closed.resolve();
    await ended.promise;
    await first.kill();

    const again = collect();
    await started(site, work(again));
    await takenOver(site, again.given(1));
    expect(again.jobs[0]).toMatchObject({ key: 'k', data: { n: 7 } });
  });

  test('erases the jobs of one workspace, running ones too', async () => {
    const site = await open();
    const handled = collect(untilAborted);
    const { engine, kill } = await started(site, work(handled));
    for (const workspace of ['T1', 'T2']) {
      await send(engine, 1, { key: 'running' }, workspace);
      await send(engine, 2, { key: 'waiting', at: site.now() + 20 * SECOND }, workspace);
    }
    await handled.given(2);

    await engine.cancel('T1');
    await site.advance(2 * SECOND);
    const reasons = handled.jobs.map(({ signal }, at) => signal.aborted && handled.workspaces[at]);
    expect(reasons.filter(Boolean)).toEqual(['T1']);
    expect(await send(engine, 3, { key: 'waiting', at: site.now() + 9 * MINUTE })).toBe(true);
    await engine.cancel('T1');
    await site.advance(30 * SECOND);
    await handled.given(3);
    expect(handled.workspaces.slice(2)).toEqual(['T2']);

    await kill();
    const later = collect(untilAborted);
    await started(site, work(later));
    await takenOver(site, later.given(2));
    expect(later.workspaces).toEqual(['T2', 'T2']);
  });

  test('ends a job that cannot be read where it is, lists it, and runs the others', async () => {
    const site = await open();
    const outcomes: string[] = [];
    const handled = collect();
    const { engine, backend } = await started(site, work(handled), (_, outcome) => outcomes.push(outcome));
    for (const [n, data] of ['not JSON', '"no object"', '{"n":"many"}'].entries()) {
      const job: NewJob = { workspace: 'T1', key: `T1 k${n}`, data, delayMs: 0, traceparent: undefined };
      await backend.insert({ name: 'q' }, job);
    }
    await send(engine, 1, {}, 'T2');
    await site.advance(10 * SECOND);
    await handled.given(1);

    expect(outcomes.filter((outcome) => outcome === 'unreadable')).toHaveLength(3);
    expect((await engine.stats()).q).toMatchObject({ waiting: 0, running: 0 });
    const listed = await engine.unreadable('T1');
    expect(listed.map(({ queue }) => queue)).toEqual(['q', 'q', 'q']);
    expect(await engine.unreadable('T2')).toEqual([]);
    expect(await send(engine, 2, { key: 'k0' })).toBe(true);
    await handled.given(2);
    await engine.cancel('T1');
    expect(await engine.unreadable('T1')).toEqual([]);
  });
});

/** Lets time pass until nothing is due and nothing runs. */
async function idle(engine: Engine, site: Site): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    await new Promise(setImmediate);
    const { waiting = 0, running = 0 } = (await engine.stats()).q ?? {};
    if (waiting + running === 0) return;
    await site.advance(100);
  }
  throw new Error('the engine did not come to rest');
}

/** Lets time pass until another engine has taken over from a killed one: at most 30 s. */
async function takenOver(site: Site, event: Promise<unknown>): Promise<void> {
  let isOver = false;
  void event.then(() => {
    isOver = true;
  });
  for (let passed = 0; !isOver; passed += SECOND) {
    if (passed > 30 * SECOND) throw new Error('not taken over within 30 s');
    await site.advance(SECOND);
    await new Promise(setImmediate);
  }
}
