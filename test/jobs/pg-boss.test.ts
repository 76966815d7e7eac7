import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { Engine } from '../../src/jobs/jobs.ts';
import { inTransaction } from '../../src/jobs/pg-boss.ts';
import { createPgBossJobs } from '../../src/jobs/pg-boss-jobs.ts';
import { createJobs, type JobsOptions } from '../../src/jobs/runner.ts';
import { createLog } from '../../src/observability/log.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { emptyDatabase, freshDatabase } from '../support/postgres.ts';
import { collect, ONCE, untilAborted } from './fixtures.ts';

function createReplica(url: string, clock: Clock, log?: JobsOptions['log']): Engine {
  const backend = createPgBossJobs({ url, clock });
  const engine = createJobs({ backend, clock, ...(log === undefined ? {} : { log }) });
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

/** Another program on the same database, with nothing but what pg-boss offers to all. */
async function openBoss(url: string): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
  boss.on('error', () => undefined);
  await boss.start();
  onTestFinished(() => boss.stop({ graceful: false }));
  return boss;
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
  const saved = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const handled = collect(async (job) => {
    await job.save({ ...job.data, n: 2 });
    saved.resolve();
    await goOn.promise;
    await job.save({ ...job.data, n: 99 }).catch((error) => reasons.push(error));
    await untilAborted(job);
  });
  const engine = await replica(url, (e) => e.work('q', handled.handler, ONCE));
  await engine.send('q', { workspace: 'T1', n: 1 });
  await saved.promise;

  const boss = await openBoss(url);
  const id = handled.jobs[0]?.id ?? '';
  // In one transaction, so that the engine does not come between the two.
  const taken = await inTransaction(boss, async (db) => {
    await boss.fail('q', id, null, { db });
    return boss.fetch('q', { db });
  });
  expect(taken).toEqual([expect.objectContaining({ id, retryCount: 1 })]);
  goOn.resolve();
  await expect.poll(() => handled.jobs[0]?.signal.aborted).toBe(true);
  await engine.stop(0);

  expect(reasons).toEqual([expect.objectContaining({ code: 'job_aborted', reason: 'lease lost' })]);
  expect(await boss.findJobs('q')).toEqual([expect.objectContaining({ id, state: 'active', retryCount: 1 })]);
  await boss.fail('q', id);
  const next = collect();
  await replica(url, (e) => e.work('q', next.handler, ONCE));
  await next.given(1);
  expect(next.jobs[0]).toMatchObject({ attempt: 3, data: { workspace: 'T1', n: 2 } });
});

test('several replicas that start at once on an empty database run each of many jobs once', async () => {
  const url = await emptyDatabase();
  const handled = collect();
  const work = (engine: Engine): void => engine.work('q', handled.handler, { ...ONCE, concurrency: 5 });
  const [a, b] = await Promise.all([replica(url, work), replica(url, work), replica(url, work)]);
  await Promise.all(Array.from({ length: 60 }, (_, n) => (n % 2 ? a : b).send('q', { workspace: 'T1', n })));
  await handled.given(60);
  await expect.poll(async () => (await a.stats()).queues.q?.running).toBe(0);

  expect(handled.jobs.map((job) => job.data.n).sort((x, y) => x - y)).toEqual(
    Array.from({ length: 60 }, (_, n) => n),
  );
});

test('nothing of a job stays in the database once it is done, and any text may stand in its data', async () => {
  const url = await freshDatabase();
  const texts = ['\0', '\ud800', 'a\u2028b', '“é” \u{1f600}'];
  const handled = collect((job) => job.save({ ...job.data, n: -1 }));
  const engine = await replica(url, (e) => e.work('q', handled.handler, ONCE));
  for (const [n, text] of texts.entries()) await engine.send('q', { workspace: 'T1', n, text });
  await handled.given(texts.length);
  const boss = await openBoss(url);
  await expect.poll(() => boss.findJobs('q')).toEqual([]);
  expect(await sql(url, 'SELECT * FROM deckhand_job_states')).toEqual([]);

  expect(handled.jobs.map((job) => job.data.text).sort()).toEqual(texts.toSorted());
});

