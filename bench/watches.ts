import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { WorldTold } from './peers/digest-world.ts';
import { environment, startDeckhand } from './support/deckhand.ts';
import { installAll } from './support/installing.ts';
import { cpuSeconds, startProgram, TICKS_A_SECOND } from './support/processes.ts';
import { printTable } from './support/tables.ts';

const SIZE = Number(process.env.SIZES ?? 200);
const DELAY_MS = '20';
/** In place of a minute, so that there is something to measure. */
const NOTICE_INTERVAL_MS = '2000';
const SETTLE_MS = 5_000;
const MEASURED_MS = 20_000;

/** What a poll of a watched account costs Deckhand and Postgres, and what a workspace with a watch takes in its rows. */
export async function watches(): Promise<void> {
  const postgres = await startPostgres();
  const url = await postgres.createDatabase();
  const world = await startProgram('bench/peers/digest-world.ts', { DELAY_MS });
  const deckhand = await startDeckhand({
    ...environment(world, url),
    SLACK_BOT_TOKEN: '',
    SLACK_CLIENT_ID: 'bench',
    SLACK_CLIENT_SECRET: 'bench-secret',
    SERVICE_BASE_URL: `http://{account}.localhost:${world.port}`,
    NOTICE_INTERVAL_MS,
  });
  try {
    await wait(SETTLE_MS);
    const idle = await spentIn(SETTLE_MS, deckhand.pid, url);
    await installAll(`http://127.0.0.1:${deckhand.port}`, SIZE, 'watch all');
    await wait(SETTLE_MS);
    await world.ask<WorldTold>({ kind: 'reset' });
    const busy = await spentIn(MEASURED_MS, deckhand.pid, url);
    const { routes } = await world.ask<WorldTold>({ kind: 'tell' });
    const polls = Object.entries(routes).find(([name]) => name.includes('/activity'))?.[1].calls ?? 0;
    const cost = (who: keyof Spent) =>
      `${(((busy[who] - idle[who] * (MEASURED_MS / SETTLE_MS)) * 1000) / polls).toFixed(2)} ms`;
    const { rows, bytes } = await sizeOf(url);
    printTable(
      [
        'watched accounts',
        'polls a second',
        'CPU a poll',
        'of Postgres',
        'rows a workspace',
        'disk a workspace',
      ],
      [
        [
          SIZE,
          (polls / (MEASURED_MS / 1000)).toFixed(0),
          cost('deckhand'),
          cost('postgres'),
          (rows / SIZE).toFixed(1),
          `${(bytes / SIZE / 1024).toFixed(1)} kB`,
        ],
      ],
    );
  } finally {
    await deckhand.end();
    await world.end();
    await postgres.stop();
  }
}

interface Spent {
  deckhand: number;
  postgres: number;
}

/** CPU seconds of the next `ms`. */
async function spentIn(ms: number, pid: number, url: string): Promise<Spent> {
  const read = (): Spent => ({ deckhand: cpuSeconds(pid), postgres: cpuOfServer(new URL(url).port) });
  const before = read();
  await wait(ms);
  const after = read();
  return { deckhand: after.deckhand - before.deckhand, postgres: after.postgres - before.postgres };
}

/** So far, of the Postgres that listens on the port, with its children that run and those that ended. Linux only. */
function cpuOfServer(port: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const all = pids.map((pid) => ({ pid, fields: (textOf(pid, 'stat').split(') ')[1] ?? '').split(' ') }));
  const isServer = (pid: string) =>
    textOf(pid, 'cmdline').includes(`\0-p\0${port}\0`) && textOf(pid, 'stat').includes('(postgres)');
  const server = all.find(({ pid }) => isServer(pid));
  const ticks = (fields: readonly string[], from: number, to: number) =>
    fields.slice(from, to).reduce((sum, one) => sum + Number(one), 0);
  const running = all.filter(({ fields }) => fields[1] === server?.pid);
  const sum = running.reduce((total, { fields }) => total + ticks(fields, 11, 13), 0);
  return (sum + ticks(server?.fields ?? [], 11, 15)) / TICKS_A_SECOND;
}

/** Empty where the process has ended meanwhile. */
function textOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH'].includes(String(error.code)))
      return '';
    throw error;
  }
}

async function sizeOf(url: string): Promise<{ rows: number; bytes: number }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('ANALYZE');
  const { rows } = await client.query<{ rows: string; bytes: string }>(
    `SELECT sum(greatest(reltuples, 0)) AS rows, sum(pg_total_relation_size(oid)) AS bytes
     FROM pg_class WHERE relkind = 'r' AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`,
  );
  await client.end();
  return { rows: Number(rows[0]?.rows), bytes: Number(rows[0]?.bytes) };
}
