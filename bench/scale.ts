import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { request } from 'undici';
import { startPostgres } from '../test/support/postgres-server.ts';
import { environment, startDeckhand } from './support/deckhand.ts';
import { cpuSeconds, type Program, residentBytes, startProgram } from './support/processes.ts';
import { seedWorkspaces } from './support/seed.ts';
import { printTable } from './support/tables.ts';

/** A line through the first two sizes predicts the third. */
const SIZES = (process.env.SIZES ?? '100,1000,10000').split(',').map(Number);
const REPLICAS = (process.env.REPLICAS ?? '1').split(',').map(Number);
const MINUTE_MS = 60_000;
const LOOK_MS = 1_000;
/** As a production server has them. Nothing waits for the disk, as in the tests. */
const SETTINGS = ['autovacuum=on', 'shared_buffers=256MB', 'shared_preload_libraries=pg_stat_statements'];
const DATABASE = 'JOIN pg_database ON pg_database.oid = dbid WHERE datname = current_database()';
const SLOWEST = `SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 60) AS query, calls, mean_exec_time AS mean
  FROM pg_stat_statements ${DATABASE} ORDER BY total_exec_time DESC LIMIT 6`;
const FIGURES = {
  statements: `SELECT sum(calls) AS value FROM pg_stat_statements ${DATABASE}`,
  'seconds within statements': `SELECT sum(total_exec_time) / 1000 AS value FROM pg_stat_statements ${DATABASE}`,
  'jobs over 5 s late': `SELECT count(*) AS value FROM pgboss.job
    WHERE state < 'active' AND start_after < now() - interval '5 s'`,
  connections: `SELECT count(*) AS value FROM pg_stat_activity WHERE application_name LIKE 'deckhand%'`,
  documents: 'SELECT count(*) AS value FROM public.keyv',
  'documents, MB': `SELECT pg_total_relation_size('public.keyv') / 1048576.0 AS value`,
  'waiting jobs': 'SELECT count(*) AS value FROM pgboss.job',
  'jobs, MB': `SELECT sum(pg_total_relation_size(oid)) / 1048576.0 AS value FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'pgboss'::regnamespace`,
};

type Figures = Readonly<Record<string, number>>;

/** A minute of many workspaces on Postgres: each has a daily digest and a watch, one in ten has a daily guard. */
export async function scale(): Promise<void> {
  const postgres = await startPostgres(SETTINGS);
  const minutes: Figures[][] = [];
  try {
    for (const size of SIZES) minutes.push(await measure(await postgres.createDatabase(), size));
  } finally {
    await postgres.stop();
  }
  for (const [at, replicas] of REPLICAS.entries()) {
    const rows = Object.keys(minutes[0]?.[at] ?? {}).map((name) => {
      const values = minutes.map((figures) => figures[at]?.[name] ?? Number.NaN);
      return [name, ...[...values, predict(values)].map((value) => value.toFixed(value < 100 ? 2 : 0))];
    });
    printTable([`${replicas} × a minute`, ...SIZES.map(String), 'the last as predicted'], rows);
  }
}

function predict([low = 0, high = 0]: readonly number[]): number {
  const [lowSize = 0, highSize = 0, size = 0] = SIZES;
  return low + ((high - low) / (highSize - lowSize)) * (size - lowSize);
}

async function measure(url: string, size: number): Promise<Figures[]> {
  const world = await startProgram('bench/peers/digest-world.ts', { DELAY_MS: '20' });
  const env = {
    ...environment(world, url),
    SLACK_BOT_TOKEN: '',
    SLACK_CLIENT_ID: 'bench',
    SLACK_CLIENT_SECRET: 'bench-secret',
    PUBLIC_URL: 'https://bench.test',
    SERVICE_BASE_URL: `http://{account}.localhost:${world.port}`,
    LOG_LEVEL: 'warn',
  };
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  try {
    await seedWorkspaces(env, size);
    await database.query('CREATE EXTENSION pg_stat_statements');
    const figures: Figures[] = [];
    for (const replicas of REPLICAS) figures.push(await measureReplicas(env, database, size, replicas));
    return figures;
  } finally {
    await world.end();
    await database.end();
  }
}

async function measureReplicas(
  env: Record<string, string>,
  database: pg.Client,
  size: number,
  amount: number,
): Promise<Figures> {
  const read = async (sql: string): Promise<number> => Number((await database.query(sql)).rows[0].value);
  const replicas: Program[] = [];
  try {
    await database.query('DELETE FROM pgboss.job');
    await database.query('VACUUM ANALYZE');
    const startedAt = Date.now();
    while (replicas.length < amount) replicas.push(await startDeckhand(env));
    const planned = `SELECT count(*) AS value FROM pgboss.job WHERE name = 'watch-activity'`;
    while ((await read(planned)) < size) await wait(LOOK_MS);
    const start = (Date.now() - startedAt) / 1000;
    // Each account has been polled once.
    await wait(MINUTE_MS);
    const backend = readFileSync(`/proc/${await read('SELECT pg_backend_pid() AS value')}/stat`, 'utf8');
    const postmaster = Number(/\) \S (\d+)/.exec(backend)?.[1]);
    const count = async () => ({
      ...(await countWork(replicas)),
      'CPU of Postgres, s': cpuSeconds(postmaster),
    });
    await database.query('SELECT pg_stat_statements_reset()');
    const before: Figures = await count();
    await wait(MINUTE_MS);
    const after = await count();
    const figures: Record<string, number> = { 'until all are planned, s': start };
    for (const [name, value] of Object.entries(after)) figures[name] = value - (before[name] ?? 0);
    for (const [name, sql] of Object.entries(FIGURES)) figures[name] = await read(sql);
    const { rows } = await database.query(SLOWEST);
    const slowest = rows.map(({ query, calls, mean }) => [query, calls, mean.toFixed(2)]);
    printTable([`${size} workspaces: costliest statements`, 'calls', 'mean ms'], slowest);
    const [replica] = replicas;
    if (replica === undefined) return figures;
    const resident = residentBytes(replica.pid).now;
    const { rss, heapUsed } = await replica.ask<NodeJS.MemoryUsage>('memory');
    const memory = {
      'resident of a replica, MB': resident,
      'resident after a collection, MB': rss,
      'heap after a collection, MB': heapUsed,
    };
    for (const [name, bytes] of Object.entries(memory)) figures[name] = bytes / 2 ** 20;
    return figures;
  } finally {
    for (const replica of replicas) await replica.end();
  }
}

async function countWork(replicas: readonly Program[]) {
  const pages = replicas.map(async ({ port }) =>
    (await request(`http://127.0.0.1:${port}/metrics`)).body.text(),
  );
  const text = (await Promise.all(pages)).join('\n');
  const sum = (name: string): number => {
    const lines = text.matchAll(new RegExp(`^deckhand_${name}(?:\\{.*\\})? (\\d+)`, 'gm'));
    return [...lines].reduce((total, [, amount]) => total + Number(amount), 0);
  };
  return {
    jobs: sum('jobs_total'),
    'calls of the service': sum('service_call_duration_seconds_count'),
    'calls of Slack': sum('slack_call_duration_seconds_count'),
    'CPU of Deckhand, s': replicas.reduce((total, { pid }) => total + cpuSeconds(pid), 0),
  };
}
