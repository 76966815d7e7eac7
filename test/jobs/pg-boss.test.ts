import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { Engine } from '../../src/jobs/jobs.ts';
import { createPostgresEngine } from '../../src/jobs/pg-boss-jobs.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { freshDatabase } from '../support/postgres.ts';
import { collect, ONCE, type TestData, untilAborted } from './fixtures.ts';

async function replica(url: string, prepare: (engine: Engine) => void): Promise<Engine> {
  const engine = createPostgresEngine({ url, clock: systemClock });
  prepare(engine);
  await engine.start();
  onTestFinished(async () => {
    await engine.stop(0);
    await engine.close();
  });
  return engine;
}

async function sql(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows;
}

test('a job that another replica took over is stopped, and its outcome changes nothing', async () => {
  const url = await freshDatabase();
  const reasons: unknown[] = [];
  const goOn = Promise.withResolvers<void>();
  const handled = collect(async (job) => {
    await goOn.promise;
    await job.save({ ...job.data, n: 99 }).catch((error) => reasons.push(error));
    await untilAborted(job);
  });
  const engine = await replica(url, (e) => e.work('q', handled.handler, ONCE));
  await engine.send<TestData>('q', { workspace: 'T1', n: 1 });
  await handled.given(1);

  await sql(url, "UPDATE pgboss.job SET retry_count = retry_count + 1 WHERE name = 'q'");
  goOn.resolve();
  await expect.poll(() => handled.jobs[0]?.signal.aborted).toBe(true);
  await engine.stop(0);

  expect(reasons).toEqual([expect.objectContaining({ code: 'job_aborted', reason: 'lease lost' })]);
  const [row] = await sql(url, "SELECT state, data->>'payload' AS payload FROM pgboss.job WHERE name = 'q'");
  expect(row).toEqual({ state: 'active', payload: '{"workspace":"T1","n":1}' });
});

test('several replicas run each of many jobs once', async () => {
  const url = await freshDatabase();
  const handled = collect();
  const work = (engine: Engine): void => engine.work('q', handled.handler, { ...ONCE, concurrency: 5 });
  const [a, b] = await Promise.all([replica(url, work), replica(url, work), replica(url, work)]);
  await Promise.all(
    Array.from({ length: 60 }, (_, n) => (n % 2 ? a : b).send<TestData>('q', { workspace: 'T1', n })),
  );
  await handled.given(60);
  await expect.poll(async () => (await a.stats()).queues.q?.running).toBe(0);

  expect(handled.jobs.map((job) => job.data.n).sort((x, y) => x - y)).toEqual(
    Array.from({ length: 60 }, (_, n) => n),
  );
});

test('nothing of a job stays in the database once it is done, and any text may stand in its data', async () => {
  const url = await freshDatabase();
  const texts = ['\0', '\ud800', 'a\u2028b', '“é” \u{1f600}'];
  const handled = collect();
  const engine = await replica(url, (e) => e.work('q', handled.handler, ONCE));
  for (const [n, text] of texts.entries()) await engine.send('q', { workspace: 'T1', n, text });
  await handled.given(texts.length);
  await expect.poll(() => sql(url, "SELECT 1 FROM pgboss.job WHERE name = 'q'")).toEqual([]);

  expect(handled.jobs.map((job) => job.data.text).sort()).toEqual(texts.toSorted());
});

test('the engine goes on after its connections were cut', async () => {
  const url = await freshDatabase();
  const handled = collect();
  const engine = await replica(url, (e) => e.work('q', handled.handler, ONCE));
  await sql(
    url,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'deckhand engine' AND datname = current_database()",
  );

  await expect
    .poll(() => engine.send<TestData>('q', { workspace: 'T1', n: 1 }, { key: 'k' }).catch(() => 'failed'))
    .toBe(true);
  await handled.given(1);
});

test('running jobs are stopped when the database stays away for longer than others wait', async () => {
  const url = await freshDatabase();
  const clock = createManualClock();
  const handled = collect(untilAborted);
  const engine = createPostgresEngine({ url, clock });
  onTestFinished(() => engine.close());
  engine.work('q', handled.handler, ONCE);
  await engine.start();
  await engine.send<TestData>('q', { workspace: 'T1', n: 1 });
  await handled.given(1);
  for (let beats = 0; beats < 4; beats += 1) {
    const [before] = await sql(url, "SELECT heartbeat_on FROM pgboss.job WHERE name = 'q'");
    await clock.advance(5_500);
    await expect
      .poll(() => sql(url, "SELECT heartbeat_on FROM pgboss.job WHERE name = 'q'"))
      .not.toEqual([before]);
  }
  expect(handled.jobs[0]?.signal.aborted).toBe(false);

  await sql(url, 'ALTER SCHEMA pgboss RENAME TO away');
  const stoppedAfter = clock.now();
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return handled.jobs[0]?.signal.reason;
    })
    .toMatchObject({ reason: 'lease lost' });
  expect(clock.now() - stoppedAfter).toBeGreaterThanOrEqual(10_000);
});

test('a replica whose clock is an hour ahead lets nobody wait for that hour', async () => {
  const url = await freshDatabase();
  const handled = collect();
  const clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };
  const wrong = createPostgresEngine({ url, clock });
  onTestFinished(() => wrong.close());
  const sent = Date.now();
  await wrong.send<TestData>('q', { workspace: 'T1', n: 1 }, { startAfter: clock.now() + 1_500 });
  await replica(url, (engine) => engine.work('q', handled.handler, ONCE));
  await handled.given(1);
  expect(Date.now() - sent).toBeGreaterThanOrEqual(1_500);
});
