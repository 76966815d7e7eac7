import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/time/clock.ts';
import type { Engine } from '../../src/jobs/jobs.ts';
import { createPgBossJobs, LEASE } from '../../src/jobs/pg-boss-jobs.ts';
import { createJobs } from '../../src/jobs/runner.ts';
import { openDatabaseProxy } from '../support/database-proxy.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { emptyDatabase, freshDatabase } from '../support/postgres.ts';
import { collect, ONCE, Q, send, untilAborted } from './fixtures.ts';

function createReplica(url: string, clock: Clock): Engine {
  const backend = createPgBossJobs({ url, clock });
  const engine = createJobs({ backend, clock });
  onTestFinished(async () => {
    await engine.stop(0);
    await backend.close();
  });
  return engine;
}

async function replica(url: string, prepare: (engine: Engine) => void, clock = systemClock): Promise<Engine> {
  const engine = createReplica(url, clock);
  prepare(engine);
  await engine.start();
  return engine;
}

async function sql(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows;
}

test('several replicas that start at once on an empty database run each of many jobs once', async () => {
  const url = await emptyDatabase();
  const handled = collect();
  const work = (engine: Engine): void =>
    engine.work(Q, { handle: handled.handle, options: { ...ONCE, concurrency: 5 } });
  const [a, b] = await Promise.all([replica(url, work), replica(url, work), replica(url, work)]);
  await Promise.all(Array.from({ length: 60 }, (_, n) => send(n % 2 ? a : b, n)));
  await handled.given(60);
  await expect.poll(async () => (await a.stats()).q?.running).toBe(0);

  expect(handled.jobs.map((job) => job.data.n).sort((x, y) => x - y)).toEqual([...Array(60).keys()]);
});

test('counts for a scrape, and jobs that cannot be read, are looked for without loading those that have ended', async () => {
  const proxy = await openDatabaseProxy(await freshDatabase());
  const handled = collect();
  const options = { ...ONCE, keyStaysMs: 3_600_000 };
  const engine = await replica(proxy.url, (e) => e.work(Q, { handle: handled.handle, options }));
  await send(engine, 1, { key: 'k' });
  await handled.given(1);
  await expect.poll(async () => (await engine.stats()).q?.running).toBe(0);
  await sql(
    proxy.url,
    `INSERT INTO pgboss.job (name, data, state, completed_on, singleton_key)
      SELECT name, data, state, completed_on, 'key T1 ' || n FROM pgboss.job, generate_series(1, 20000) n WHERE name = 'q'`,
  );
  const before = proxy.sentBytes;
  expect((await engine.stats()).q).toEqual({ waiting: 0, later: 0, running: 0, oldestDueMs: 0 });
  expect(await engine.unreadable('T1')).toEqual([]);
  // Beside these, the engine looks for jobs.
  expect(proxy.sentBytes - before).toBeLessThan(20_000);
  onTestFinished(proxy.close);
});

test('running jobs are stopped when the database stays away for longer than others wait', async () => {
  const url = await freshDatabase();
  const clock = createManualClock();
  const handled = collect(untilAborted);
  const engine = await replica(url, (e) => e.work(Q, { handle: handled.handle, options: ONCE }), clock);
  await send(engine, 1);
  await handled.given(1);
  const beatAt = async () =>
    JSON.stringify(await sql(url, "SELECT heartbeat_on FROM pgboss.job WHERE name = 'q'"));
  for (let beats = 0; beats < 4; beats += 1) {
    const before = await beatAt();
    await clock.advance(5_500);
    await expect.poll(beatAt).not.toBe(before);
  }
  expect(handled.jobs[0]?.signal.aborted).toBe(false);

  const allow = await denyConnections(url);
  const stoppedAfter = clock.now();
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return handled.jobs[0]?.signal.reason;
    })
    .toMatchObject({ reason: 'claim over' });
  expect(clock.now() - stoppedAfter).toBeGreaterThanOrEqual(10_000);
  await allow();
});

test('a replica that slept stops what it ran, also where it first shows that it is alive', async () => {
  const url = await freshDatabase();
  let asleepMs = 0;
  const sleeping: Array<{ ms: number; wake: () => void }> = [];
  const clock: Clock = {
    now: () => systemClock.now() + asleepMs,
    sleep: (ms) => new Promise((wake) => sleeping.push({ ms, wake })),
  };
  const handled = collect(untilAborted);
  const engine = await replica(url, (e) => e.work(Q, { handle: handled.handle, options: ONCE }), clock);
  await send(engine, 1);
  await handled.given(1);
  asleepMs = 60_000;
  sleeping.find(({ ms }) => Math.abs(ms - LEASE.touchMs) <= LEASE.touchMs / 10)?.wake();
  await expect.poll(() => handled.jobs[0]?.signal.reason).toMatchObject({ reason: 'claim over' });
  // Nobody else had taken it, so it need not wait for the end of its lease.
  await handled.given(2);
});

test('a replica claims only from queues with due jobs, and finds what another one sent', async () => {
  const url = await freshDatabase();
  const polls: Array<() => void> = [];
  const clock: Clock = {
    now: systemClock.now,
    sleep: (ms) =>
      new Promise((wake) => {
        if (Math.abs(ms - LEASE.pollMs) <= LEASE.pollMs / 10) polls.push(wake);
      }),
  };
  const backend = createPgBossJobs({ url, clock });
  const claims: string[] = [];
  const claim: typeof backend.claim = (queue, ...rest) => {
    claims.push(queue);
    return backend.claim(queue, ...rest);
  };
  const engine = createJobs({ backend: { ...backend, claim }, clock });
  onTestFinished(async () => {
    await engine.stop(0);
    await backend.close();
  });
  const handled = collect();
  const names = ['q', ...Array.from({ length: 25 }, (_, at) => `idle-${at}`)];
  for (const queue of names) engine.work({ ...Q, queue }, { handle: handled.handle, options: ONCE });
  await engine.start();
  await expect.poll(() => [...claims].sort()).toEqual([...names].sort());
  claims.length = 0;
  await send(createReplica(url, systemClock), 1);
  await send(createReplica(url, systemClock), 2, { at: systemClock.now() + 3_600_000 });
  await expect.poll(() => polls.length).toBe(1);
  polls.pop()?.();
  await handled.given(1);
  expect(new Set(claims)).toEqual(new Set(['q']));
  // The round is over when the next one waits.
  await expect.poll(() => polls.length).toBe(1);
  claims.length = 0;
  polls.pop()?.();
  await expect.poll(() => polls.length).toBe(1);
  expect(claims).toEqual([]);
});

test('a replica whose clock is an hour ahead lets no job wait for that hour', async () => {
  const url = await freshDatabase();
  const handled = collect();
  const clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };
  const sent = Date.now();
  const wrong = createReplica(url, clock);
  await send(wrong, 1, { at: clock.now() + 1_500 });
  await replica(url, (engine) => engine.work(Q, { handle: handled.handle, options: ONCE }));
  await handled.given(1);
  expect(Date.now() - sent).toBeGreaterThanOrEqual(1_500);
});

/** As if the server were away for this database: open connections end, new ones are refused. */
async function denyConnections(url: string): Promise<() => Promise<unknown>> {
  const database = new URL(url).pathname.slice(1);
  const admin = new URL(url);
  admin.pathname = '/postgres';
  const allow = async (is: boolean): Promise<unknown> =>
    sql(admin.href, `ALTER DATABASE "${database}" WITH ALLOW_CONNECTIONS ${is}`);
  await allow(false);
  await sql(
    admin.href,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`,
  );
  return () => allow(true);
}
