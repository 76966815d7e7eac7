import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { Load, LoadResult } from './peers/load.ts';
import { checkouts, environment, freshFolder, SECRET, startDeckhand } from './support/deckhand.ts';
import { cpuSeconds, type Program, startProgram } from './support/processes.ts';
import { median } from './support/rounds.ts';
import { seed } from './support/seed.ts';
import { ms, printTable } from './support/tables.ts';

const SIZES = (process.env.SIZES ?? '10,50,200,450').split(',').map(Number);
const INTERVAL_MS = 1_000;
/** In which a deployment is read and its message posted. */
const WINDOW_MS = 2 * INTERVAL_MS;
const ROUNDS = 3;
const STATEMENTS = `SELECT sum(calls)::int AS value FROM pg_stat_statements
  JOIN pg_database ON pg_database.oid = dbid WHERE datname = current_database()`;

interface Parts {
  world: Program;
  load: Program;
  deckhand: Program;
  /** Statements so far; none on SQLite. */
  count(): Promise<number>;
}

/** What one deployment costs where each of many channels watches a project of its own, and one of them hears of it. */
export async function oneDeployment(): Promise<void> {
  const rows: string[][] = [];
  const postgres = await startPostgres(['shared_preload_libraries=pg_stat_statements']);
  try {
    for (const [name, root] of Object.entries(checkouts())) {
      const folder = await freshFolder();
      for (const row of await measureStore(folder.storeUrl, root, async () => 0))
        rows.push([`${name}, SQLite`, ...row, '']);
      await folder.remove();
      const url = await postgres.createDatabase();
      const database = new pg.Client({ connectionString: url });
      await database.connect();
      await database.query('CREATE EXTENSION pg_stat_statements');
      const count = async (): Promise<number> => (await database.query(STATEMENTS)).rows[0]?.value;
      rows.push(...(await measureStore(url, root, count)).map((row) => [`${name}, Postgres`, ...row]));
      await database.end();
    }
  } finally {
    await postgres.stop();
  }
  printTable(['candidate', 'watches', 'CPU', 'longest hold', 'slowest ack', 'statements'], rows);
}

/** Each size adds watches to those before it. */
async function measureStore(
  url: string,
  root: string | undefined,
  count: Parts['count'],
): Promise<string[][]> {
  const most = Math.max(...SIZES);
  const world = await startProgram('bench/peers/world.ts', { PROJECTS: String(most + 1) });
  const load = await startProgram('bench/peers/load.ts');
  const env = { ...environment(world, url, load.port), NOTICE_INTERVAL_MS: String(INTERVAL_MS) };
  await seed(env);
  const deckhand = await startDeckhand(env, root);
  const parts = { world, load, deckhand, count };
  const rows: string[][] = [];
  let watches = 0;
  try {
    for (const size of SIZES) {
      await watch(parts, watches, size - watches, most);
      watches = size;
      rows.push([String(size), ...(await measure(parts, size))]);
    }
  } finally {
    for (const program of [deckhand, load, world]) await program.end();
  }
  return rows;
}

function watch(
  { load, deckhand }: Parts,
  before: number,
  count: number,
  channels: number,
): Promise<LoadResult> {
  const reply = 'none';
  const asked = {
    kind: 'command',
    text: 'watch p{n} all',
    before,
    count,
    channels,
    concurrency: 2,
    reply,
  } as const;
  return load.ask<LoadResult>({ ...asked, origin: originOf(deckhand), secret: SECRET } satisfies Load);
}

async function measure(parts: Parts, size: number): Promise<string[]> {
  const { world, deckhand } = parts;
  await untilQuiet(parts);
  const idle: Spent[] = [];
  const busy: Spent[] = [];
  const holds: number[] = [];
  const acks: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const project = `p${1 + ((round * 7) % size)}`;
    idle.push(await spend(parts, async () => undefined));
    await readLongestHold(deckhand);
    busy.push(await spend(parts, () => deploy(world, project)));
    holds.push((await readLongestHold(deckhand)) * 1000);
    const acknowledged = knock(parts);
    await deploy(world, project);
    acks.push(...(await acknowledged).ms);
    await untilQuiet(parts);
  }
  const more = (what: keyof Spent): number =>
    median(busy.map((one) => one[what])) - median(idle.map((one) => one[what]));
  return [ms(more('cpuMs')), ms(median(holds)), ms(Math.max(...acks)), more('statements').toFixed(0)];
}

interface Spent {
  cpuMs: number;
  statements: number;
}

async function spend({ deckhand, count }: Parts, act: () => Promise<unknown>): Promise<Spent> {
  const statements = await count();
  const cpu = cpuSeconds(deckhand.pid);
  await act();
  await wait(WINDOW_MS);
  const cpuMs = (cpuSeconds(deckhand.pid) - cpu) * 1000;
  return { cpuMs, statements: (await count()) - statements };
}

async function deploy(world: Program, project: string): Promise<void> {
  const before = await world.ask<{ slack: number }>({ kind: 'deploy', project });
  for (let asked = 0; asked < 200; asked += 1) {
    await wait(50);
    if ((await world.ask<{ slack: number }>({ kind: 'count' })).slack > before.slack) return;
  }
  throw new Error(`nothing was posted of ${project}`);
}

/** Requests that only have to be acknowledged, one after the other, for as long as a deployment takes. */
function knock({ load, deckhand }: Parts): Promise<LoadResult> {
  const asked = { kind: 'closed', text: '', count: 2_000, concurrency: 1, reply: 'none' } as const;
  return load.ask<LoadResult>({ ...asked, origin: originOf(deckhand), secret: SECRET } satisfies Load);
}

/** Until no message was posted for a while, and the processor has little to do. */
async function untilQuiet({ world, deckhand }: Parts): Promise<void> {
  for (;;) {
    const before = await world.ask<{ slack: number }>({ kind: 'count' });
    const cpu = cpuSeconds(deckhand.pid);
    await wait(WINDOW_MS);
    const { slack } = await world.ask<{ slack: number }>({ kind: 'count' });
    if (slack === before.slack && cpuSeconds(deckhand.pid) - cpu < WINDOW_MS / 2_000) return;
  }
}

function originOf({ port }: Program): string {
  return `http://127.0.0.1:${port}`;
}

/** In seconds, since the last time it was read: Node's own histogram begins anew at each scrape. */
async function readLongestHold({ port }: Program): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]);
}