test('a key that Postgres refuses fails its sender alone', async () => {
  const url = await freshDatabase();
  const engine = await replica(url, () => undefined);
  const keys = ['a', 'b\0', 'c\ud800', 'd'];
  const sent = await Promise.allSettled(
    keys.map((key) => engine.send('q', { workspace: 'T1', n: 1 }, { key })),
  );

  expect(sent.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
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
    .poll(() => engine.send('q', { workspace: 'T1', n: 1 }, { key: 'k' }).catch(() => 'failed'))
    .toBe(true);
  await handled.given(1);
});

test('a database that fails for many queues is one line of the log in a second for each cause', async () => {
  const url = await freshDatabase();
  const clock = createManualClock();
  const causes: string[] = [];
  const log = createLog('error', (line) => causes.push(JSON.parse(line).err.message));
  const engine = createReplica(url, clock, log);
  const queues = Array.from({ length: 10 }, (_, at) => `q${at}`);
  for (const queue of queues) engine.work(queue, async () => undefined, ONCE);
  for (const queue of queues) await engine.send(queue, { workspace: 'T1', n: 1 });
  await sql(
    url,
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION '%', CASE WHEN NEW.name ~ '[02468]$' THEN 'even' ELSE 'odd' END; END $$;
     CREATE TRIGGER refuse BEFORE UPDATE ON pgboss.job_common FOR EACH ROW EXECUTE FUNCTION refuse()`,
  );
  await engine.start();
  let seconds = 0;
  const causesOneSecondLater = async (): Promise<number> => {
    seconds += 1;
    await clock.advance(1_000);
    return causes.length;
  };
  await expect.poll(causesOneSecondLater).toBeGreaterThan(8);
  for (const cause of ['even', 'odd'])
    expect(causes.filter((one) => one === cause).length).toBeLessThanOrEqual(seconds + 1);
});

test('running jobs are stopped when the database stays away for longer than others wait', async () => {
  const url = await freshDatabase();
  const clock = createManualClock();
  const handled = collect(untilAborted);
  const engine = await replica(url, (e) => e.work('q', handled.handler, ONCE), clock);
  await engine.send('q', { workspace: 'T1', n: 1 });
  await handled.given(1);
  const boss = await openBoss(url);
  const beatAt = async (): Promise<unknown> => (await boss.findJobs('q'))[0]?.heartbeatOn?.getTime();
  for (let beats = 0; beats < 4; beats += 1) {
    const before = await beatAt();
    await clock.advance(5_500);
    await expect.poll(beatAt).not.toBe(before);
  }
  expect(handled.jobs[0]?.signal.aborted).toBe(false);

  const { allow } = await denyConnections(url);
  const stoppedAfter = clock.now();
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return handled.jobs[0]?.signal.reason;
    })
    .toMatchObject({ reason: 'lease lost' });
  expect(clock.now() - stoppedAfter).toBeGreaterThanOrEqual(10_000);
  await allow();
});

test('a replica whose clock is an hour ahead lets no job wait for that hour', async () => {
  const url = await freshDatabase();
  const handled = collect();
  const clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };
  const sent = Date.now();
  const wrong = createReplica(url, clock);
  await wrong.send('q', { workspace: 'T1', n: 1 }, { startAfter: clock.now() + 1_500 });
  await replica(url, (engine) => engine.work('q', handled.handler, ONCE));
  await handled.given(1);
  expect(Date.now() - sent).toBeGreaterThanOrEqual(1_500);
});

/** As if the server were away for this database: open connections end, new ones are refused. */
async function denyConnections(url: string): Promise<{ allow: () => Promise<void> }> {
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
  return { allow: async () => void (await allow(true)) };
}

test('a replica that starts while another one makes the tables waits for it', async () => {
  const url = await emptyDatabase();
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('deckhand jobs', 0))");
  let isReady = false;
  const starting = replica(url, () => undefined).then(() => {
    isReady = true;
  });
  const WAITING =
    "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

  await expect.poll(() => isReady || sql(url, WAITING)).toHaveLength(1);
  await other.query('COMMIT');
  await starting;
});
