import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Shares } from '../../src/core/shares.ts';
import type { Job } from '../../src/jobs/jobs.ts';
import { byLength } from '../support/length.ts';
import { collect, ENGINES, ONCE, started, type TestData, untilAborted } from './fixtures.ts';

const MANY = byLength(250, 2_000);

/** A handler that holds the jobs of T1 (in lane `slow`, or all) until the test lets them go. */
function holding(isHeld: (job: Job<TestData>) => boolean) {
  const gate = Promise.withResolvers<void>();
  onTestFinished(() => gate.resolve());
  const begun = new Map<string, number>();
  const handled = collect(async (job) => {
    const { workspace, lane = '' } = job.data;
    begun.set(`${workspace} ${lane}`.trim(), (begun.get(`${workspace} ${lane}`.trim()) ?? 0) + 1);
    if (isHeld(job)) await gate.promise;
  });
  return { handled, begun, letGo: gate.resolve };
}

/** Resolves when a job of that number has begun. */
async function began({ jobs, given }: ReturnType<typeof collect>, n: number): Promise<void> {
  while (!jobs.some(({ data }) => data.n === n)) await given(jobs.length + 1);
}

describe.each(ENGINES)('beside a slow workspace, on $name', ({ site: open, replicas }) => {
  test.for(replicas ? [1, 3] : [1])('%i replicas begin the job of another at once', async (count) => {
    const site = await open();
    const { handled, begun, letGo } = holding(({ data }) => data.workspace === 'T1');
    const all = [];
    for (let n = 0; n < count; n += 1)
      all.push(await started(site, (e) => e.work('q', handled.handler, { ...ONCE, concurrency: 20 })));
    const [{ engine }] = all as [(typeof all)[0]];
    await Promise.all(Array.from({ length: MANY }, (_, n) => engine.send('q', { workspace: 'T1', n })));
    await handled.given(10);

    await engine.send('q', { workspace: 'T2', n: 10_000 });
    await site.advance(3_000);
    await began(handled, 10_000);
    expect(begun.get('T1')).toBeLessThanOrEqual(10 * count);

    letGo();
    await site.advance(3_000);
    await handled.given(MANY + 1);
    expect(new Set(handled.jobs.map(({ data }) => data.n)).size).toBe(MANY + 1);
  });

  test('a channel of the same workspace has its own share', async () => {
    const site = await open();
    const { handled, begun, letGo } = holding(({ data }) => data.lane === 'C1');
    const { engine } = await started(site, (e) => e.work('q', handled.handler, { ...ONCE, concurrency: 80 }));
    await Promise.all(
      Array.from({ length: 250 }, (_, n) => engine.send('q', { workspace: 'T1', n }, { lane: 'C1' })),
    );
    await handled.given(20);

    await engine.send('q', { workspace: 'T1', n: 10_000 }, { lane: 'C2' });
    await site.advance(3_000);
    await began(handled, 10_000);
    expect(begun.get('T1 C1')).toBe(20);

    letGo();
    await site.advance(3_000);
    await handled.given(251);
  });

  test('what waits for its lane is handed back at a stop, and begins elsewhere as its first attempt', async () => {
    const site = await open();
    const handled = collect(untilAborted);
    const first = await started(site, (e) =>
      e.work('q', handled.handler, { ...ONCE, concurrency: 8, resumable: true }),
    );
    for (let n = 0; n < 12; n += 1) await first.engine.send('q', { workspace: 'T1', n }, { lane: 'C1' });
    await handled.given(2);
    const stopping = first.engine.stop(0);
    await site.advance(5_000);
    await stopping;
    await first.kill();

    const next = collect();
    await started(site, (e) => e.work('q', next.handler, { ...ONCE, concurrency: 8 }));
    await site.advance(20_000);
    await next.given(12);
    expect(next.jobs.every(({ attempt }) => attempt === 1)).toBe(true);
  });
});

test('a new job begins behind those that wait in the database already', async () => {
  const site = await ENGINES[0]?.site();
  if (site === undefined) throw new Error('there is no engine');
  const { engine } = await site.engine();
  const handled = collect();
  engine.work<TestData>('q', handled.handler, { ...ONCE, concurrency: 4 });
  const send = (n: number): Promise<boolean> => engine.send('q', { workspace: 'T1', n });
  for (let n = 0; n < 60; n += 1) await send(n);
  await engine.start();
  for (let n = 60; n < 120; n += 1) await send(n);
  await handled.given(120);
  expect(handled.jobs.map(({ data }) => data.n)).toEqual(Array.from({ length: 120 }, (_, n) => n));
});

test('workspaces that come one after the other, each as greedy as it may be, leave room for one more', () => {
  const shares = new Shares(200);
  let running = 0;
  for (let n = 0; n < 6; n += 1) {
    const turn = { workspace: `T${n}`, lane: undefined };
    expect(shares.hasRoom(turn)).toBe(true);
    for (; running < 200 && shares.hasRoom(turn); running += 1) shares.begin(turn);
    expect(running, 'what is free is there to be run').toBeLessThan(200);
    expect(shares.hasRoom({ workspace: 'new', lane: undefined })).toBe(true);
  }
});

test('a lane runs no more than twenty at once, however much room there is', () => {
  const shares = new Shares(200);
  const turn = { workspace: 'T1', lane: 'C1' };
  for (let n = 0; n < 20; n += 1) {
    expect(shares.hasRoom(turn)).toBe(true);
    shares.begin(turn);
  }
  expect(shares.hasRoom(turn)).toBe(false);
  expect(shares.hasRoom({ workspace: 'T1', lane: 'C2' })).toBe(true);
});

test('whatever runs, one more workspace has room, and in each workspace one more lane', () => {
  const turn = fc.record({
    workspace: fc.constantFrom('T1', 'T2', 'T3', 'T4'),
    lane: fc.constantFrom(undefined, 'C1', 'C2'),
  });
  fc.assert(
    fc.property(
      fc.array(turn, { maxLength: 400 }),
      fc.integer({ min: 40, max: 200 }),
      (turns, concurrency) => {
        const shares = new Shares(concurrency);
        let running = 0;
        for (const one of turns) {
          if (!shares.hasRoom(one)) continue;
          shares.begin(one);
          running += 1;
          expect(running).toBeLessThanOrEqual(concurrency);
          expect(shares.hasRoom({ workspace: 'new', lane: 'new' })).toBe(true);
        }
      },
    ),
    { numRuns: byLength(200, 5_000) },
  );
});
